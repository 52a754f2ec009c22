import Foundation
import Stow
import Testing

/// The storage of arrays is made in a way of its own, so nothing may tell them from others.
@Suite("Decoded arrays")
struct DecodedArrayTests {
  private static let counts = [1, 2, 3, 7, 8, 16, 17, 100, 5000]

  private struct Empty: Codable, Equatable {}

  private struct Triple: Codable, Equatable {
    var first: Int8
    var second: String
    var third: Bool?
  }

  /// Changes an array in every way, and checks each time that it is what it should be.
  private func check<Element: Codable & Equatable>(
    _ original: [Element], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    // Made from the elements, so that it is the library's own.
    var expected = original.map { $0 }
    let decoded = try roundTrip(original)
    #expect(decoded == expected && decoded.count == expected.count, sourceLocation: sourceLocation)
    #expect(decoded.capacity >= decoded.count, sourceLocation: sourceLocation)
    var changed = decoded
    func change(_ body: (inout [Element]) -> Void) {
      body(&changed)
      body(&expected)
      #expect(changed == expected, sourceLocation: sourceLocation)
    }
    change { $0.append($0[0]) }
    change { $0.insert(contentsOf: $0, at: 1) }
    change { $0.swapAt(0, $0.count - 1) }
    change { $0.removeFirst() }
    change { $0.removeSubrange(0..<$0.count / 2) }
    change { $0.reserveCapacity(1000) }
    change { $0.removeAll(keepingCapacity: true) }
    change { $0 += original }
    #expect(decoded == original, sourceLocation: sourceLocation)
    // Nobody else has this one, so that it is changed in place.
    var own = try roundTrip(original)
    own.reverse()
    #expect(own == original.reversed(), sourceLocation: sourceLocation)
    own.withUnsafeMutableBufferPointer { $0.reverse() }
    #expect(own == original, sourceLocation: sourceLocation)
    while own.popLast() != nil {}
    #expect(own.isEmpty, sourceLocation: sourceLocation)
  }

  @Test("decoded arrays of numbers behave like any other arrays")
  func numbers() {
    forEachCase(of: Self.counts) { (count: Int) in
      try check((0..<count).map { $0 * 1_000_003 })
      try check((0..<count).map { UInt8(truncatingIfNeeded: $0) })
      try check((0..<count).map { Int16(truncatingIfNeeded: $0 * 77) })
      try check((0..<count).map { UInt64($0) << 40 })
      try check((0..<count).map { Double($0) / 7 })
      try check((0..<count).map { Float($0) / 7 })
      try check((0..<count).map { $0 % 3 == 0 })
      try check((0..<count).map { $0 % 3 == 0 ? nil : $0 })
      try check((0..<count).map { Int128($0) << 70 })
    }
  }

  @Test("decoded arrays of strings and records behave like any other arrays")
  func records() {
    forEachCase(of: Self.counts) { (count: Int) in
      try check((0..<count).map { "\($0)" })
      try check((0..<count).map { "a string in storage of its own, number \($0)" })
      try check((0..<count).map { $0 % 5 == 0 ? nil : "\($0)" })
      try check((0..<count).map { Triple(first: Int8(truncatingIfNeeded: $0), second: "\($0)", third: nil) })
      try check((0..<count).map { ["\($0)": [$0]] })
      try check((0..<count).map { Date(timeIntervalSince1970: Double($0)) })
      try check((0..<count).map { _ in UUID() })
      try check((0..<count).map { Decimal($0) })
      try check((0..<count).map { _ in Empty() })
    }
  }

  @Test("decoded arrays of arrays behave like any other arrays")
  func arrays() {
    forEachCase(of: Self.counts) { (count: Int) in
      try check((0..<count).map { [Double($0) + 0.25, Double($0) + 0.5] })
      try check((0..<count).map { Array(0..<$0 % 5) })
      try check((0..<count).map { Array(repeating: "text", count: $0 % 4) })
      try check((0..<min(count, 200)).map { outer in (0..<outer % 4).map { Array(0..<outer + $0) } })
    }
  }

  @Test("decoded arrays have elements aligned to 16 bytes and more", arguments: [1, 2, 3, 8, 50])
  func alignment(count: Int) throws {
    try check((0..<count).map { SIMD4<Float>(repeating: Float($0)) })
    try check((0..<count).map { SIMD8<Double>(repeating: Double($0)) })
    let wide = try roundTrip((0..<count).map { SIMD16<Double>(repeating: Double($0)) })
    wide.withUnsafeBytes { bytes in
      let address = bytes.baseAddress.map { UInt(bitPattern: $0) } ?? 1
      #expect(address % UInt(MemoryLayout<SIMD16<Double>>.alignment) == 0)
    }
  }

  /// Counts the objects that are there.
  private final class Counted: Codable, Equatable {
    @TaskLocal static var counter = Counter()
    let number: Int
    private let counter = Counted.counter

    init(_ number: Int) {
      self.number = number
      counter.count += 1
    }

    init(from decoder: any Decoder) throws {
      number = try Int(from: decoder)
      counter.count += 1
      // What has been initialized is released when the class throws.
      if number < 0 { throw Refusal() }
    }

    deinit { counter.count -= 1 }

    func encode(to encoder: any Encoder) throws { try number.encode(to: encoder) }
    static func == (first: Counted, second: Counted) -> Bool { first.number == second.number }
  }

  private final class Counter: @unchecked Sendable {
    var count = 0
  }

  @Test("decoded arrays release their objects")
  func objects() {
    forEachCase(of: Self.counts) { (count: Int) in
      try Counted.$counter.withValue(Counter()) {
        try check((0..<count).map { Counted($0) })
        try check((0..<count).map { $0 % 2 == 0 ? nil : Counted($0) })
        #expect(Counted.counter.count == 0)
      }
    }
  }

  @Test("objects already decoded are released if an element throws", arguments: [0, 1, 5, 99])
  func failure(index: Int) throws {
    try Counted.$counter.withValue(Counter()) {
      let numbers = (0..<100).map { $0 == index ? -1 : $0 }
      let data = try StowEncoder().encode(["flat": [numbers], "nested": [numbers, numbers]])
      #expect(throws: Refusal.self) { try StowDecoder().decode([String: [[Counted]]].self, from: data) }
      #expect(throws: Refusal.self) { try StowDecoder().decode([String: [[Counted?]]].self, from: data) }
      #expect(Counted.counter.count == 0)
    }
  }
}
