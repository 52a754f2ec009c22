#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Foundation's data without needless copies and calls, and its decimal numbers by their parts, which keep final zeros.

extension Data {
  /// Lends the bytes, by a span if there is one: unlike `withUnsafeBytes`, it counts no references.
  func lendBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    #if compiler(>=6.3) && canImport(FoundationEssentials) && !canImport(Darwin)
      try bytes.withUnsafeBytes(body)
    #else
      try withUnsafeBytes(body)
    #endif
  }

  static func copy(_ bytes: UnsafeRawBufferPointer) -> Data {
    bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
  }
}

extension DecimalParts {
  init(_ value: Decimal) {
    guard !value.isNaN else {
      self.init(isNegative: true, magnitude: 0, exponent: 0)
      return
    }
    // The parts of Foundation's `Decimal` are not public everywhere; its digits are.
    let digits = UInt128(value.significand.magnitude.description) ?? 0
    self.init(isNegative: value.isSignMinus && digits != 0, magnitude: digits, exponent: Int8(value.exponent))
  }

  var decimal: Decimal? {
    if magnitude == 0 {
      guard !isNegative else { return .nan }
      // Made from its parts, a zero would lose the exponent.
      return Decimal(string: "0e\(exponent)")
    }
    // Made from its digits, a number loses trailing zeros to the exponent, which may have no room for them.
    let significand = UInt64(exactly: magnitude).map { Decimal($0) } ?? Decimal(string: String(magnitude))
    guard let significand else { return nil }
    let result = Decimal(sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: significand)
    return result.isNaN ? nil : result
  }

  init(_ integer: Int128) {
    self.init(isNegative: integer < 0, magnitude: integer.magnitude, exponent: 0)
  }

  var double: Double {
    if magnitude == 0, isNegative { return .nan }
    return Double("\(isNegative ? "-" : "")\(magnitude)e\(exponent)") ?? .nan
  }

  /// The magnitude, if the number is an integer of at most 128 bits without its sign.
  fileprivate var integer: UInt128? {
    var (integer, exponent) = (magnitude, magnitude == 0 ? 0 : exponent)
    while exponent < 0 {
      guard integer % 10 == 0 else { return nil }
      integer /= 10
      exponent += 1
    }
    while exponent > 0 {
      let (product, overflow) = integer.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      integer = product
      exponent -= 1
    }
    return integer
  }
}

extension FixedWidthInteger {
  /// Makes the integer that a decimal number equals; nil if it is not an integer, or does not fit.
  init?(exactly parts: DecimalParts) {
    guard let integer = parts.integer else { return nil }
    guard parts.isNegative else {
      self.init(exactly: integer)
      return
    }
    guard (1...Int128.min.magnitude).contains(integer) else { return nil }
    self.init(exactly: 0 &- Int128(truncatingIfNeeded: integer))
  }
}
