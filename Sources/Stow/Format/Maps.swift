/// Objects whose keys stand before their values (FORMAT.md, "Arrays, maps, records").
enum Maps {
  /// The length stands behind it.
  static let long: UInt8 = 0x71
  /// A map of 0 to 31 bytes: `short + length`.
  static let short: UInt8 = 0xC0
  static let lastShort: UInt8 = 0xDF
  static let shortLimit = 32

  static let kind = TaggedKind("an object") { tag in
    switch tag {
    case short...lastShort: .fixed(tag - short + 1)
    case long: .length
    default: nil
    }
  }

  /// Writes the header of a map, whose entries were written and take `length` bytes. Within a reserve.
  static func writeHeader(_ length: Int, to writer: inout BackwardWriter) {
    writer.header(length, short: short, limit: shortLimit, long: long)
  }

  /// Where the entries of the map at `offset` stand; nil if another kind of value stands there.
  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Range<Int>? {
    let tag = try reader.byte(at: offset)
    var start = offset + 1
    if tag == long {
      let length = try reader.length(at: &start)
      return start..<start + length
    }
    guard tag >= short, tag <= lastShort else { return nil }
    let length = Int(tag - short)
    try reader.require(length, at: start)
    return start..<start + length
  }
}
