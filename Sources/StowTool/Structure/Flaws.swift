import Stow

/// What canonical writers do not write (FORMAT.md, "Canonical writing").
enum Flaws {
  static let longTag = "a number beside a tag that has room for it"

  /// Returns how many bytes a number takes in its shortest form.
  static func size(of number: Int) -> Int {
    number < 224
      ? 1 : number < 6_368 ? 2 : number < 268_512 ? 3 : UInt64(number) <= UInt64(UInt32.max) ? 5 : 9
  }

  /// Returns whether a scalar is written as in a message of its own.
  static func isCanonical(_ reader: ByteReader, _ bytes: Range<Int>) -> Bool {
    if let tag = try? reader.byte(at: bytes.lowerBound), Scalars.kind(tag) == .decimal {
      return isCanonicalDecimal(reader, bytes)
    }
    guard let message = try? Scalars.value(reader, bytes)?.encoded() else { return true }
    return message.elementsEqual(bytes.lazy.map { (try? reader.byte(at: $0)) ?? 0 })
  }

  /// Returns whether a decimal number is canonical. Digits are not reduced: 12.50 and 12.5 have different
  /// bytes, and both are canonical. A `StowValue` may not keep the difference.
  private static func isCanonicalDecimal(_ reader: ByteReader, _ bytes: Range<Int>) -> Bool {
    guard let length = try? reader.byte(at: bytes.lowerBound + 1),
      let last = try? reader.byte(at: bytes.upperBound - 1)
    else { return false }
    return Int(length) == bytes.count - 2 && (length == 1 || last != 0)
  }
}
