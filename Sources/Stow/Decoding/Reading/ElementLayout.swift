/// An element among others, or a cell within a row of them.
enum ElementNumber: BitwiseCopyable, Sendable {
  case element(Int)
  case cell(column: Int, row: Int)
}

/// The elements of an array that have no tags: those of a packed array, the rows of a table or a matrix, the
/// cells of a row, or the bytes of data. Readers see plain values, objects and arrays.
final class ElementLayout: Sendable {
  private enum Form: Sendable {
    case packed(PackedArray)
    /// Integers whose width differs, read ahead.
    case integers([Int64], PackedArray)
    case rows
    case cells(row: Int)
    case bytes(first: Int)
    /// What a path finds in each of other elements, which takes a walk.
    case found
  }

  let arrayOffset: Int
  let count: Int
  private let form: Form
  /// The columns of rows, or of the cells of a row; nil otherwise.
  let columns: Columns?

  /// Returns whether an array with this tag has elements without tags.
  static func isArray(_ tag: UInt8) -> Bool { PackedArray.isPacked(tag) || Columns.isColumns(tag) }

  /// Makes the elements of the array or the data at `offset`; nil for arrays of whole values and for other values.
  init?(_ message: Message, at offset: Int) throws(FormatError) {
    let reader = message.reader
    let tag = try reader.byte(at: offset)
    arrayOffset = offset
    if Columns.isColumns(tag) {
      let columns = try Columns(reader, tables: message.tables, at: offset)
      self.columns = columns
      (form, count) = (.rows, columns.rowCount)
      return
    }
    columns = nil
    if tag == DataValues.tag {
      let range = try DataValues.read(reader, at: offset)
      (form, count) = (.bytes(first: range.lowerBound), range.count)
      return
    }
    guard PackedArray.isPacked(tag) else { return nil }
    let packed = try PackedArray(reader, at: offset)
    count = packed.count
    form =
      packed.isInteger && packed.stride == 0 ? .integers(try packed.integers(reader), packed) : .packed(packed)
  }

  /// Makes the results of a path in `count` elements of the array at `offset`.
  init(found count: Int, inArrayAt offset: Int) {
    (arrayOffset, self.count, form, columns) = (offset, count, .found, nil)
  }

  private init(row: Int, of columns: Columns) {
    arrayOffset = row
    self.columns = columns
    (form, count) = (.cells(row: row), columns.columns.count)
  }

  // MARK: rows

  /// Returns where a row is; nil if the element is not one.
  func row(_ number: ElementNumber) -> Int? {
    guard case .rows = form, let columns, case .element(let index) = number else { return nil }
    return columns.rows.lowerBound &+ index &* columns.stride
  }

  func cells(ofRow number: ElementNumber) -> ElementLayout? {
    guard let row = row(number), let columns else { return nil }
    return ElementLayout(row: row, of: columns)
  }

  func cell(_ column: Int, ofRowAt row: Int) -> ElementNumber {
    guard let columns else { preconditionFailure("a cell of no row") }
    return .cell(column: column, row: (row - columns.rows.lowerBound) / columns.stride)
  }

  /// Returns the column of a cell, and where its row is; nil for other elements.
  func column(_ number: ElementNumber) -> (column: Columns.Column, row: Int)? {
    guard let columns else { return nil }
    switch number {
    case .element(let index):
      guard case .cells(let row) = form else { return nil }
      return (columns.columns[index], row)
    case .cell(let column, let row):
      return (columns.columns[column], columns.rows.lowerBound + row * columns.stride)
    }
  }

  // MARK: elements

  /// Returns where an element begins, or its array, if a path finds it elsewhere.
  func offset(of number: ElementNumber) -> Int {
    if let (column, row) = column(number) { return column.constant ?? row + Int(column.offset) }
    guard case .element(let index) = number else { return arrayOffset }
    return switch form {
    case .packed(let packed), .integers(_, let packed): packed.offset(of: index)
    case .rows: row(number) ?? arrayOffset
    case .bytes(let first): first + index
    case .cells, .found: arrayOffset
    }
  }

  /// Returns where the one value of a cell's column is; nil if each row has a cell of its own.
  func constant(_ number: ElementNumber) -> Int? { column(number)?.column.constant }

  /// Returns an element that is a cell: not a row, and not in a constant column. Its number must exist.
  func cell(_ number: ElementNumber, _ reader: ByteReader) throws(FormatError) -> Cell {
    if let (column, row) = column(number) {
      return try Cell.read(reader, at: row + Int(column.offset), type: column.type, base: column.base)
    }
    guard case .element(let index) = number else { try fail(.cellMismatch, at: arrayOffset) }
    switch form {
    case .found: try fail(.several, at: arrayOffset)
    case .packed(let packed): return try packed.cell(reader, at: index)
    case .integers(let values, _): return .integer(values[index])
    case .bytes(let first): return .integer(Int64(try reader.byte(at: first + index)))
    case .rows, .cells: try fail(.cellMismatch, at: offset(of: number))
    }
  }

  /// Returns the cells of a column; nil if there are no rows.
  func run(ofColumn index: Int) -> CellRun? {
    guard case .rows = form, let columns, columns.columns.indices.contains(index) else { return nil }
    return CellRun(
      columns: [columns.columns[index]], first: columns.rows.lowerBound, stride: columns.stride, count: count)
  }

  /// Returns the cells of a row that is an array; nil if the element is not one.
  func run(ofRow number: ElementNumber) -> CellRun? {
    guard let columns, columns.shape == nil, let row = row(number) else { return nil }
    return CellRun(columns: columns.columns, first: row, stride: 0, count: columns.columns.count)
  }
}

/// Consecutive cells: those of a column or of a row, or the elements of a packed array.
struct CellRun {
  /// The column of all of them; in a row, that of each.
  let columns: [Columns.Column]
  /// Where the first row is, and the distance from each to the next; 0 if all cells are in one row.
  let first: Int
  let stride: Int
  let count: Int
}

// MARK: places

/// The place of a value to decode in an open session, in two words, so that a decoder has room for it.
struct OpenPlace {
  /// The elements without tags that this belongs to; nil for a value with its tag.
  let elements: Elements?
  /// The offset in the message, or the index of the element; of a cell, the complement of its number in all rows.
  let position: Int

  init(elements: Elements?, position: Int) { (self.elements, self.position) = (elements, position) }

  init(at offset: Int) { self.init(elements: nil, position: offset) }

  /// The place of an element, or of the single value of its column.
  init(_ number: ElementNumber, of elements: Elements) {
    if let offset = elements.layout.constant(number) {
      self.init(at: offset)
      return
    }
    switch number {
    case .element(let index): self.init(elements: elements, position: index)
    case .cell(let column, let row):
      self.init(elements: elements, position: ~(row &* elements.columnCount &+ column))
    }
  }

  /// The place of a missing value, which reads like a nil; every other read fails.
  static var absent: OpenPlace { OpenPlace(at: ErrorMaker.nowhere) }

  /// Where a value with a tag is; nil for an element.
  var tagged: Int? { elements == nil ? position : nil }

  /// The number of the element; for a value with a tag, of no use.
  var number: ElementNumber { elements?.number(at: position) ?? .element(position) }

  /// Whether this is the array of the values that a path finds in each of some elements.
  var isEach: Bool { elements?.isEach == true }

  var offset: Int { elements.map { $0.layout.offset(of: number) } ?? position }

  /// Returns how many levels of optionals are around the nil at this place; nil if there is another value.
  func levelOfNil(_ message: Message) -> Int? {
    guard elements == nil else { return nil }
    if Nils.isNil(message.reader, at: position) { return Nils.level(message.reader, at: position) }
    return position == Self.absent.position ? 0 : nil
  }

  @inline(never)
  func read<Value: ReadableScalar>(_ type: Value.Type, _ message: Message) throws(FormatError) -> Value {
    if let elements { return try Value.read(elements.layout.cell(number, message.reader), at: offset) }
    var next = position
    return try Value.readOutOfLine(message, at: position, next: &next)
  }
}

/// Elements without tags that values belong to. What a path finds in each of other elements is such an array, too.
class Elements {
  final let layout: ElementLayout
  /// Whether a path finds these in each of other elements.
  final let isEach: Bool
  /// The shape of rows that are objects.
  final let shape: Int?
  final var count: Int { layout.count }
  fileprivate final var columnCount: Int { layout.columns?.columns.count ?? 1 }

  /// Returns the element at the position of a place.
  @inline(__always)
  final func number(at position: Int) -> ElementNumber {
    if position >= 0 { return .element(position) }
    let (row, column) = (~position).quotientAndRemainder(dividingBy: columnCount)
    return .cell(column: column, row: row)
  }

  init(_ layout: ElementLayout, isEach: Bool) {
    self.layout = layout
    self.isEach = isEach
    shape = layout.columns?.shape
  }

  /// Returns the cells of the array at a place; nil if it has other elements, or if there is no array.
  func run(_ number: ElementNumber, _ message: Message) throws(FormatError) -> CellRun? { layout.run(ofRow: number) }

  /// Fails because an element is not a row with keys.
  @inline(never)
  final func failAsRow(_ number: ElementNumber) throws(FormatError) -> Never {
    try fail(isEach ? .several : .cellMismatch, at: layout.offset(of: number))
  }

  final func column(_ keyIndex: Int) throws(FormatError) -> Columns.Column {
    guard let columns = layout.columns?.columns, keyIndex < columns.count else {
      try fail(.malformed, at: layout.arrayOffset)
    }
    return columns[keyIndex]
  }
}
