import Foundation
import Stow
import Testing

/// Messages that are lent without a copy, and data cut out of a message, must not be told from other data.
@Suite("Messages and decoded data")
struct DecodedDataTests {
  private static let counts = [0, 1, 13, 14, 15, 16, 17, 31, 32, 33, 100, 4096, 131_071, 131_072, 131_073]

  /// A message of about so many bytes.
  private static func message(of count: Int) throws -> Data {
    try StowEncoder().encode(String(repeating: "m", count: count))
  }

  /// Data of so many bytes that was decoded.
  private static func decoded(_ count: Int) throws -> Data {
    try roundTrip(Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
  }

  /// Changes data in every way, that which nobody else has and that which somebody has, and checks each time that it
  /// is what it should be.
  private func check(sourceLocation: SourceLocation = #_sourceLocation, _ make: () throws -> Data) throws {
    let original = try make()
    // Made from the bytes, so that it is Foundation's own.
    let expectedOriginal = Data(Array(original))
    #expect(original == expectedOriginal, sourceLocation: sourceLocation)
    #expect(original.hashValue == expectedOriginal.hashValue, sourceLocation: sourceLocation)
    #expect(original.startIndex == 0 && original.endIndex == original.count, sourceLocation: sourceLocation)
    func change(_ body: (inout Data) -> Void) throws {
      var (alone, shared, expected) = (try make(), original, expectedOriginal)
      for _ in 0..<2 {
        body(&alone)
        body(&shared)
        body(&expected)
        #expect(alone == expected && Array(alone) == Array(expected), sourceLocation: sourceLocation)
        #expect(shared == expected && Array(shared) == Array(expected), sourceLocation: sourceLocation)
        #expect(original == expectedOriginal, sourceLocation: sourceLocation)
      }
    }
    try change { $0.append(7) }
    try change { $0.append(Data(repeating: 5, count: 200_000)) }
    try change { $0.append(contentsOf: [1, 2, 3]) }
    try change { $0.insert(9, at: $0.startIndex) }
    try change { $0.replaceSubrange($0.startIndex..<($0.startIndex + $0.count / 2), with: [1, 2, 3, 4, 5]) }
    try change { $0.removeSubrange($0.startIndex..<($0.startIndex + $0.count / 2)) }
    try change { _ = $0.popLast() }
    try change { _ = $0.popFirst() }
    try change { $0.resetBytes(in: $0.startIndex..<($0.startIndex + $0.count / 2)) }
    try change { $0.resetBytes(in: $0.startIndex..<($0.startIndex + $0.count + 50)) }
    try change { $0.count += 100 }
    try change { $0.count /= 2 }
    try change { $0.reserveCapacity(5000) }
    try change { $0.reverse() }
    try change { data in
      data.withUnsafeMutableBytes { bytes in for index in bytes.indices { bytes[index] ^= 0xFF } }
    }
    try change { if !$0.isEmpty { $0[$0.startIndex] &+= 1 } }
    try change { $0 = $0.dropFirst($0.count / 3) }
    try change { $0 += $0 }
    try change { $0.removeAll(keepingCapacity: true) }
    try change { $0.removeAll() }
  }

  @Test("messages behave like any other data")
  func messages() { forEachCase(of: Self.counts) { (count: Int) in try check { try Self.message(of: count) } } }

  @Test("decoded data behaves like any other data")
  func decodedData() { forEachCase(of: Self.counts) { (count: Int) in try check { try Self.decoded(count) } } }

  @Test("a message with a single owner can be changed in place")
  func alone() {
    forEachCase(of: Self.counts) { (count: Int) in
      var message = try Self.message(of: count)
      let first = message[0]
      message[0] = 0xFF
      message.append(contentsOf: [1, 2])
      message.append(Data(repeating: 3, count: 3 * count))
      message[0] = first
      let rest = [1, 2] + Array(repeating: UInt8(3), count: 3 * count)
      #expect(Array(message) == Array(try Self.message(of: count)) + rest)
    }
  }

  @Test("slices of messages and their copies hold the bytes")
  func slices() {
    forEachCase(of: Self.counts) { (count: Int) in
      let slice = { () throws -> Data in
        let message = try Self.message(of: count)
        return message[(message.count / 2)...]
      }
      let (one, other) = (try slice(), try slice())
      #expect(one == other && one.startIndex == other.startIndex)
      #expect(Array(one) == Array(try Self.message(of: count).dropFirst(one.startIndex)))
      let strings = (0..<20).map { _ in one.base64EncodedString() }
      #expect(Set(strings).count == 1)
    }
  }

  @Test("bytes of messages and decoded data are aligned to 16 bytes")
  func alignment() {
    forEachCase(of: Self.counts.filter { $0 > 14 }) { (count: Int) in
      for data in [try Self.message(of: count), try Self.decoded(count)] where data.count <= 131_072 {
        data.withUnsafeBytes { #expect(UInt(bitPattern: $0.baseAddress) % 16 == 0) }
      }
    }
  }

  @Test("messages and decoded data can be passed through NSData, strings and files")
  func foundation() {
    forEachCase(of: Self.counts) { (count: Int) in
      for data in [try Self.message(of: count), try Self.decoded(count)] {
        let bytes = Array(data)
        let object = NSData(data: data)
        #expect(object.length == bytes.count && Data(referencing: object) == data)
        let mutable = NSMutableData(data: data)
        mutable.append(data)
        #expect(Array(Data(referencing: mutable)) == bytes + bytes)
        #expect(Data(base64Encoded: data.base64EncodedString()) == data)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try data.write(to: file)
        #expect(try Data(contentsOf: file) == data)
        try FileManager.default.removeItem(at: file)
        #expect(try JSONDecoder().decode([Data].self, from: JSONEncoder().encode([data])) == [data])
      }
    }
  }

  @Test("copies of a message can be changed on many threads at once")
  func threads() async throws {
    let message = try Self.message(of: 500)
    let bytes = Array(message)
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<8 {
        group.addTask {
          (0..<500).allSatisfy { _ in
            var copy = message
            copy.append(UInt8(number))
            return Array(copy) == bytes + [UInt8(number)] && Array(message) == bytes
          }
        }
      }
      for await isEqual in group { #expect(isEqual) }
    }
  }

  #if os(Linux)
    @Test("messages and decoded data are freed, whether they have changed or not", .disabled(if: isSanitized))
    func memory() async {
      await #expect(processExitsWith: .success) {
        let value = Data(count: 100_000)
        for number in 0..<400 {
          var message = try StowEncoder().encode(value)
          if number % 2 == 0 { message.append(value) }
          _ = try StowDecoder().decode(Data.self, from: StowEncoder().encode(value))
        }
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = Int(line?.filter(\.isNumber) ?? "") ?? .max
        // All messages were 100 MB.
        guard kilobytes < 90 << 10 else { exit(EXIT_FAILURE) }
      }
    }
  #endif
}
