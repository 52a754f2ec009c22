// Reading the values that were found.

extension ObjectReader {
  /// Returns the scalar that `find` found at `offset`, with its tag, or without one in the row of a table, and goes on
  /// behind it.
  @inline(__always)
  func read<Value: ReadableScalar>(
    _ type: Value.Type, at offset: Int, _ message: Message
  ) throws(FormatError) -> Value {
    if let source { return try readCell(type, source, keyIndex: offset, message) }
    var next = offset
    let result = try Value.read(message, at: offset, next: &next)
    try advance(to: next, message)
    return result
  }

  /// Reads a cell; out of line, so that what reads values with a tag stays short.
  @inline(never)
  private func readCell<Value: ReadableScalar>(
    _ type: Value.Type, _ source: ElementSource, keyIndex: Int, _ message: Message
  ) throws(FormatError) -> Value {
    switch try source.cell(row: row, keyIndex: keyIndex, message.reader) {
    case .cell(let content): return try Value.read(content, at: row)
    case .value(let offset):
      var next = offset
      return try Value.read(message, at: offset, next: &next)
    case .object, .array: try fail(.cellMismatch, at: row)
    }
  }

  /// Goes on behind the value that `find` found at `offset` if it is nil, and returns whether it is.
  @inline(__always)
  func passNil(_ offset: Int, _ message: Message) throws(FormatError) -> Bool {
    if let source { return isNil(source, keyIndex: offset, message.reader) }
    guard Nils.isNil(message.reader, at: offset) else { return false }
    try pass(offset, message)
    return true
  }

  private func isNil(_ source: ElementSource, keyIndex: Int, _ reader: ByteReader) -> Bool {
    source.constant(keyIndex: keyIndex).map { Nils.isNil(reader, at: $0) } ?? false
  }

  /// Goes on behind the value at `offset`.
  @inline(__always)
  func pass(_ offset: Int, _ message: Message) throws(FormatError) {
    try advance(to: message.reader.end(of: offset), message)
  }
}
