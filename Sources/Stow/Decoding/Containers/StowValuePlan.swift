/// Values of any kind, read without a call of `Codable` for any of them.
final class StowValuePlan: DecodingPlan<StowValue> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> StowValue {
    try StowValueReader(session).value(at: offset, node)
  }

  override func decode(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) throws -> StowValue {
    let reader = StowValueReader(source.session)
    do throws(FormatError) {
      switch element {
      case .cell(let cell): return StowValueReader.value(cell)
      case .value(var offset): return try reader.read(at: &offset)
      case .object(let row), .array(let row):
        guard let columns = source.columns else { try fail(.cellMismatch, at: source.offset) }
        return try reader.row(at: row, of: columns)
      }
    } catch {
      throw reader.failure(error, inValueAt: source.offset, node)
    }
  }

  override func none(level: Int, _ session: DecodingSession) -> StowValue? {
    level == 0 ? .null : .nestedNull(level: level)
  }
}

/// Arrays of them, read as one value.
final class StowValueArrayPlan: ArrayDecodingPlan<StowValue> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [StowValue] {
    let reader = session.message.reader
    guard offset < reader.count else { return try super.decode(at: offset, from: session, node) }
    let tag = reader.base[offset]
    guard Arrays.isArray(tag) || PackedArray.isPacked(tag) || Columns.isColumns(tag),
      case .array(let elements) = try StowValueReader(session).value(at: offset, node)
    else { return try super.decode(at: offset, from: session, node) }
    return elements
  }
}
