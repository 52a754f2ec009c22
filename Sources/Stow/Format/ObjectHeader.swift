/// The header of a map or a record: which shape it has, if any, and where its body stands.
struct ObjectHeader {
  /// Nil for a map, whose keys stand before its values.
  let shape: Int?
  /// Whether the body begins with a bit for every key of the shape.
  let isPartial: Bool
  let body: Range<Int>
}

extension ByteReader {
  /// The header of the object at `offset`; nil if another kind of value stands there.
  @inline(__always)
  func object(at offset: Int) throws(FormatError) -> ObjectHeader? {
    let tag = try byte(at: offset)
    var next = offset &+ 1
    if tag >= Tag.shortRecord {
      let length = try length(at: &next)
      return ObjectHeader(
        shape: Int(tag & 7), isPartial: tag >= Tag.shortPartialRecord,
        body: Range(uncheckedBounds: (next, next &+ length)))
    }
    return try rareObject(at: offset, tag: tag)
  }

  /// The offset behind the presence bits with which the body of a partial record begins; bits of no key are zero.
  func endOfPresence(in body: Range<Int>, keyCount: Int) throws(FormatError) -> Int {
    let size = (keyCount + 7) / 8
    guard size <= body.count else { try fail(.malformed, at: body.lowerBound) }
    let end = body.lowerBound + size
    let used = keyCount & 7
    guard used == 0 || base[end - 1] >> UInt8(used) == 0 else { try fail(.malformed, at: end - 1) }
    return end
  }

  @inline(never)
  private func rareObject(at offset: Int, tag: UInt8) throws(FormatError) -> ObjectHeader? {
    var next = offset + 1
    switch tag {
    case Tag.shortMap..<Tag.shortArray:
      let length = Int(tag - Tag.shortMap)
      try require(length, at: next)
      return ObjectHeader(shape: nil, isPartial: false, body: next..<next + length)
    case Tag.map:
      let length = try length(at: &next)
      return ObjectHeader(shape: nil, isPartial: false, body: next..<next + length)
    case Tag.record, Tag.partialRecord:
      let shape = try varint(at: &next)
      let length = try length(at: &next)
      return ObjectHeader(shape: shape, isPartial: tag == Tag.partialRecord, body: next..<next + length)
    default: return nil
    }
  }
}
