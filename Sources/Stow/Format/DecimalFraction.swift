/// Floating-point numbers that are decimal fractions, or next to one (FORMAT.md, "Floating point").
///
/// Most numbers that people write down have a few decimals; as binary fractions they fill 8 bytes, as an
/// integer over a power of ten they take 1 to 4. A form is used only if dividing back gives the same bits.
/// Numbers that were computed from such decimals lie a few representable numbers beside them: the
/// distance, the *residue*, takes one more byte.
enum DecimalFraction {
  /// Numerators up to 6 bytes.
  static let numeratorLimit: Int64 = 1 << 47

  /// Ten to the power of 0 to 9.
  @inline(__always)
  static func power(_ exponent: Int) -> Double {
    switch exponent {
    case 0: 1
    case 1: 10
    case 2: 100
    case 3: 1e3
    case 4: 1e4
    case 5: 1e5
    case 6: 1e6
    case 7: 1e7
    case 8: 1e8
    default: 1e9
    }
  }

  /// The number that a numerator and an exponent stand for: the correctly rounded quotient.
  @inline(__always)
  static func value(_ numerator: Int64, exponent: Int) -> Double {
    exponent == 0 ? Double(numerator) : Double(numerator) / power(exponent)
  }

  /// The number `residue` representable steps away from `value`.
  @inline(__always)
  static func adding(residue: Int8, to value: Double) -> Double {
    Double(bitPattern: value.bitPattern &+ UInt64(bitPattern: Int64(residue)))
  }

  /// The nearest decimal fraction with `exponent` decimals, and how many representable numbers `value`
  /// lies beyond it; nil if that is more than 127 or the fraction takes more than 6 bytes.
  @inline(__always)
  static func nearest(to value: Double, exponent: Int) -> (numerator: Int64, residue: Int8)? {
    let scaled = value * power(exponent)
    // Also false for NaN.
    guard scaled.magnitude < Double(numeratorLimit) else { return nil }
    let numerator = rounded(scaled)
    let back = Self.value(numerator, exponent: exponent)
    guard let residue = Int8(exactly: Int64(bitPattern: value.bitPattern &- back.bitPattern)),
      residue != Int8.min
    else { return nil }
    return (numerator, residue)
  }

  /// The most decimals of the forms that have their exponent in the tag.
  static let shortExponent = 4

  /// The numerator of a number that has at most `shortExponent` decimals, and at most 4 bytes with them; nil for
  /// others.
  ///
  /// Prices and measurements mostly are such numbers. With the most decimals there may be, they would be the same
  /// fractions with zeros behind them, which take long to strip.
  @inline(__always)
  static func shortNumerator(of value: Double) -> Int64? {
    guard value.magnitude < 100_000 else { return nil }
    let numerator = rounded(value * 1e4)
    return (Double(numerator) / 1e4).bitPattern == value.bitPattern ? numerator : nil
  }

  /// The nearest integer, for magnitudes below 2⁵¹, without a library call or a check: from 2⁵² to 2⁵³, the numbers are
  /// the integers, and so are their bits but for what is subtracted.
  @inline(__always)
  static func rounded(_ value: Double) -> Int64 {
    let origin = 0x1.8p52
    return Int64(bitPattern: (value + origin).bitPattern &- origin.bitPattern)
  }

  /// The most decimals there may be.
  static let widestExponent = ElementType.maximumExponent

  /// The exponent to try for numbers up to `magnitude`: the largest whose numerators stay small enough
  /// for the division to be exact where one of its divisors is.
  @inline(__always)
  static func widestExponent(forMagnitude magnitude: Double) -> Int? {
    if magnitude < 100_000 { return 9 }
    if magnitude < 100_000_000 { return 6 }
    if magnitude < 10_000_000_000 { return 4 }
    return magnitude < 100_000_000_000_000 ? 0 : nil
  }

  /// How often ten divides `numerator`, up to `limit` times.
  static func trailingZeros(_ numerator: Int64, limit: Int) -> Int {
    var rest = numerator
    var zeros = 0
    while zeros < limit, rest % 10 == 0 {
      rest /= 10
      zeros += 1
    }
    return zeros
  }

  /// Ten to the power of 0 to 9.
  @inline(__always)
  static func integerPower(_ exponent: Int) -> Int64 { Int64(power(exponent)) }

  /// The number of bytes of a signed integer, 1 to 8.
  @inline(__always)
  static func width(_ value: Int64) -> Int {
    (72 &- (value ^ (value >> 63)).leadingZeroBitCount) >> 3
  }
}
