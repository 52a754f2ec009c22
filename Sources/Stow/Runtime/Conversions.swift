#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Conversions that keep what Foundation and the standard library would lose.

extension Data {
  /// Lends the bytes to `body`.
  ///
  /// Uses a span if there is one: unlike `withUnsafeBytes`, it counts no references.
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

extension Array {
  /// Returns an array of at most `count` elements, which `fill` initializes and counts.
  ///
  /// An empty array is not filled: the standard library would write its count to memory that all empty arrays
  /// share, which would be a data race.
  @inline(__always)
  static func filled(
    count: Int, _ fill: (UnsafeMutablePointer<Element>, _ initialized: inout Int) throws -> Void
  ) rethrows -> [Element] {
    guard count > 0 else { return [] }
    return try [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
      guard let start = buffer.baseAddress else { return }
      try fill(start, &initialized)
    }
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
    self.init(
      isNegative: value.isSignMinus && digits != 0, magnitude: digits, exponent: Int8(value.exponent))
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
}

extension DecimalParts {
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
    if !parts.isNegative {
      self.init(exactly: integer)
    } else if (1...Int128.min.magnitude).contains(integer) {
      self.init(exactly: 0 &- Int128(truncatingIfNeeded: integer))
    } else {
      return nil
    }
  }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float {
    /// The same number; a NaN keeps its bits, which conversion may change.
    init(preserving value: Float16) {
      guard value.isNaN else {
        self.init(value)
        return
      }
      let bits = UInt32(value.bitPattern)
      self.init(bitPattern: (bits & 0x8000) << 16 | 0x7F80_0000 | (bits & 0x3FF) << 13)
    }
  }

  extension Float16 {
    /// The nearest number; a NaN keeps the bits there is room for.
    init(preserving value: Float) {
      guard value.isNaN else {
        self.init(value)
        return
      }
      let payload = UInt16(truncatingIfNeeded: value.bitPattern >> 13 & 0x3FF)
      let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 16 & 0x8000)
      self.init(bitPattern: sign | 0x7C00 | (payload == 0 ? 0x200 : payload))
    }
  }
#endif
