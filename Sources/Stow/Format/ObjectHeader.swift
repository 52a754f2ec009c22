/// The header of a map or a record: which shape it has, if any, and where its body stands.
struct ObjectHeader {
  /// Nil for a map, whose keys stand before its values.
  let shape: Int?
  /// Whether the body begins with a bit for every key of the shape.
  let isPartial: Bool
  let body: Range<Int>

  /// The header of the object at `offset`; nil if another kind of value stands there.
  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> ObjectHeader? {
    let tag = try reader.byte(at: offset)
    guard tag >= Records.short else { return try readRare(reader, at: offset, tag: tag) }
    var next = offset &+ 1
    let length = try reader.length(at: &next)
    return ObjectHeader(
      shape: Int(tag & 7), isPartial: tag >= Records.shortPartial,
      body: Range(uncheckedBounds: (next, next &+ length)))
  }

  @inline(never)
  private static func readRare(
    _ reader: ByteReader, at offset: Int, tag: UInt8
  ) throws(FormatError) -> ObjectHeader? {
    if let body = try Maps.read(reader, at: offset) {
      return ObjectHeader(shape: nil, isPartial: false, body: body)
    }
    guard tag == Records.long || tag == Records.longPartial else { return nil }
    var next = offset + 1
    let shape = try reader.varint(at: &next)
    let length = try reader.length(at: &next)
    return ObjectHeader(shape: shape, isPartial: tag == Records.longPartial, body: next..<next + length)
  }
}
