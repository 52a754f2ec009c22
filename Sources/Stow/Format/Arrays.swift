/// Arrays whose elements are whole values (FORMAT.md, "Arrays, maps, records").
enum Arrays {
  /// The length stands behind it.
  static let long: UInt8 = 0x70
  /// An array of 0 to 15 bytes: `short + length`.
  static let short: UInt8 = 0xE0
  static let lastShort: UInt8 = 0xEF
  static let shortLimit = 16

  static let kind = TaggedKind("an array") { tag in
    switch tag {
    case short...lastShort: .fixed(tag - short + 1)
    case long: .length
    default: nil
    }
  }

  @inline(__always)
  static func isArray(_ tag: UInt8) -> Bool { tag & 0xF0 == short || tag == long }

  /// The bytes of the whole value, whose elements take `length`.
  static func size(_ length: Int) -> Int { 1 + (length < shortLimit ? 0 : Varint.size(length)) + length }

  /// Writes the header of an array, whose elements were written and take `length` bytes.
  @inline(__always)
  static func writeHeader(_ length: Int, to writer: inout BackwardWriter) {
    writer.reserve(BackwardWriter.margin)
    writer.header(length, short: short, limit: shortLimit, long: long)
  }

  /// Where the elements of the array at `offset` stand.
  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Range<Int> {
    let tag = try reader.byte(at: offset)
    var start = offset &+ 1
    if tag & 0xF0 == short {
      let length = Int(tag & 15)
      try reader.require(length, at: start)
      return Range(uncheckedBounds: (start, start &+ length))
    }
    guard tag == long else { try fail(.mismatch, at: offset) }
    let length = try reader.length(at: &start)
    return Range(uncheckedBounds: (start, start &+ length))
  }

  /// The number of elements: a step for each. `note` is handed where each stands.
  @inline(__always)
  static func count(
    _ elements: Range<Int>, _ reader: ByteReader, note: (Int) -> Void = { _ in }
  ) throws(FormatError) -> Int {
    var count = 0
    var offset = elements.lowerBound
    while offset < elements.upperBound {
      let next = try reader.end(of: offset)
      guard next <= elements.upperBound else { try fail(.malformed, at: offset) }
      note(offset)
      offset = next
      count &+= 1
    }
    return count
  }
}
