/// Rows of constant stride, without tags: tables and matrices (FORMAT.md, "Tables and matrices").
struct Columns {
  struct Column {
    let type: UInt8
    /// From the beginning of a row to the cell.
    var offset: Int32 = 0
    /// The integer that cells are counted from; for a constant column, where its value stands.
    var base: Int64 = 0

    /// Where the one value of a constant column stands; nil for other columns.
    @inline(__always)
    var constant: Int? { type == ElementType.constant ? Int(base) : nil }
  }

  /// Whether rows may have so many constant columns: without a limit, few bytes would stand for many cells.
  static func allows(constants: Int, stride: Int) -> Bool { stride > 0 && constants <= stride }

  /// The shape of a table's rows; nil in a matrix.
  let shape: Int?
  let columns: [Column]
  let stride: Int
  /// Where the first row stands, and behind the last.
  let rows: Range<Int>

  var rowCount: Int { rows.count / stride }

  /// Reads the description of the table or matrix at `offset`, and checks that its rows are whole.
  init(_ reader: ByteReader, tables: borrowing MessageTables, at offset: Int) throws(FormatError) {
    let isTable = try reader.byte(at: offset) == Tag.table
    var next = offset + 1
    let length = try reader.length(at: &next)
    let end = next + length
    let first = try reader.varint(at: &next)
    if isTable {
      guard first < tables.shapeCount else { try fail(.malformed, at: offset) }
      shape = first
    } else {
      shape = nil
    }
    let count = isTable ? tables.keyCount(ofShape: first) : first
    guard count > 0, next <= end, count <= end - next else { try fail(.malformed, at: offset) }
    var columns: [Column] = []
    columns.reserveCapacity(count)
    var stride = 0
    for index in 0..<count {
      let type = reader.base[next + index]
      guard let size = ElementType.stride(of: type) else { try fail(.malformed, at: next + index) }
      columns.append(Column(type: type, offset: Int32(truncatingIfNeeded: stride)))
      stride += size
    }
    next += count
    for index in columns.indices {
      if columns[index].type == ElementType.constant {
        columns[index].base = Int64(next)
        next = try Self.endOfConstant(reader, at: next)
      } else if ElementType.isOffset(columns[index].type) {
        columns[index].base = try reader.base(at: &next)
      }
    }
    let constants = columns.reduce(0) { $0 + ($1.type == ElementType.constant ? 1 : 0) }
    guard Self.allows(constants: constants, stride: stride), stride <= Int(Int32.max), next < end,
      (end - next) % stride == 0
    else {
      try fail(.malformed, at: offset)
    }
    self.columns = columns
    self.stride = stride
    rows = next..<end
  }

  /// The offset behind the value of a constant column, which is small: it may stand for one in each of very many rows.
  private static func endOfConstant(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Int {
    let tag = try reader.byte(at: offset)
    switch tag {
    case ..<Tag.data, Tag.symbol, Tag.shortDecimal...Tag.lastConstantString, Tag.shortSymbol..<Tag.array,
      Tag.nestedNil..<Tag.shortMap, Tag.shortMap, Tag.shortArray:
      return try reader.end(of: offset)
    default: try fail(.malformed, at: offset)
    }
  }
}

/// One value without a tag: an element of a packed array or a cell of a table.
enum Cell {
  case integer(Int64)
  case double(Double)
  case bool(Bool)
  case date(Double)
}

extension ByteReader {
  /// The cell of the given type at `offset`, for which offsets are counted from `base`.
  func cell(at offset: Int, type: UInt8, base: Int64) throws(FormatError) -> Cell {
    if ElementType.isOffset(type) { return .integer(try integerCell(at: offset, type: type) &+ base) }
    return try cell(at: offset, type: type)
  }

  /// The cell of the given type at `offset`.
  private func cell(at offset: Int, type: UInt8) throws(FormatError) -> Cell {
    switch type {
    case ElementType.bool:
      let value = try byte(at: offset)
      guard value <= 1 else { try fail(.malformed, at: offset) }
      return .bool(value == 1)
    case ElementType.date: return .date(Double(bitPattern: try word(at: offset)))
    case ElementType.double: return .double(Double(bitPattern: try word(at: offset)))
    case ElementType.float: return .double(Double(Float(bitPattern: try halfWord(at: offset))))
    default:
      if ElementType.isInteger(type) { return .integer(try integerCell(at: offset, type: type)) }
      return try decimalCell(at: offset, type: type)
    }
  }

  /// A cell whose type is one of the integers'.
  @inline(__always)
  func integerCell(at offset: Int, type: UInt8) throws(FormatError) -> Int64 {
    let width = Int(type & 15)
    let value = try signed(at: offset, width: width)
    if type < ElementType.unsigned { return value }
    return value & (1 << Int64(truncatingIfNeeded: 8 &* width) &- 1)
  }

  func decimalCell(at offset: Int, type: UInt8) throws(FormatError) -> Cell {
    guard let stride = ElementType.stride(of: type) else { try fail(.malformed, at: offset) }
    let exponent = type >= ElementType.integral ? 0 : Int(type >> 4)
    guard ElementType.isNoisy(type) else {
      return .double(DecimalFraction.value(try signed(at: offset, width: stride), exponent: exponent))
    }
    let numerator = try signed(at: offset, width: stride - 1)
    let residue = Int8(bitPattern: try byte(at: offset + stride - 1))
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
  func doubleCell(at offset: Int, type: UInt8) throws(FormatError) -> Double {
    if type == ElementType.double { return Double(bitPattern: try word(at: offset)) }
    if type == ElementType.float { return Double(Float(bitPattern: try halfWord(at: offset))) }
    guard ElementType.isDecimal(type), case .double(let value) = try cell(at: offset, type: type) else {
      try fail(.cellMismatch, at: offset)
    }
    return value
  }
}
