/// UUIDs, 16 bytes (FORMAT.md, "Dates, UUIDs, decimal numbers").
enum UUIDs {
  static let tag: UInt8 = 0x18

  static let kind = TaggedKind("a UUID") { $0 == tag ? .fixed(17) : nil }

  /// - Parameter bits: The bytes, the first of them lowest.
  static func form(_ bits: UInt128) -> WideForm { WideForm(bits, width: 16, tag: tag) }

  /// The bytes of the UUID at `offset`, the first of them lowest, and the offset behind it; nil if another kind of value
  /// stands there.
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> UInt128? {
    guard try reader.byte(at: offset) == tag else { return nil }
    let (low, high) = (try reader.word(at: offset + 1), try reader.word(at: offset + 9))
    next = offset + 17
    return UInt128(high) << 64 | UInt128(low)
  }
}
