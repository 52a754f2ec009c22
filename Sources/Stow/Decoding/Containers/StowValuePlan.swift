/// Values of any kind, read without a call of `Codable` for any of them.
final class StowValuePlan: DecodingPlan<StowValue> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> StowValue {
    let reader = StowValueReader(session)
    var next = offset
    do throws(FormatError) {
      return try reader.read(at: &next)
    } catch {
      throw failure(error, from: offset, session, node)
    }
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
      throw failure(error, from: source.offset, source.session, node)
    }
  }

  override func none(level: Int, _ session: DecodingSession) -> StowValue? {
    level == 0 ? .null : .nestedNull(level: level)
  }

  /// Returns the error of a fault in the value at `offset`, with the path of the value inside it that has the fault.
  @inline(never)
  private func failure(
    _ error: FormatError, from offset: Int, _ session: DecodingSession, _ node: PathNode
  ) -> any Error {
    let inside = PathFinder(message: session.message).path(to: error.offset, from: offset)
    return session.error(error, path: session.codingPath(node) + inside, expected: StowValue.self)
  }
}
