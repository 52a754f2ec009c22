/// Integers of up to 128 bits (FORMAT.md, "Integers").
enum Integers {
  /// A signed integer of 1 to 8 bytes: `sized + width - 1`.
  static let sized: UInt8 = 0x03
  static let lastSized: UInt8 = 0x0A
  /// An integer from 2⁶³ to 2⁶⁴ − 1, 8 bytes.
  static let unsigned64: UInt8 = 0x0B
  static let signed128: UInt8 = 0x0C
  static let unsigned128: UInt8 = 0x0D
  /// An integer from −16 to 47: `small + 16 + value`.
  static let small: UInt8 = 0x80
  static let lastSmall: UInt8 = 0xBF
  static let smallRange: ClosedRange<Int64> = -16...47

  static let kind = TaggedKind("an integer") { tag in
    switch tag {
    case small...lastSmall: .fixed(1)
    case sized...lastSized: .fixed(tag - sized + 2)
    case unsigned64: .fixed(9)
    case signed128, unsigned128: .fixed(17)
    default: nil
    }
  }

  @inline(__always)
  static func isSmall(_ tag: UInt8) -> Bool { tag & 0xC0 == small }

  /// Whether an integer of at most 64 signed bits has the tag.
  @inline(__always)
  static func isUsual(_ tag: UInt8) -> Bool { isSmall(tag) || tag >= sized && tag <= lastSized }

  // MARK: writing

  /// The tag of an integer in its shortest form, and how many of its lowest bytes follow.
  @inline(__always)
  private static func form(_ value: Int64) -> (tag: UInt8, width: Int) {
    if smallRange.contains(value) { return (UInt8(truncatingIfNeeded: Int64(small) &+ 16 &+ value), 0) }
    let width = DecimalFraction.width(value)
    return (sized &+ UInt8(truncatingIfNeeded: width &- 1), width)
  }

  /// The bytes of the whole value.
  @inline(__always)
  static func size(_ value: Int64) -> Int { 1 &+ form(value).width }

  /// Writes an integer in its shortest form. Within a reserve.
  @inline(__always)
  static func write(_ value: Int64, to writer: inout BackwardWriter) {
    let form = form(value)
    writer.littleEndian(UInt64(bitPattern: value), width: form.width)
    writer.byte(form.tag)
  }

  /// Writes an integer beyond the range of `Int64`. Within a reserve.
  static func write(beyondSigned value: UInt64, to writer: inout BackwardWriter) {
    writer.littleEndian(value, width: 8)
    writer.byte(unsigned64)
  }

  /// The form of an integer that has no shorter one: its bits in two's complement.
  static func form(bits: UInt128, isSigned: Bool) -> WideForm {
    WideForm(bits, width: 16, tag: isSigned ? signed128 : unsigned128)
  }

  // MARK: reading

  /// Whether an integer stands at `offset`.
  static func isInteger(_ reader: ByteReader, at offset: Int) -> Bool {
    guard offset < reader.count else { return false }
    let tag = reader.base[offset]
    return (sized...unsigned128).contains(tag) || isSmall(tag)
  }

  /// An integer of at most 64 signed bits, and the offset behind it.
  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Int64 {
    let tag = try reader.byte(at: offset)
    if isSmall(tag) {
      next = offset &+ 1
      return Int64(tag) &- Int64(small) &- 16
    }
    let width = Int(tag) &- Int(sized) &+ 1
    guard width >= 1, width <= 8 else { try fail(.mismatch, at: offset) }
    let value = try reader.signed(at: offset &+ 1, width: width)
    next = offset &+ 1 &+ width
    return value
  }

  /// The integer that others are counted from.
  static func base(_ reader: ByteReader, at offset: inout Int) throws(FormatError) -> Int64 {
    guard offset < reader.count, isUsual(reader.base[offset]) else { try fail(.malformed, at: offset) }
    return try read(reader, at: offset, next: &offset)
  }

  /// An integer of 64 unsigned or 128 bits; nil where the value at `offset` is not one of those.
  static func wide(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> WideInteger?
  {
    let tag = try reader.byte(at: offset)
    guard (unsigned64...unsigned128).contains(tag) else { return nil }
    let low = try reader.word(at: offset + 1)
    let high = tag == unsigned64 ? 0 : try reader.word(at: offset + 9)
    next = offset + (tag == unsigned64 ? 9 : 17)
    return WideInteger(
      bits: UInt128(high) << 64 | UInt128(low), isNegative: tag == signed128 && high >> 63 == 1)
  }
}

/// An integer beyond the range of `Int64`, in two's complement.
struct WideInteger {
  let bits: UInt128
  let isNegative: Bool
}
