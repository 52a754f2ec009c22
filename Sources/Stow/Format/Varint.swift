/// Lengths, counts and indices: one byte below 224, two below 6,368, three below 268,512 (FORMAT.md,
/// "Uints").
enum Varint {
  static let oneByteLimit = 224
  static let twoByteLimit = oneByteLimit + 24 * 256
  static let threeByteLimit = twoByteLimit + 4 * 65_536
  static let twoByteLead = 0xE0
  static let threeByteLead = 0xF8
  static let fourByteLead: UInt8 = 0xFC
  static let eightByteLead: UInt8 = 0xFD
  static let longest = 9

  /// The number of bytes that `value` takes.
  @inline(__always)
  static func size(_ value: Int) -> Int {
    value < oneByteLimit
      ? 1 : value < twoByteLimit ? 2 : value < threeByteLimit ? 3 : isOfFourBytes(value) ? 5 : 9
  }

  /// Whether four bytes hold a value, as they hold all where `Int` has 32 bits.
  @inline(__always)
  static func isOfFourBytes(_ value: Int) -> Bool { UInt64(truncatingIfNeeded: value) <= UInt64(UInt32.max) }

  /// The bytes of a value that takes two.
  static func twoBytes(_ value: Int) -> (lead: UInt8, rest: UInt8) {
    let rest = value - oneByteLimit
    return (UInt8(twoByteLead + rest >> 8), UInt8(truncatingIfNeeded: rest))
  }
}
