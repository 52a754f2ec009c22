/// Bools, each its tag (FORMAT.md, "Nil and Bool").
enum Bools {
  static let `false`: UInt8 = 0x01
  static let `true`: UInt8 = 0x02

  static let kind = TaggedKind("a Bool") { $0 == `false` || $0 == `true` ? .fixed(1) : nil }

  /// The Bool at `offset`. The offset behind it is one more.
  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Bool {
    let tag = try reader.byte(at: offset)
    guard tag == `true` || tag == `false` else { try fail(.mismatch, at: offset) }
    return tag == `true`
  }
}
