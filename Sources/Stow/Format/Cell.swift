/// One value without a tag: an element of a packed array or a cell of a table.
package enum Cell: Sendable {
  case integer(Int64)
  case double(Double)
  /// A NaN of 4 bytes, whose bits a `Double` would not keep.
  case singleNaN(Float)
  case bool(Bool)
  case date(Double)

  /// The cell of the given type at `offset`, for which offsets are counted from `base`.
  package static func read(_ reader: ByteReader, at offset: Int, type: UInt8, base: Int64) throws(FormatError)
    -> Cell
  {
    if ElementType.isOffset(type) { return .integer(try readInteger(reader, at: offset, type: type) &+ base) }
    return try read(reader, at: offset, type: type)
  }

  /// The cell of the given type at `offset`.
  private static func read(_ reader: ByteReader, at offset: Int, type: UInt8) throws(FormatError) -> Cell {
    switch type {
    case ElementType.bool:
      let value = try reader.byte(at: offset)
      guard value <= 1 else { try fail(.malformed, at: offset) }
      return .bool(value == 1)
    case ElementType.date: return .date(Double(bitPattern: try reader.word(at: offset)))
    case ElementType.double: return .double(Double(bitPattern: try reader.word(at: offset)))
    case ElementType.float:
      let value = Float(bitPattern: try reader.halfWord(at: offset))
      return value.isNaN ? .singleNaN(value) : .double(Double(value))
    default:
      if ElementType.isInteger(type) { return .integer(try readInteger(reader, at: offset, type: type)) }
      return try readDecimal(reader, at: offset, type: type)
    }
  }

  /// A cell whose type is one of the integers'.
  @inline(__always)
  static func readInteger(_ reader: ByteReader, at offset: Int, type: UInt8) throws(FormatError) -> Int64 {
    let width = Int(type & 15)
    let value = try reader.signed(at: offset, width: width)
    if type < ElementType.unsigned { return value }
    return value & (1 << Int64(truncatingIfNeeded: 8 &* width) &- 1)
  }

  private static func readDecimal(_ reader: ByteReader, at offset: Int, type: UInt8) throws(FormatError)
    -> Cell
  {
    guard let stride = ElementType.stride(of: type) else { try fail(.malformed, at: offset) }
    let exponent = type >= ElementType.integral ? 0 : Int(type >> 4)
    guard ElementType.isNoisy(type) else {
      return .double(DecimalFraction.value(try reader.signed(at: offset, width: stride), exponent: exponent))
    }
    let numerator = try reader.signed(at: offset, width: stride - 1)
    let residue = Int8(bitPattern: try reader.byte(at: offset + stride - 1))
    if residue == ElementType.integerMark {
      let (integer, rest) = numerator.quotientAndRemainder(
        dividingBy: DecimalFraction.integerPower(exponent))
      guard rest == 0 else { try fail(.malformed, at: offset) }
      return .integer(integer)
    }
    let value = DecimalFraction.value(numerator, exponent: exponent)
    return .double(DecimalFraction.adding(residue: residue, to: value))
  }

  /// A floating-point cell; throws `cellMismatch` for other types.
  @inline(__always)
  static func readDouble(_ reader: ByteReader, at offset: Int, type: UInt8) throws(FormatError) -> Double {
    if type == ElementType.double { return Double(bitPattern: try reader.word(at: offset)) }
    if type == ElementType.float { return Double(Float(bitPattern: try reader.halfWord(at: offset))) }
    guard ElementType.isDecimal(type), case .double(let value) = try read(reader, at: offset, type: type)
    else {
      try fail(.cellMismatch, at: offset)
    }
    return value
  }
}
