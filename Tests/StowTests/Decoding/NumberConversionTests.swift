import Foundation
import Stow
import Testing

@Suite("Integers read as other number types")
struct IntegerConversionTests {
  private static let values: [Int64] =
    [0, 1, -1, 15, 16, 23, 24, 31, 32, -16, -17, -24, -25, -32, -33]
    + [7, 8, 15, 16, 23, 24, 31, 32, 39, 40, 47, 48, 52, 53, 54, 55, 56, 62].flatMap { bits in
      let power = Int64(1) << bits
      return [power - 1, power, power + 1, -power - 1, -power, -power + 1]
    } + [.max, .max - 1, .min, .min + 1]

  private static func check<T: FixedWidthInteger & Codable>(_ type: T.Type) throws {
    for value in values {
      if let expected = T(exactly: value) {
        #expect(try transcode(value, to: type) == expected)
        #expect(try transcode([value, 0], to: [T].self) == [expected, 0])
        #expect(try transcode(["k": value], to: [String: T].self) == ["k": expected])
      } else {
        expectRefused(type, from: value)
      }
    }
  }

  @Test("integers are read as every signed type that holds them")
  func signed() throws {
    try Self.check(Int.self)
    try Self.check(Int8.self)
    try Self.check(Int16.self)
    try Self.check(Int32.self)
    try Self.check(Int64.self)
  }

  @Test("integers are read as every unsigned type that holds them")
  func unsigned() throws {
    try Self.check(UInt.self)
    try Self.check(UInt8.self)
    try Self.check(UInt16.self)
    try Self.check(UInt32.self)
    try Self.check(UInt64.self)
  }

  @Test("integers are read as 128-bit types, and back")
  func wide() throws {
    try Self.check(Int128.self)
    try Self.check(UInt128.self)
    #expect(try transcode(UInt64.max, to: Int128.self) == Int128(UInt64.max))
    #expect(try transcode(Int128(42), to: Int8.self) == 42)
    #expect(try transcode(UInt128(UInt64.max), to: UInt64.self) == .max)
    expectRefused(Int64.self, from: Int128(Int64.max) + 1)
    expectRefused(UInt64.self, from: Int128(-1))
    expectRefused(UInt128.self, from: Int128.min)
    expectRefused(Int128.self, from: UInt128.max)
  }

  @Test("a UInt64 beyond Int64 is read only as types that hold it")
  func beyondInt64() throws {
    #expect(try transcode(UInt64.max, to: UInt.self) == .max)
    expectRefused(Int64.self, from: UInt64.max)
    expectRefused(Int.self, from: UInt64(1) << 63)
    expectRefused(UInt32.self, from: UInt64.max)
  }

  @Test("integers are read as floating-point types that hold them")
  func floats() throws {
    for value in Self.values {
      if let double = Double(exactly: value) { #expect(try transcode(value, to: Double.self) == double) }
      if let float = Float(exactly: value) { #expect(try transcode(value, to: Float.self) == float) }
    }
    #expect(try transcode([1, 2, 1 << 53], to: [Double].self) == [1, 2, 9_007_199_254_740_992])
    #expect(try transcode([1, -2, 1 << 24], to: [Float].self) == [1, -2, 16_777_216])
    #expect(try transcode(["k": 3], to: [String: Double].self) == ["k": 3])
    #expect(try transcode([1, 0.5, 3] as JSONValue, to: [Double].self) == [1, 0.5, 3])
  }

  @Test("integers are read as Decimal")
  func decimal() throws {
    for value in Self.values { #expect(try transcode(value, to: Decimal.self) == Decimal(value)) }
    #expect(try transcode(UInt64.max, to: Decimal.self) == Decimal(UInt64.max))
    #expect(try transcode([1, -2], to: [Decimal].self) == [1, -2])
  }

  @Test("integers are read as Date")
  func date() throws {
    #expect(try transcode(86400, to: Date.self) == Date(timeIntervalSinceReferenceDate: 86400))
    #expect(try transcode([0, -1], to: [Date].self).map(\.timeIntervalSinceReferenceDate) == [0, -1])
  }
}

@Suite("Integers rounded to floating-point types")
struct InexactIntegerTests {
  @Test("integers that Double does not hold are rounded")
  func double() throws {
    #expect(try transcode((1 << 53) + 1, to: Double.self) == 9_007_199_254_740_992)
    #expect(try transcode((1 << 53) + 3, to: Double.self) == 9_007_199_254_740_996)
    #expect(try transcode(Int64.max, to: Double.self) == 0x1p63)
    #expect(try transcode(UInt64.max, to: Double.self) == 0x1p64)
    #expect(try transcode(UInt128.max, to: Double.self) == 0x1p128)
    #expect(try transcode(Int128.min + 1, to: Double.self) == -0x1p127)
    #expect(try transcode([1, (1 << 53) + 1], to: [Double].self) == [1, 0x1p53])
    #expect(try transcode(["k": -(1 << 53) - 1], to: [String: Double].self) == ["k": -0x1p53])
  }

  @Test("integers in rows that Double does not hold are rounded")
  func rows() throws {
    struct Whole: Encodable { var number: Int }
    struct Rounded: Decodable { var number: Double }
    let numbers = (0..<40).map { (1 << 53) + $0 }
    let rounded = try transcode(numbers.map(Whole.init), to: [Rounded].self)
    #expect(rounded.map(\.number) == numbers.map(Double.init))
  }

  @Test("integers that Float does not hold are rounded once, not by way of Double")
  func float() throws {
    #expect(try transcode((1 << 24) + 1, to: Float.self) == 16_777_216)
    #expect(try transcode(Int64.max, to: Float.self) == 0x1p63)
    #expect(try transcode([1, 2, (1 << 24) + 1], to: [Float].self) == [1, 2, 16_777_216])
    // Just above half way between two floats, and exactly there as a Double.
    let half = 1 << 60 | 1 << 36 | 1
    #expect(try transcode(half, to: Float.self) == Float(half))
    #expect(try transcode(half, to: Float.self) != Float(Double(half)))
    #expect(try transcode([half, 1000], to: [Float].self).first == Float(half))
  }

  @Test("integers beyond the range of a floating-point type are refused")
  func beyondTheRange() {
    expectRefused(Float.self, from: UInt128.max)
    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
      expectRefused(Float16.self, from: 70_000)
      expectRefused([Float16].self, from: [1, 70_000], at: 1)
    #endif
  }

  @Test("an integer property can be read as an integer and as a Double")
  func bothTypes() throws {
    struct Schema: Codable {
      var maximum: Int
    }
    struct Number: Decodable {
      var maximum: Double
    }
    let data = try StowEncoder().encode([Schema(maximum: .max), Schema(maximum: 7)])
    #expect(try StowDecoder().decode([Schema].self, from: data).map(\.maximum) == [.max, 7])
    #expect(try StowDecoder().decode([Number].self, from: data).map(\.maximum) == [0x1p63, 7])
  }
}

@Suite("Floating-point values read as floating-point types")
struct FloatConversionTests {
  @Test("a Double is read as a Float, rounded")
  func doubleAsFloat() throws {
    for value in [0.1, 0.5, -1.25, 1e30, 1e-40, 3.4028235e38, .pi, -2.0 / 3] {
      #expect(try transcode(value, to: Float.self) == Float(value))
      #expect(try transcode([value, 0.5], to: [Float].self) == [Float(value), 0.5])
    }
  }

  @Test("a Double beyond the range of Float is refused")
  func beyondFloat() {
    expectRefused(Float.self, from: 1e300)
    expectRefused(Float.self, from: -1e39)
    expectRefused(Float.self, from: Double.greatestFiniteMagnitude)
  }

  @Test("a Double is read as a Decimal")
  func doubleAsDecimal() throws {
    #expect(try transcode(1.5, to: Decimal.self) == Decimal(string: "1.5"))
    #expect(
      try transcode([12.25, -0.5], to: [Decimal].self) == [
        Decimal(string: "12.25")!, Decimal(string: "-0.5")!,
      ])
  }
}

@Suite("Kinds of floating-point values")
struct FloatKindTests {
  @Test("a Float is read as a Double, exactly")
  func floatAsDouble() throws {
    for value: Float in [0.1, -1.25, .leastNonzeroMagnitude, 3.4028235e38, .pi] {
      #expect(try transcode(value, to: Double.self) == Double(value))
      #expect(try transcode([value, 0.5], to: [Double].self) == [Double(value), 0.5])
    }
  }

  @Test("infinities and NaN are read as every floating-point type")
  func notFinite() throws {
    #expect(try transcode(1e-300, to: Float.self) == 0)
    #expect(try transcode(Double.infinity, to: Float.self) == .infinity)
    #expect(try transcode(-Double.infinity, to: Float.self) == -.infinity)
    #expect(try transcode(Double.nan, to: Float.self).isNaN)
    #expect(try transcode(Float.infinity, to: Double.self) == .infinity)
    #expect(try transcode(Float.nan, to: Double.self).isNaN)
    #expect(try transcode([Double.infinity, .nan, 1], to: [Float].self)[0] == .infinity)
  }

  @Test("a whole Double is not an integer", arguments: [0, 1, -1, 2, 127, 1000, 1e10, 1e18] as [Double])
  func wholeDouble(value: Double) throws {
    expectRefused(Int.self, from: value)
    expectRefused(Int8.self, from: value)
    expectRefused(UInt64.self, from: value)
    expectRefused([Int].self, from: [value, value], at: 0)
    expectRefused(Int.self, from: Float(value))
    #expect(try transcode(value, to: JSONValue.self) == .double(value))
    #expect(try transcode([value, 0.5], to: JSONValue.self) == [.double(value), 0.5])
  }

  @Test("a number out of range is refused with the path of its place")
  func beyondFloatPath() {
    expectRefused([Float].self, from: [1, 1e300], at: 1)
    expectRefused([String: [Float]].self, from: ["k": [-1e39]], at: "k", 0)
    expectRefused([[Int8]].self, from: [[1], [2, 300]], at: 1, 1)
    expectRefused([String: UInt].self, from: ["k": -1], at: "k")
  }
}
