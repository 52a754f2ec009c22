/// Strings that stand in the prelude, each a number among them (FORMAT.md, "Strings and data").
enum Symbols {
  /// The number stands behind it.
  static let long: UInt8 = 0x1E
  /// One of the first 32: `short + number`.
  static let short: UInt8 = 0x50
  static let lastShort: UInt8 = 0x6F
  static let shortLimit = 32

  static let kind = TaggedKind("a string") { tag in
    switch tag {
    case short...lastShort: .fixed(1)
    case long: .uint
    default: nil
    }
  }

  static func isSymbol(_ tag: UInt8) -> Bool { tag == long || tag >= short && tag <= lastShort }

  /// Writes a symbol. Within a reserve.
  @inline(__always)
  static func write(_ number: Int, to writer: inout BackwardWriter) {
    if number < shortLimit {
      writer.byte(short &+ UInt8(truncatingIfNeeded: number))
    } else {
      writer.varint(number)
      writer.byte(long)
    }
  }

  /// The number of the symbol at `offset`, and the offset behind it; nil if another kind of value stands there.
  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Int? {
    let tag = try reader.byte(at: offset)
    if tag >= short, tag <= lastShort {
      next = offset &+ 1
      return Int(tag &- short)
    }
    guard tag == long else { return nil }
    var end = offset &+ 1
    let number = try reader.varint(at: &end)
    next = end
    return number
  }
}
