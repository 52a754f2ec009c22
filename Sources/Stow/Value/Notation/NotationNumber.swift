/// Floating-point numbers as text, which shows that they are no integers, and to the bit.
enum NotationNumber {
  static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  static func text(of value: Double) -> String {
    guard value.isNaN else { return value.description }
    return value.bitPattern == Double.nan.bitPattern ? "nan" : nan(value.bitPattern)
  }

  static func text(of value: Float) -> String {
    value.isNaN ? nan(value.bitPattern) : text(of: Double(value))
  }

  private static func nan<Bits: FixedWidthInteger>(_ bits: Bits) -> String {
    let digits = String(bits, radix: 16)
    return "nan(0x" + String(repeating: "0", count: Bits.bitWidth / 4 - digits.utf8.count) + digits + ")"
  }

  /// The NaN of some hexadecimal digits: 16 of a `Double`, 8 of a `Float`. Nil for other bits.
  static func nan(digits: String) -> StowValue? {
    switch digits.utf8.count {
    case 16:
      let value = UInt64(digits, radix: 16).map { Double(bitPattern: $0) }
      return value.flatMap { $0.isNaN ? .double($0) : nil }
    case 8:
      let value = UInt32(digits, radix: 16).map { Float(bitPattern: $0) }
      return value.flatMap { $0.isNaN ? .float($0) : nil }
    default: return nil
    }
  }
}
