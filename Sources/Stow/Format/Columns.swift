/// Rows of constant stride, without tags: tables and matrices (FORMAT.md, "Tables and matrices").
struct Columns {
  /// Rows that are objects of a shape.
  static let table: UInt8 = 0x7A
  /// Rows that are arrays.
  static let matrix: UInt8 = 0x7B

  static let kind = TaggedKind("an array") { isColumns($0) ? .length : nil }

  static func isColumns(_ tag: UInt8) -> Bool { tag == table || tag == matrix }

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
    let isTable = try reader.byte(at: offset) == Self.table
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
        columns[index].base = try Integers.base(reader, at: &next)
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

  /// The longest string that a constant column may have, which takes no memory of its own.
  private static let longestConstantString = Strings.short + 15

  /// The offset behind the value of a constant column, which is small: it may stand for one in each of very many rows.
  private static func endOfConstant(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Int {
    let tag = try reader.byte(at: offset)
    switch tag {
    case ..<DataValues.tag, Symbols.long, Floats.shortDecimal...longestConstantString,
      Symbols.short...Symbols.lastShort, Nils.nested...Integers.lastSmall, Maps.short, Arrays.short:
      return try reader.end(of: offset)
    default: try fail(.malformed, at: offset)
    }
  }
}
