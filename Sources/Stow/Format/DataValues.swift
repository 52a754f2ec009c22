/// Data: bytes (FORMAT.md, "Strings and data").
enum DataValues {
  static let tag: UInt8 = 0x19

  static let kind = TaggedKind("data") { $0 == tag ? .length : nil }

  static func write(_ bytes: UnsafeRawBufferPointer, to writer: inout BackwardWriter) {
    writer.bytes(bytes)
    writer.reserve(BackwardWriter.margin)
    writer.varint(bytes.count)
    writer.byte(tag)
  }

  /// Where the bytes of the data at `offset` stand.
  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Range<Int> {
    guard try reader.byte(at: offset) == tag else { try fail(.mismatch, at: offset) }
    var start = offset + 1
    let length = try reader.length(at: &start)
    return start..<start + length
  }
}
