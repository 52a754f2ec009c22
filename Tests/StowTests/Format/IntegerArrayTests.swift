import Stow
import Testing

/// Arrays of integers of every shape that a packed form might treat on its own.
private func shapes<T: FixedWidthInteger>(of type: T.Type, seed: UInt64) -> [String: [T]] {
  var random = SeededGenerator(seed: seed)
  let low = T.min
  let high = T.max
  func randomWidth() -> T {
    let bits = T(truncatingIfNeeded: random.next())
    return bits >> Int.random(in: 0..<T.bitWidth, using: &random)
  }
  func uniform(_ count: Int) -> [T] { (0..<count).map { _ in T.random(in: low...high, using: &random) } }
  let small = T(truncatingIfNeeded: 100)
  var shapes: [String: [T]] = [
    "empty": [], "one": [1], "zero": [0], "least": [low], "greatest": [high], "two": [low, high],
    "zeros": [T](repeating: 0, count: 50), "equal": [T](repeating: small, count: 50),
    "all least": [T](repeating: low, count: 20), "all greatest": [T](repeating: high, count: 20),
    "ascending": (0..<100).map { T($0) }, "descending": (0..<100).reversed().map { T($0) },
    "from the least": (0..<50).map { low + T($0) }, "to the greatest": (0..<50).map { high - T($0) },
    "steps of three": stride(from: T(0), to: 120, by: 3).map { $0 },
    "extremes": (0..<40).map { $0 % 2 == 0 ? low : high },
    "zero and extremes": (0..<60).map { [0, low, high][$0 % 3] },
    "one outlier": (0..<60).map { $0 == 30 ? high : T($0) },
    "outlier first": [high] + (0..<60).map { T($0) }, "outlier last": (0..<60).map { T($0) } + [low],
    "random widths": (0..<300).map { _ in randomWidth() }, "random": uniform(300),
  ]
  for count in [2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33] { shapes["random \(count)"] = uniform(count) }
  for bits in 1..<T.bitWidth {
    let power = T(1) << bits
    shapes["around 2^\(bits)"] = [power, power &- 1, power &+ 1, 0 &- power, 0, power &- 2, 1]
    shapes["rising by 2^\(bits)"] = (0..<10).map { T(truncatingIfNeeded: $0) &* power }
  }
  return shapes
}

@Suite("Arrays of integers")
struct IntegerArrayTests {
  private static func check<T: FixedWidthInteger & Codable>(_ type: T.Type, seed: UInt64) {
    for (name, values) in shapes(of: type, seed: seed) {
      do {
        #expect(try roundTrip(values) == values, "\(name)")
        #expect(try roundTrip([values, values, [1]]) == [values, values, [1]], "nested: \(name)")
      } catch {
        Issue.record(error, "\(name)")
      }
    }
  }

  @Test("arrays of Int are decoded unchanged")
  func int() { Self.check(Int.self, seed: 1) }
  @Test("arrays of UInt are decoded unchanged")
  func uint() { Self.check(UInt.self, seed: 2) }
  @Test("arrays of Int8 are decoded unchanged")
  func int8() { Self.check(Int8.self, seed: 3) }
  @Test("arrays of UInt8 are decoded unchanged")
  func uint8() { Self.check(UInt8.self, seed: 4) }
  @Test("arrays of Int16 are decoded unchanged")
  func int16() { Self.check(Int16.self, seed: 5) }
  @Test("arrays of UInt16 are decoded unchanged")
  func uint16() { Self.check(UInt16.self, seed: 6) }
  @Test("arrays of Int32 are decoded unchanged")
  func int32() { Self.check(Int32.self, seed: 7) }
  @Test("arrays of UInt32 are decoded unchanged")
  func uint32() { Self.check(UInt32.self, seed: 8) }
  @Test("arrays of Int64 are decoded unchanged")
  func int64() { Self.check(Int64.self, seed: 9) }
  @Test("arrays of UInt64 are decoded unchanged")
  func uint64() { Self.check(UInt64.self, seed: 10) }
  @Test("arrays of Int128 are decoded unchanged")
  func int128() { Self.check(Int128.self, seed: 11) }
  @Test("arrays of UInt128 are decoded unchanged")
  func uint128() { Self.check(UInt128.self, seed: 12) }

  @Test(
    "arrays of every length around the boundaries of headers are decoded unchanged",
    arguments: [0, 1, 200, 70000, -1, -70000])
  func lengths(start: Int) throws {
    for length in Array(0...40) + [127, 128, 129, 255, 256, 257, 1000, 70000] {
      let values = (0..<length).map { start + $0 % 50 }
      #expect(try roundTrip(values) == values)
    }
  }

  @Test("timestamps and identifiers are decoded unchanged")
  func ascending() throws {
    var random = SeededGenerator(seed: 13)
    var (time, times) = (1_700_000_000_000, [Int]())
    for _ in 0..<1000 {
      time += Int.random(in: 0...5000, using: &random)
      times.append(time)
    }
    expectRoundTrip(times)
    expectRoundTrip((0..<1000).map { _ in Int.random(in: 1_000_000_000...9_999_999_999, using: &random) })
  }

  @Test("arrays of integers are read as arrays of other integer types and of floats")
  func otherTypes() throws {
    for values in [[1, 2, 3], [100, 120, 127], (0..<100).map { $0 }, [Int](repeating: 7, count: 30)] {
      #expect(try transcode(values, to: [Int8].self) == values.map { Int8($0) })
      #expect(try transcode(values, to: [UInt64].self) == values.map { UInt64($0) })
      #expect(try transcode(values.map { UInt8($0) }, to: [Int].self) == values)
      #expect(try transcode(values, to: [Double].self) == values.map { Double($0) })
      #expect(try transcode(values, to: [Float].self) == values.map { Float($0) })
      #expect(try transcode(values, to: JSONValue.self) == .array(values.map { .int(Int64($0)) }))
      #expect(try transcode(values.map { JSONValue.int(Int64($0)) }, to: [Int].self) == values)
    }
  }

  @Test("integers of mixed types that are encoded one by one make one array")
  func mixedTypes() throws {
    try expectWritten([1, 300, -5, 70000, .uint(.max)]) { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode(1 as UInt8)
      try list.encode(300 as Int16)
      try list.encode(-5 as Int64)
      try list.encode(70000 as UInt32)
      try list.encode(UInt64.max)
    }
  }
}
