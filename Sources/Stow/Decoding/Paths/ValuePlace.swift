/// Where a part of a message stands: all that is needed to read it, but for the message.
struct ValuePlace: Sendable {
  enum Content: Sendable {
    /// A value with its tag.
    case value(at: Int)
    /// A row of the table or the matrix at `offset`.
    case row(at: Int, of: Columns, offset: Int)
    /// A cell of a row, or an element of the packed array at `offset`.
    case cell(Cell, offset: Int)
    /// What a path finds in each element of another place, as an array.
    indirect case each(PlaceElements)
  }

  let content: Content
  /// How many arrays, maps and records lie around it, as FORMAT.md counts them under "Depth".
  let depth: Int

  /// Where the value begins that it is, or is part of.
  var offset: Int {
    switch content {
    case .value(let offset), .row(_, _, let offset), .cell(_, let offset): offset
    case .each(let elements): elements.place.offset
    }
  }

  /// A place that is no level deeper, as that of a cell in its row.
  func beside(_ content: Content) -> ValuePlace { ValuePlace(content: content, depth: depth) }

  /// The place of a value within the array, the map or the record that this is.
  func inside(at offset: Int) -> ValuePlace { ValuePlace(content: .value(at: offset), depth: depth + 1) }

  /// Returns what is in a column of a row.
  static func content(
    ofColumn index: Int, row: Int, of columns: Columns, offset: Int, _ reader: ByteReader
  ) throws(FormatError) -> Content {
    let column = columns.columns[index]
    if let constant = column.constant { return .value(at: constant) }
    let cell = try Cell.read(reader, at: row + Int(column.offset), type: column.type, base: column.base)
    return .cell(cell, offset: offset)
  }

  /// Returns what kind of value stands there.
  func kind(_ reader: ByteReader) throws(FormatError) -> StowKind {
    switch content {
    case .value(let offset):
      guard let kind = StowKind(Tag.kind(of: try reader.byte(at: offset))) else {
        try fail(.reserved, at: offset)
      }
      return kind
    case .row(_, let columns, _): return columns.shape == nil ? .array : .object
    case .cell(.integer, _): return .integer
    case .cell(.double, _), .cell(.singleNaN, _): return .floatingPoint
    case .cell(.bool, _): return .bool
    case .cell(.date, _): return .date
    case .each: return .array
    }
  }
}

extension StowKind {
  /// Nil for a reserved tag.
  fileprivate init?(_ kind: Tag.Kind) {
    switch kind {
    case .null: self = .null
    case .bool: self = .bool
    case .integer: self = .integer
    case .floatingPoint: self = .floatingPoint
    case .date: self = .date
    case .uuid: self = .uuid
    case .data: self = .data
    case .url: self = .url
    case .decimal: self = .decimal
    case .string: self = .string
    case .array: self = .array
    case .object: self = .object
    case .reserved: return nil
    }
  }
}
