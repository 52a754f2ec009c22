import Foundation
import Stow
import Testing

/// A message, and a reader of the type it was made of.
private struct Sample: Sendable, CustomTestStringConvertible {
  var name: String
  var message: Data
  var readOwn: @Sendable (Data) throws -> Void
  var testDescription: String { name }
  var isShort: Bool { message.count <= 200 }

  init<T: Codable & Sendable>(_ name: String, _ value: T) {
    self.name = name
    do { message = try StowEncoder().encode(value) } catch { fatalError("\(error)") }
    readOwn = { _ = try StowDecoder().decode(T.self, from: $0) }
  }

  static let all: [Sample] = [
    Sample("integer", 1 << 40),
    Sample("double", 0.1234567890123),
    Sample("string", "a string of text"),
    Sample("long string", String(repeating: "é", count: 40)),
    Sample("data", Data(0..<40)),
    Sample("date, UUID, URL, Decimal", Special()),
    Sample("integers", [1, 2, 300, 70000, -5]),
    Sample("ascending integers", (0..<20).map { 1_000_000 + $0 * 3 }),
    Sample("integers of many widths", [1, 1 << 50, 3, -4, 1 << 20, 7, 0, 0, 1 << 60]),
    Sample("doubles", [0.1, 0.25, 1e300, 12.5]),
    Sample("scaled doubles", [0.1, 0.2, 0.35, 1.7, 99.9]),
    Sample("bools", (0..<20).map { $0 % 3 == 0 }),
    Sample("repeated strings", ["repeated text", "repeated text", "other", "repeated text"]),
    Sample("record", Record(id: 1, name: "name", note: nil)),
    Sample("records", (0..<4).map { Record(id: $0 * 1000, name: "name", note: $0 % 2 == 0 ? nil : "note") }),
    Sample("table", (0..<5).map { Point(x: Double($0) / 8, y: $0, on: $0 % 2 == 0) }),
    Sample("dictionary", ["alpha": 1, "beta": 2, "γ": 3]),
    Sample("optionals", [.none, .some(.none), 1] as [Int??]),
    Sample("generic", ["a": [1, 0.5, nil, true, "text"], "b": ["c": [:], "d": []], "e": "text"] as JSONValue),
    Sample("128 bits", [Int128.max, .min, 5]),
  ]

  struct Special: Codable, Sendable {
    var date = Date(timeIntervalSinceReferenceDate: 700_000_000.5)
    var id = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!
    var url = URL(string: "https://example.org")!
    var decimal = Decimal(string: "12.34")!
  }

  struct Record: Codable, Sendable {
    var id: Int
    var name: String
    var note: String?
  }

  struct Point: Codable, Sendable {
    var x: Double
    var y: Int
    var on: Bool
  }
}

/// Reads bytes in several ways, and calls anything but success and `DecodingError` a failure.
private func survives(_ bytes: Data, as readers: [@Sendable (Data) throws -> Void]) -> Bool {
  for read in readers {
    do {
      try read(bytes)
    } catch is DecodingError {
      continue
    } catch {
      Issue.record(error, "\(Array(bytes))")
      return false
    }
  }
  return true
}

private let generic: @Sendable (Data) throws -> Void = { _ = try StowDecoder().decode(JSONValue.self, from: $0) }
private let dictionary: @Sendable (Data) throws -> Void = { _ = try StowDecoder().decode([String: Int].self, from: $0) }
private let doubles: @Sendable (Data) throws -> Void = { _ = try StowDecoder().decode([Double].self, from: $0) }
private let special: @Sendable (Data) throws -> Void = { _ = try StowDecoder().decode(Sample.Special.self, from: $0) }

@Suite("Hostile bytes")
struct HostileBytesTests {
  @Test("messages cut off at any place are read or refused with a DecodingError")
  fileprivate func truncations() {
    forEachCase(of: Sample.all) { (sample: Sample) in
      #expect(survives(sample.message, as: [sample.readOwn]))
      for length in 0..<sample.message.count {
        let bytes = sample.message.prefix(length)
        #expect(survives(bytes, as: [sample.readOwn, generic, dictionary, doubles]))
        #expect(survives(sample.message.suffix(length), as: [sample.readOwn, generic]))
      }
    }
  }

  @Test("a truncated message is refused")
  fileprivate func truncationsAreErrors() {
    forEachCase(of: Sample.all) { (sample: Sample) in
      for length in 0..<sample.message.count {
        #expect(throws: DecodingError.self) { try sample.readOwn(sample.message.prefix(length)) }
      }
    }
  }

  @Test("messages with one byte replaced are read or refused with a DecodingError")
  fileprivate func substitutions() {
    forEachCase(of: Sample.all) { (sample: Sample) in
      guard sample.message.count <= 200 else { return }
      // In long messages a part, others at every offset.
      let step = sample.message.count <= 16 ? 1 : sample.message.count <= 64 ? 5 : 11
      for offset in sample.message.indices {
        var bytes = sample.message
        for byte in stride(from: offset % step, to: 256, by: step).map(UInt8.init) {
          bytes[offset] = byte
          var readers = [sample.readOwn]
          if bytes.count <= 64 || byte % 4 == 1 { readers.append(generic) }
          if byte % 16 == 3 { readers += [dictionary, doubles] }
          guard survives(bytes, as: readers) else { return }
        }
      }
    }
  }

  @Test("messages with a byte removed or repeated are read or refused with a DecodingError")
  fileprivate func insertions() {
    forEachCase(of: Sample.all) { (sample: Sample) in
      for offset in sample.message.indices {
        var (without, with) = (sample.message, sample.message)
        without.remove(at: offset)
        with.insert(sample.message[offset], at: offset)
        #expect(survives(without, as: [sample.readOwn, generic]))
        #expect(survives(with, as: [sample.readOwn, generic]))
      }
    }
  }

  @Test("random bytes are read or refused with a DecodingError", arguments: 0..<4)
  func randomBytes(batch: Int) {
    var random = SeededGenerator(seed: UInt64(batch))
    for _ in 0..<2000 {
      let bytes = Data((0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      guard survives(bytes, as: [generic, random.below(2) == 0 ? dictionary : special]) else { return }
    }
  }

  @Test("messages with random changes are read or refused with a DecodingError")
  fileprivate func randomChanges() {
    forEachCase(of: Sample.all) { (sample: Sample) in
      var random = SeededGenerator(seed: 99)
      guard !sample.message.isEmpty else { return }
      for _ in 0..<150 {
        var bytes = sample.message
        for _ in 0...random.below(4) {
          bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next() >> UInt64(random.below(60)))
        }
        guard survives(bytes, as: [sample.readOwn, generic]) else { return }
      }
    }
  }

  @Test("spliced messages are read or refused with a DecodingError")
  func spliced() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<1000 {
      let first = Sample.all[random.below(Sample.all.count)]
      let second = Sample.all[random.below(Sample.all.count)]
      let bytes =
        first.message.prefix(random.below(first.message.count + 1))
        + second.message.suffix(random.below(second.message.count + 1))
      guard survives(bytes, as: [first.readOwn, second.readOwn, generic]) else { return }
    }
  }
}

@Suite("Incomplete messages and trailing bytes")
struct WholeMessageTests {
  @Test("empty input is dataCorrupted")
  func empty() {
    #expect(failure { try StowDecoder().decode(Int.self, from: Data()) } == .dataCorrupted())
    #expect(failure { try StowDecoder().decode([Int].self, from: Data()) } == .dataCorrupted())
    #expect(failure { try StowDecoder().decode(Int?.self, from: Data()) } == .dataCorrupted())
    #expect(failure { try StowDecoder().decode(JSONValue.self, from: [UInt8]()) } == .dataCorrupted())
  }

  @Test("bytes after a packed array without elements are dataCorrupted", arguments: [0x0D, 0x0E] as [UInt8])
  func nothingAndSomething(type: UInt8) {
    let message = Data([0x74, 3, type, 0, 0])
    let types: [any Decodable.Type] = [[Int].self, [UInt8].self, [Double].self, Data.self, StowValue.self]
    for decoded in types {
      #expect(failure { try StowDecoder().decode(decoded, from: message) } == .dataCorrupted())
    }
  }

  @Test("trailing bytes are dataCorrupted")
  fileprivate func trailing() {
    forEachCase(of: Sample.all) { (sample: Sample) in
      for tail in [[0], [255], [0, 0, 0, 0], Array(sample.message)] as [[UInt8]] {
        #expect(failure { try sample.readOwn(sample.message + tail) } == .dataCorrupted())
      }
    }
  }
}
