/// Objects whose keys are a shape of the prelude (FORMAT.md, "Arrays, maps, records").
///
///     F0–F7             length   value  value  …        one of the first 8 shapes: `short + shape`
///     72       shape    length   value  value  …
///     F8–FF             length   presence bits   value  value  …
///     73       shape    length   presence bits   value  value  …
enum Records {
  static let long: UInt8 = 0x72
  static let longPartial: UInt8 = 0x73
  static let short: UInt8 = 0xF0
  static let shortPartial: UInt8 = 0xF8
  static let shortLimit = 8

  static let kind = TaggedKind("an object") { tag in
    switch tag {
    case short...: .length
    case long, longPartial: .uintAndLength
    default: nil
    }
  }

  /// Writes the header of a record, whose body was written and takes `length` bytes. Within a reserve.
  @inline(__always)
  static func writeHeader(_ length: Int, shape: Int, isPartial: Bool, to writer: inout BackwardWriter) {
    writer.varint(length)
    if shape < shortLimit {
      writer.byte((isPartial ? shortPartial : short) &+ UInt8(truncatingIfNeeded: shape))
    } else {
      writer.varint(shape)
      writer.byte(isPartial ? longPartial : long)
    }
  }

  /// The bytes of a presence bit for each key of a shape.
  @inline(__always)
  static func presenceSize(_ keyCount: Int) -> Int { (keyCount + 7) / 8 }

  /// The offset behind the presence bits with which the body of a partial record begins; bits of no key are zero.
  static func endOfPresence(
    _ reader: ByteReader, in body: Range<Int>, keyCount: Int
  ) throws(FormatError) -> Int {
    let size = presenceSize(keyCount)
    guard size <= body.count else { try fail(.malformed, at: body.lowerBound) }
    let end = body.lowerBound + size
    let used = keyCount & 7
    guard used == 0 || reader.base[end - 1] >> UInt8(used) == 0 else { try fail(.malformed, at: end - 1) }
    return end
  }
}
