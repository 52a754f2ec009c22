/// What each byte is in texts of 6 and 5 bits a character (FORMAT.md, "Texts").
///
/// The lowest byte is the 6-bit code; the next is the 5-bit unit, with `upper` or `digit` if a shift stands before it.
/// Either is `none` for a byte that has no code. The upper half is the number of 5-bit units, and so the sum of all
/// entries has that of a text there.
enum CharacterCodes {
  static let none: UInt8 = 0x80
  static let upper: UInt8 = 0x20
  static let digit: UInt8 = 0x40

  static let sixBitCharacters: StaticString =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
  static let fiveBitCharacters: StaticString = "abcdefghijklmnopqrstuvwxyz_-.$"
  /// The unit before an upper-case letter, and before a digit.
  static let upperShift: UInt8 = 30
  static let digitShift: UInt8 = 31

  /// By byte. Never written after it was made, and never freed.
  nonisolated(unsafe) static let table: UnsafePointer<UInt64> = {
    var (sixBit, fiveBit) = ([UInt8](repeating: none, count: 256), [UInt8](repeating: none, count: 256))
    for code in 0..<64 { sixBit[Int(sixBitCharacters.utf8Start[code])] = UInt8(code) }
    for unit in 0..<30 { fiveBit[Int(fiveBitCharacters.utf8Start[unit])] = UInt8(unit) }
    for unit in 0..<26 { fiveBit[Int(UInt8(ascii: "A")) + unit] = upper | UInt8(unit) }
    for unit in 0..<10 { fiveBit[Int(UInt8(ascii: "0")) + unit] = digit | UInt8(unit) }
    let table = UnsafeMutablePointer<UInt64>.allocate(capacity: 256)
    for byte in 0..<256 {
      let units: UInt64 = fiveBit[byte] & (upper | digit) == 0 ? 1 : 2
      (table + byte).initialize(to: UInt64(sixBit[byte]) | UInt64(fiveBit[byte]) << 8 | units << 32)
    }
    return UnsafePointer(table)
  }()
}
