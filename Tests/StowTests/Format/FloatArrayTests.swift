import Stow
import Testing

@Suite("Arrays of floating-point values and Bools")
struct FloatArrayTests {
  private static func check(_ values: [Double], sourceLocation: SourceLocation = #_sourceLocation) {
    func same(_ a: [Double], _ b: [Double]) -> Bool { a.map(\.bitPattern) == b.map(\.bitPattern) }
    expectRoundTrip(values, comparing: same, sourceLocation: sourceLocation)
    expectRoundTrip(Array(values.prefix(3)), comparing: same, sourceLocation: sourceLocation)
    let floats = values.map { Float($0) }
    expectRoundTrip(floats, comparing: { $0.map(\.bitPattern) == $1.map(\.bitPattern) }, sourceLocation: sourceLocation)
  }

  @Test("decimals of every scale are decoded unchanged")
  func decimals() {
    var random = SeededGenerator(seed: 1)
    var power = 1.0
    for _ in 0...18 {
      Self.check((0..<50).map { _ in Double(Int.random(in: -999...999, using: &random)) / power })
      Self.check((0..<50).map { _ in Double(Int.random(in: -99_999_999...99_999_999, using: &random)) / power })
      Self.check((0..<50).map { _ in Double(Int(truncatingIfNeeded: random.next())) / power })
      Self.check((0..<50).map { Double($0) * power })
      power *= 10
    }
  }

  @Test("decimals of different scales in one array are decoded unchanged")
  func mixedScales() {
    Self.check([0.1, 0.12, 0.123, 0.1234, 0.12345])
    Self.check([1e-5, 1, 1e5, 1e10])
    Self.check([-65.613616999999977, 43.420273000000009, 0.5])
    Self.check((0..<100).map { Double($0) + 0.25 })
  }

  @Test("decimals with an error of a few ulps are decoded unchanged")
  func noise() {
    var random = SeededGenerator(seed: 2)
    for share in [2, 10, 60] {
      let values = (0..<60).map { i -> Double in
        let value = Double(Int.random(in: -99999...99999, using: &random)) / 1000
        guard i % share == 0 else { return value }
        return value + Double(Int.random(in: -3...3, using: &random)) * value.ulp
      }
      Self.check(values)
    }
    Self.check([0.1 + 0.2, 0.3, 0.7 + 0.1, 0.8])
    let tenth = 0.1
    Self.check([tenth.nextUp, tenth, tenth.nextDown])
  }

  @Test("fractions of large whole numbers have residues even if one decimal makes these zero")
  func raisedExponent() throws {
    let fractions = [9e12 + 0.1, 9e12 + 0.2]
    let data = try StowEncoder().encode(fractions)
    let elements: [UInt8] = [0x01, 0xA0, 0x07, 0xC2, 0xDA, 0x51, 0, 0x02, 0xA0, 0x07, 0xC2, 0xDA, 0x51, 0]
    #expect(Array(data) == [0x74, 0x0F, 0x1E] + elements)
    #expect(try StowDecoder().decode([Double].self, from: data) == fractions)
  }

  @Test(
    "decimals up to the largest allowed take about seven bytes each",
    arguments: [(9_999, 1e-9), (9e7, 1e-6), (9e9, 1e-4), (9e13, 1)])
  func widestDecimals(whole: Double, least: Double) throws {
    let values = (1...40).map { whole + Double($0) * least }
    let data = try StowEncoder().encode(values)
    #expect(data.count < 40 * 7 + 10)
    #expect(try StowDecoder().decode([Double].self, from: data) == values)
  }

  @Test("whole numbers are decoded unchanged")
  func whole() {
    Self.check([1, 2, 3, 4])
    Self.check((0..<300).map { Double($0 * $0) })
    Self.check([0, 9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_994, 1e15, 1e16, 1e17])
    Self.check([2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649, 4_294_967_295, 4_294_967_296])
    Self.check([1e19, 1.8446744073709552e19, 9.223372036854775807e18, -9.223372036854775808e18])
  }

  @Test("2³¹ takes five bytes with its tag, so an array of four such numbers is written with tags")
  func firstWideNumber() throws {
    let values: [Double] = [2_147_483_648, 16_777_217, -16_777_219, 16_777_221]
    let elements: [UInt8] = [
      0x0F, 0, 0, 0, 0x4F, 0x13, 1, 0, 0, 1, 0x13, 0xFD, 0xFF, 0xFF, 0xFE, 0x13, 5, 0, 0, 1,
    ]
    #expect(try Array(StowEncoder().encode(values)) == [0x70, 0x14] + elements)
  }

  @Test("the first 64 elements decide whether all are written without tags")
  func firstElements() throws {
    func tag(thirds: Range<Int>) throws -> UInt8? {
      try StowEncoder().encode((0..<128).map { thirds.contains($0) ? 1 / 3.0 : 0 }).first
    }
    // With tags 513 bytes of the first half, and so about 1026 of all; without them 1025.
    #expect(try tag(thirds: 9..<64) == 0x74)
    #expect(try tag(thirds: 10..<65) == 0x70)
  }

  @Test("powers of two and values exact in Float are decoded unchanged")
  func exactInFloat() {
    Self.check((-60...60).map { Double(sign: .plus, exponent: $0, significand: 1) })
    Self.check([0.5, 0.25, 1.5, -3.75, 16_777_216])
    Self.check([0.5, 0.25, 16_777_217, 0.125])
    Self.check([
      Double(Float(0.1)), Double(Float.greatestFiniteMagnitude), Double(Float.leastNonzeroMagnitude),
    ])
  }

  @Test("the extremes of Double are decoded unchanged")
  func extremes() {
    Self.check([.greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude, 1])
    Self.check([1e308, 1e-308, 0.1])
    var random = SeededGenerator(seed: 3)
    Self.check((0..<200).map { _ in Double.random(in: 0..<1, using: &random) })
    Self.check((0..<200).map { _ in Double.random(in: -1e9..<1e9, using: &random) })
  }

  @Test("-0.0 among other numbers is decoded unchanged")
  func negativeZero() {
    Self.check([-0.0])
    Self.check([-0.0, -0.0, -0.0])
    Self.check([0, -0.0, 0, 1, 2])
    Self.check([0.1, 0.2, -0.0, 0.3])
    Self.check([-0.0, 0.1234567890123456])
  }

  @Test("NaN and infinities among other numbers are decoded unchanged")
  func notFinite() {
    Self.check([.infinity])
    Self.check([1, 2, .infinity, 3])
    Self.check([0.1, -.infinity, 0.3])
    Self.check([1.5, .nan, 2.5])
    Self.check([.nan, .nan, .infinity, -.infinity, 0])
  }

  @Test("arrays of doubles of every length are decoded unchanged")
  func lengths() throws {
    for length in Array(0...40) + [255, 256, 257, 20000] {
      for scale in [1, 0.5, 0.01, 1 / 3.0] {
        let values = (0..<length).map { Double($0 % 500) * scale }
        #expect(try roundTrip(values) == values)
      }
    }
  }

  @Test("arrays of doubles are read as arrays of Float and of generic values, and back")
  func otherTypes() throws {
    for values in [[0.5, 0.25, 0.125], [0.1, 0.2, 0.3], [1e300, 0.1], [1, 2, 3.5]] {
      if values[0] < 1e38 { #expect(try transcode(values, to: [Float].self) == values.map { Float($0) }) }
      #expect(try transcode(values.map { Float($0) }, to: [Float].self) == values.map { Float($0) })
      #expect(try transcode(values.map { JSONValue.double($0) }, to: [Double].self) == values)
    }
  }

  @Test("arrays of Bools of every length are decoded unchanged")
  func bools() throws {
    var random = SeededGenerator(seed: 4)
    for length in Array(0...70) + [127, 128, 255, 256, 1000] {
      let patterns = [
        [Bool](repeating: true, count: length), [Bool](repeating: false, count: length),
        (0..<length).map { $0 % 2 == 0 }, (0..<length).map { _ in Bool.random(using: &random) },
      ]
      for values in patterns {
        #expect(try roundTrip(values) == values)
        #expect(try transcode(values, to: [JSONValue].self) == values.map { .bool($0) })
      }
      #expect(try roundTrip(patterns) == patterns)
    }
  }
}

@Suite("Arrays of arrays")
struct MatrixTests {
  @Test("doubles in rows of equal length are decoded unchanged")
  func equalRows() {
    expectRoundTrip((0..<20).map { (row: Int) -> [Double] in (0..<3).map { Double(row * 10 + $0) / 4 } })
    expectRoundTrip((0..<20).map { row in [Double(row) * 0.1, Double(row) * -0.7] })
    expectRoundTrip([[Double]](repeating: [0.1, 0.2], count: 30))
  }

  @Test("doubles in rows of unequal length are decoded unchanged")
  func unequalRows() {
    expectRoundTrip((0..<20).map { row in (0..<row).map { Double($0) / 8 } })
    expectRoundTrip([[], [0.5], [], [0.1, 1e300], []])
    expectRoundTrip([[[[0.5, 1]], [[]]], [], [[[2.5]]]])
  }

  @Test("rows of at most 16 elements are written without tags if that takes fewer bytes")
  func rowsWithoutTags() throws {
    #expect(try Array(StowEncoder().encode([[1], [2]])) == [0xE4, 0xE1, 0x91, 0xE1, 0x92])
    #expect(try Array(StowEncoder().encode([[1], [2], [3]])) == [0x7B, 0x05, 0x01, 0x01, 1, 2, 3])
    for (count, tag) in [(15, 0x7B), (16, 0x7B), (17, 0x70)] as [(Int, UInt8)] {
      let rows = (0..<10).map { row in (0..<count).map { row * 1000 + $0 } }
      #expect(try StowEncoder().encode(rows).first == tag, "\(count)")
      #expect(try StowEncoder().encode(rows.map { $0.map { Double($0) } }).first == tag, "\(count)")
    }
  }

  @Test("coordinates as in GeoJSON are decoded unchanged")
  func coordinates() {
    let (west, north): (Double, Double) = (-65.613616999999977, 43.420273000000009)
    let ring = (0..<100).map { (number: Int) -> [Double] in
      [west + Double(number) / 1000, north - Double(number) / 7]
    }
    expectRoundTrip([ring, Array(ring.reversed()), []])
    expectRoundTrip([
      "type": JSONValue.string("Polygon"), "coordinates": .array(ring.map { .array($0.map { .double($0) }) }),
    ])
  }

  @Test("integers, Bools and strings in rows are decoded unchanged")
  func otherElements() {
    expectRoundTrip((0..<20).map { row in (0..<4).map { row * 1000 + $0 } })
    expectRoundTrip((0..<20).map { row in (0..<row).map { $0 % 3 == 0 } })
    expectRoundTrip((0..<20).map { row in (0..<(row % 3)).map { "text \($0)" } })
  }

  @Test("integers and fractions mixed in a generic value are decoded unchanged")
  func mixed() {
    expectRoundTrip([[1, 2.5], [3, 4], [0.5, 6]] as JSONValue)
    expectRoundTrip([[1, 2], [0.5, 1.5], [true, false], [nil, 1], ["a", 1], [[1], 2]] as JSONValue)
    expectRoundTrip([1, 0.5, 2, .uint(.max), .double(1e300), -3] as JSONValue)
    expectRoundTrip([0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9] as JSONValue)
    expectRoundTrip([true, 1, false, 0] as JSONValue)
  }
}
