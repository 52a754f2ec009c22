import Stow

/// What canonical writers do not write (FORMAT.md, "Canonical writing").
enum Flaws {
  static let longTag = "a number beside a tag that has room for it"

  /// The bytes that a number takes in the first row that holds it.
  static func size(of number: Int) -> Int {
    number < 224
      ? 1 : number < 6_368 ? 2 : number < 268_512 ? 3 : UInt64(number) <= UInt64(UInt32.max) ? 5 : 9
  }

  /// Whether a scalar is written as a message of it alone would be.
  static func isCanonical(_ reader: ByteReader, _ bytes: Range<Int>) -> Bool {
    guard let message = try? Scalars.value(reader, bytes)?.encoded() else { return true }
    return message.elementsEqual(bytes.lazy.map { (try? reader.byte(at: $0)) ?? 0 })
  }
}
