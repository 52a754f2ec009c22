/// Elements without tags, with the session that reads them, so that a decoder of one of them holds both in one word.
final class SessionElements: ElementSource {
  let session: DecodingSession

  /// Returns the array at `offset`; nil if its elements are whole values, or it is none.
  @inline(__always)
  static func at(_ offset: Int, _ session: DecodingSession) throws(FormatError) -> SessionElements? {
    let tag = try session.message.reader.byte(at: offset)
    guard isSource(tag) else { return nil }
    return try SessionElements(session, at: offset, tag: tag)
  }

  private init(_ session: DecodingSession, at offset: Int, tag: UInt8) throws(FormatError) {
    self.session = session
    try super.init(session.message, at: offset, tag: tag)
  }

  /// Rows whose description has been read, of the table or the matrix at `offset`.
  init(_ columns: Columns, at offset: Int, _ session: DecodingSession) {
    self.session = session
    super.init(columns, at: offset)
  }

  /// What cells need that have been read, of the array at `offset`.
  init(emptyAt offset: Int, _ session: DecodingSession) {
    self.session = session
    super.init(emptyAt: offset)
  }

  private init(row: Int, of columns: Columns, _ session: DecodingSession) {
    self.session = session
    super.init(row: row, of: columns)
  }

  /// Returns the cells of a row of a matrix; nil if these elements are no rows.
  func cells(ofRow row: Int) -> SessionElements? {
    columns.map { SessionElements(row: row, of: $0, session) }
  }
}
