// The scalars of a few bytes: all except floating-point numbers and texts.

/// Nil, and the nil of an optional inside others (FORMAT.md, "Nil and Bool").
enum Nils {
  static let tag: UInt8 = 0x00
  /// The level is in the next byte.
  static let nested: UInt8 = 0x7C

  /// Writes the nil of an optional inside `level` others, at least one. Within a reserve.
  static func write(level: Int, to writer: inout BackwardWriter) {
    writer.byte(UInt8(truncatingIfNeeded: min(level, 255)))
    writer.byte(nested)
  }

  static func isNil(_ reader: ByteReader, at offset: Int) -> Bool {
    guard offset < reader.count else { return false }
    let tag = reader.base[offset]
    return tag == Self.tag || tag == nested
  }

  static func level(_ reader: ByteReader, at offset: Int) -> Int {
    guard reader.count - offset > 1, reader.base[offset] == nested else { return 0 }
    return Int(reader.base[offset + 1])
  }
}

/// Bools, each its tag (FORMAT.md, "Nil and Bool").
enum Bools {
  static let `false`: UInt8 = 0x01
  static let `true`: UInt8 = 0x02

  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Bool {
    let tag = try reader.byte(at: offset)
    guard tag == `true` || tag == `false` else { try fail(.mismatch, at: offset) }
    return tag == `true`
  }
}

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

  static func isSmall(_ tag: UInt8) -> Bool { tag & 0xC0 == small }

  /// Returns whether an integer of at most 64 signed bits has the tag.
  static func isUsual(_ tag: UInt8) -> Bool { isSmall(tag) || tag >= sized && tag <= lastSized }

  // MARK: writing

  /// Returns the number of bytes of a signed integer, 1 to 8.
  static func width(_ value: Int64) -> Int { (72 &- (value ^ (value >> 63)).leadingZeroBitCount) >> 3 }

  /// Returns the tag of an integer in its shortest form, and how many of its lowest bytes follow.
  private static func form(_ value: Int64) -> (tag: UInt8, width: Int) {
    if smallRange.contains(value) { return (UInt8(truncatingIfNeeded: Int64(small) &+ 16 &+ value), 0) }
    let width = width(value)
    return (sized &+ UInt8(truncatingIfNeeded: width &- 1), width)
  }

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

  /// Returns the form of an integer that has no shorter one: its bits in two's complement.
  static func form(bits: UInt128, isSigned: Bool) -> WideForm {
    WideForm(bits, width: 16, tag: isSigned ? signed128 : unsigned128)
  }

  // MARK: reading

  /// Reads an integer of at most 64 signed bits, and the offset after it.
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

  /// Reads the integer that others are counted from.
  static func base(_ reader: ByteReader, at offset: inout Int) throws(FormatError) -> Int64 {
    guard offset < reader.count, isUsual(reader.base[offset]) else { try fail(.malformed, at: offset) }
    return try read(reader, at: offset, next: &offset)
  }
}

/// Dates: the seconds since the year 2001 (FORMAT.md, "Dates, UUIDs, decimal numbers").
enum Dates {
  /// The bits of a `Double`.
  static let tag: UInt8 = 0x16
  /// A decimal fraction with its scale byte.
  static let scaled: UInt8 = 0x17

  /// Returns a date in a decimal form, if that is shorter than 8 bytes: the scale byte, and the numerator.
  private static func decimal(_ bits: UInt64) -> (scale: UInt8, form: DoubleForm)? {
    let form = DoubleForm(bits)
    switch form.tag {
    case Floats.integral...Floats.lastIntegral: return (UInt8(form.width), form)
    case Floats.shortDecimal...Floats.lastShortDecimal:
      return (((form.tag - Floats.shortDecimal) >> 2 + 1) << 4 | UInt8(form.width), form)
    case Floats.decimal where form.width < 7: return (form.scale ?? 0, form)
    default: return nil
    }
  }

  static func size(_ bits: UInt64) -> Int { decimal(bits).map { $0.form.width + 2 } ?? 9 }

  /// Writes a date whose seconds are a `Double` of these bits. Within a reserve.
  static func write(_ bits: UInt64, to writer: inout BackwardWriter) {
    if let (scale, form) = decimal(bits) {
      writer.littleEndian(form.body, width: form.width)
      writer.byte(scale)
      writer.byte(scaled)
    } else {
      writer.littleEndian(bits, width: 8)
      writer.byte(tag)
    }
  }

  /// Reads the seconds of the date at `offset`, and the offset after it; nil for another kind of value.
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Double? {
    switch try reader.byte(at: offset) {
    case tag:
      let bits = try reader.word(at: offset + 1)
      next = offset + 9
      return Double(bitPattern: bits)
    case scaled: return try Floats.scaled(reader, at: offset + 1, next: &next)
    default: return nil
    }
  }
}

/// UUIDs, 16 bytes (FORMAT.md, "Dates, UUIDs, decimal numbers").
enum UUIDs {
  static let tag: UInt8 = 0x18

  /// - Parameter bits: The bytes, the first of them lowest.
  static func form(_ bits: UInt128) -> WideForm { WideForm(bits, width: 16, tag: tag) }

  /// Reads the bytes of the UUID at `offset`, the first lowest, and the offset after it; nil for another kind.
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> UInt128? {
    guard try reader.byte(at: offset) == tag else { return nil }
    let (low, high) = (try reader.word(at: offset + 1), try reader.word(at: offset + 9))
    next = offset + 17
    return UInt128(high) << 64 | UInt128(low)
  }
}

/// Decimal numbers of up to 128 bits: an exponent, and a magnitude (FORMAT.md, "Dates, UUIDs, decimal numbers").
///
///     1B or 1C   length   exponent   magnitude: length − 1 bytes
enum Decimals {
  static let positive: UInt8 = 0x1B
  static let negative: UInt8 = 0x1C

  static func form(_ parts: DecimalParts) -> WideForm {
    let width = (128 - parts.magnitude.leadingZeroBitCount + 7) / 8
    // The length is a uint of one byte.
    let head =
      UInt64(parts.isNegative ? negative : positive) | UInt64(width + 1) << 8
      | UInt64(UInt8(bitPattern: parts.exponent)) << 16
    return WideForm(parts.magnitude, width: width, head: head, size: 3)
  }

  /// Reads a decimal number, or an integer of 64 unsigned or 128 bits, and the offset after it; nil for other values.
  static func readWide(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> DecimalParts? {
    let tag = try reader.byte(at: offset)
    if (Integers.unsigned64...Integers.unsigned128).contains(tag) {
      let low = try reader.word(at: offset + 1)
      let high = tag == Integers.unsigned64 ? 0 : try reader.word(at: offset + 9)
      next = offset + (tag == Integers.unsigned64 ? 9 : 17)
      let bits = UInt128(high) << 64 | UInt128(low)
      let isNegative = tag == Integers.signed128 && high >> 63 == 1
      return DecimalParts(isNegative: isNegative, magnitude: isNegative ? 0 &- bits : bits, exponent: 0)
    }
    guard tag == positive || tag == negative else { return nil }
    var start = offset + 1
    let length = try reader.length(at: &start)
    guard (1...17).contains(length) else { try fail(.malformed, at: offset) }
    var magnitude: UInt128 = 0
    for index in 1..<length { magnitude |= UInt128(reader.base[start + index]) << UInt128(8 * (index - 1)) }
    let isNegative = tag == negative
    // A negative zero is NaN, which has no exponent.
    guard magnitude != 0 || !isNegative || reader.base[start] == 0 else { try fail(.malformed, at: offset) }
    next = start + length
    return DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: Int8(bitPattern: reader.base[start]))
  }
}

/// The parts of a decimal number: a sign, an integer, and a power of ten. NaN is a negative zero here.
struct DecimalParts {
  var isNegative: Bool
  var magnitude: UInt128
  var exponent: Int8
}

/// The bytes of a scalar that does not fit in a word, with its tag: up to eight, and then up to sixteen more.
struct WideForm: BitwiseCopyable, Equatable {
  private let head: UInt64
  private let headSize: UInt8
  private let width: UInt8
  private let low: UInt64
  private let high: UInt64

  /// The tag, and `width` bytes of `bits`, the lowest first.
  init(_ bits: UInt128, width: Int, tag: UInt8) { self.init(bits, width: width, head: UInt64(tag), size: 1) }

  /// - Parameter head: The first `size` bytes, the first of them lowest.
  init(_ bits: UInt128, width: Int, head: UInt64, size: Int) {
    self.head = head
    headSize = UInt8(size)
    self.width = UInt8(width)
    low = UInt64(truncatingIfNeeded: bits)
    high = UInt64(truncatingIfNeeded: bits >> 64)
  }

  func write(to writer: inout BackwardWriter) {
    if width > 8 { writer.littleEndian(high, width: Int(width) - 8) }
    writer.littleEndian(low, width: min(8, Int(width)))
    writer.littleEndian(head, width: Int(headSize))
  }
}
