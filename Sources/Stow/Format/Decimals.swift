/// Decimal numbers of up to 128 bits: an exponent, and a magnitude (FORMAT.md, "Dates, UUIDs, decimal numbers").
///
///     1B or 1C   length   exponent   magnitude: length − 1 bytes
enum Decimals {
  static let positive: UInt8 = 0x1B
  static let negative: UInt8 = 0x1C

  static let kind = TaggedKind("a decimal number") { $0 == positive || $0 == negative ? .length : nil }

  static func form(_ parts: DecimalParts) -> WideForm {
    let width = (128 - parts.magnitude.leadingZeroBitCount + 7) / 8
    // The length is a uint of one byte.
    let head =
      UInt64(parts.isNegative ? negative : positive) | UInt64(width + 1) << 8
      | UInt64(UInt8(bitPattern: parts.exponent)) << 16
    return WideForm(parts.magnitude, width: width, head: head, size: 3)
  }

  /// The parts of the decimal number at `offset`, and the offset behind it; nil if another kind of value stands there.
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> DecimalParts?
  {
    let tag = try reader.byte(at: offset)
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
    return DecimalParts(
      isNegative: isNegative, magnitude: magnitude, exponent: Int8(bitPattern: reader.base[start]))
  }
}

/// A decimal number as what it stands for: a sign, an integer of up to 128 bits, and a power of ten.
///
/// NaN, which has no such parts, is a negative zero here.
struct DecimalParts {
  var isNegative: Bool
  var magnitude: UInt128
  var exponent: Int8
}
