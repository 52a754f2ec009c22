/// Elements without tags: those of a packed array, the rows of a table or a matrix, the cells of a row, or
/// the bytes of data. Containers see them as plain values and objects.
class ElementSource {
  private enum Layout {
    case packed(PackedArray)
    /// Integers whose width differs, read ahead.
    case integers([Int64])
    case rows(Columns)
    case cells(Columns, row: Int)
    case bytes(Range<Int>)
  }

  enum Element {
    case cell(Cell)
    /// A whole value, from a column where all are the same.
    case value(offset: Int)
    /// A row of a table, as an object.
    case object(row: Int)
    /// A row of a matrix, as an array.
    case array(row: Int)
  }

  /// Where the array stands in the message.
  let offset: Int
  let count: Int
  private let layout: Layout
  /// The columns of rows; none otherwise.
  let columns: Columns?
  /// Where the first row stands that is an object, and the bytes of each; none if the elements are others.
  private let objects: (first: Int, stride: Int)?

  /// Returns whether an array with this tag has elements without tags.
  @inline(__always)
  static func isSource(_ tag: UInt8) -> Bool {
    PackedArray.isPacked(tag) || Columns.isColumns(tag) || tag == DataValues.tag
  }

  /// Opens the array at `offset` that has the given tag.
  init(_ message: Message, at offset: Int, tag: UInt8) throws(FormatError) {
    let reader = message.reader
    self.offset = offset
    if Columns.isColumns(tag) {
      let columns = try Columns(reader, tables: message.tables, at: offset)
      layout = .rows(columns)
      self.columns = columns
      count = columns.rowCount
      objects = columns.shape == nil ? nil : (columns.rows.lowerBound, columns.stride)
      return
    }
    columns = nil
    objects = nil
    if tag == DataValues.tag {
      let range = try DataValues.read(reader, at: offset)
      layout = .bytes(range)
      count = range.count
      return
    }
    let packed = try PackedArray(reader, at: offset)
    count = packed.count
    if packed.isInteger, packed.stride == 0 {
      layout = .integers(try packed.integers(reader))
    } else {
      layout = .packed(packed)
    }
  }

  /// Goes on with rows whose description has been read, of the table or the matrix at `offset`.
  init(_ columns: Columns, at offset: Int) {
    self.offset = offset
    self.columns = columns
    layout = .rows(columns)
    count = columns.rowCount
    objects = columns.shape == nil ? nil : (columns.rows.lowerBound, columns.stride)
  }

  /// What is left of the array at `offset` when the one element that is wanted has been read: nothing.
  init(emptyAt offset: Int) {
    self.offset = offset
    count = 0
    layout = .bytes(offset..<offset)
    columns = nil
    objects = nil
  }

  /// Opens a row of a matrix.
  init(row: Int, of columns: Columns) {
    offset = row
    count = columns.columns.count
    layout = .cells(columns, row: row)
    self.columns = nil
    objects = nil
  }

  /// Returns where the row at `index` stands, which is below `count`, or nil if the elements are no objects.
  @inline(__always)
  func object(at index: Int) -> Int? {
    objects.map { $0.first &+ index &* $0.stride }
  }

  /// Returns the element at `index`, which is below `count`.
  func element(at index: Int, _ reader: ByteReader) throws(FormatError) -> Element {
    switch layout {
    case .packed(let packed): return .cell(try packed.cell(reader, at: index))
    case .integers(let values): return .cell(.integer(values[index]))
    case .rows(let columns):
      let row = columns.rows.lowerBound + index * columns.stride
      return columns.shape == nil ? .array(row: row) : .object(row: row)
    case .cells(let columns, let row):
      return try cell(columns.columns[index], row: row, reader)
    case .bytes(let range): return .cell(.integer(Int64(try reader.byte(at: range.lowerBound + index))))
    }
  }

  /// Returns where the one value of a table's column stands, or nil if each row has a cell of its own.
  func constant(keyIndex: Int) -> Int? {
    guard let columns, keyIndex < columns.columns.count else { return nil }
    return columns.columns[keyIndex].constant
  }

  /// Returns where the one value of a matrix's column stands, or nil if each row has a cell of its own.
  func constant(at index: Int) -> Int? {
    guard case .cells(let columns, _) = layout else { return nil }
    return columns.columns[index].constant
  }

  /// Returns the cell of a table's row in the column of a key.
  @inline(__always)
  func cell(row: Int, keyIndex: Int, _ reader: ByteReader) throws(FormatError) -> Element {
    guard let columns, keyIndex < columns.columns.count else { try fail(.malformed, at: offset) }
    return try cell(columns.columns[keyIndex], row: row, reader)
  }

  /// Returns the cell of a table's row in a column of `Double` or `Float` as they are, or nil in another column.
  @inline(__always)
  func wholeDouble(row: Int, keyIndex: Int, _ reader: ByteReader) throws(FormatError) -> Double? {
    guard let columns, keyIndex < columns.columns.count else { return nil }
    let column = columns.columns[keyIndex]
    guard column.type == ElementType.double || column.type == ElementType.float else { return nil }
    return try Cell.readDouble(reader, at: row &+ Int(column.offset), type: column.type)
  }

  @inline(__always)
  private func cell(_ column: Columns.Column, row: Int, _ reader: ByteReader) throws(FormatError) -> Element {
    if let constant = column.constant { return .value(offset: constant) }
    return .cell(try Cell.read(reader, at: row &+ Int(column.offset), type: column.type, base: column.base))
  }
}
