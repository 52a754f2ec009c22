/// Nil, and the nil of an optional that stands in others (FORMAT.md, "Nil and Bool").
enum Nils {
  static let tag: UInt8 = 0x00
  /// The level stands in a byte behind it.
  static let nested: UInt8 = 0x7C

  static let kind = TaggedKind("nil") { tag in
    switch tag {
    case Self.tag: .fixed(1)
    case nested: .fixed(2)
    default: nil
    }
  }

  /// Writes the nil of an optional that stands in `level` others, at least one. Within a reserve.
  static func write(level: Int, to writer: inout BackwardWriter) {
    writer.byte(UInt8(truncatingIfNeeded: min(level, 255)))
    writer.byte(nested)
  }

  /// Whether nil stands at `offset`, at whatever level of optionals.
  @inline(__always)
  static func isNil(_ reader: ByteReader, at offset: Int) -> Bool {
    guard offset < reader.count else { return false }
    let tag = reader.base[offset]
    return tag == Self.tag || tag == nested
  }

  /// How many levels of optionals stand around the nil at `offset`.
  static func level(_ reader: ByteReader, at offset: Int) -> Int {
    guard reader.count - offset > 1, reader.base[offset] == nested else { return 0 }
    return Int(reader.base[offset + 1])
  }
}
