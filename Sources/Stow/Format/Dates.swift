/// Dates: the seconds since the year 2001 (FORMAT.md, "Dates, UUIDs, decimal numbers").
enum Dates {
  /// The bits of a `Double`.
  static let tag: UInt8 = 0x16
  /// A decimal fraction with its scale byte.
  static let scaled: UInt8 = 0x17

  static let kind = TaggedKind("a date") { tag in
    switch tag {
    case Self.tag: .fixed(9)
    case scaled: .scale
    default: nil
    }
  }

  /// A date in a decimal form, if that is shorter than 8 bytes: the scale byte, and the numerator.
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

  /// The bytes of the whole value.
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

  /// The seconds of the date at `offset`, and the offset behind it; nil if another kind of value stands there.
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
