/// The decoder of a cell: a scalar.
///
/// There is a type for each kind of cell, so that each is three words and sits inside its existential.
protocol CellDecoder: Decoder, ScalarContainer {
  var source: ElementSource { get }
  var cell: Cell { get }
  var node: DecodingPath.Node { get }
}

extension CellDecoder {
  private var session: DecodingSession { source.session }
  var codingPath: [any CodingKey] { session.codingPath(node, at: source.offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.configuration.userInfo.values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch([String: Any].self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private func mismatch(_ type: Any.Type) -> any Error {
    session.error(FormatError(.cellMismatch, at: source.offset), at: node, source.offset, expected: type)
  }

  func decodeNil() -> Bool { false }

  @inline(__always)
  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    do throws(FormatError) {
      return try Value.read(session, cell, at: source.offset)
    } catch {
      throw session.error(error, at: node, source.offset, expected: type)
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try session.decode(type, .cell(cell), of: source, at: node)
  }
}

private struct IntegerCellDecoder: CellDecoder {
  let source: ElementSource
  let integer: Int64
  let node: DecodingPath.Node
  var cell: Cell { .integer(integer) }
}

private struct DoubleCellDecoder: CellDecoder {
  let source: ElementSource
  let value: Double
  let node: DecodingPath.Node
  var cell: Cell { .double(value) }
}

private struct BoolCellDecoder: CellDecoder {
  let source: ElementSource
  let value: Bool
  let node: DecodingPath.Node
  var cell: Cell { .bool(value) }
}

private struct DateCellDecoder: CellDecoder {
  let source: ElementSource
  let seconds: Double
  let node: DecodingPath.Node
  var cell: Cell { .date(seconds) }
}

extension DecodingSession {
  /// The decoder of a cell.
  func decoder(_ cell: Cell, of source: ElementSource, _ node: DecodingPath.Node) -> any Decoder {
    switch cell {
    case .integer(let integer): IntegerCellDecoder(source: source, integer: integer, node: node)
    case .double(let value): DoubleCellDecoder(source: source, value: value, node: node)
    case .bool(let value): BoolCellDecoder(source: source, value: value, node: node)
    case .date(let seconds): DateCellDecoder(source: source, seconds: seconds, node: node)
    }
  }
}
