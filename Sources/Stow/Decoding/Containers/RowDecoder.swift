/// The decoder of a row: of a table, an object; of a matrix, an array.
struct RowDecoder: Decoder, StowValueCoder {
  let source: SessionElements
  let row: Int
  let node: PathNode

  var codingPath: [any CodingKey] { source.session.codingPath(node, at: row) }
  var userInfo: [CodingUserInfoKey: Any] { source.session.userInfo.values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let shape = source.columns?.shape else { throw mismatch([String: Any].self) }
    return source.session.container(type, row: row, of: source, shape: shape, node)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard source.columns?.shape == nil, let cells = source.cells(ofRow: row) else {
      throw mismatch([Any].self)
    }
    return ElementsDecoder(source: cells, node: node)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { RowValueDecoder(decoder: self) }

  func mismatch(_ type: Any.Type) -> any Error {
    source.session.error(FormatError(.cellMismatch, at: source.offset), at: node, row, expected: type)
  }
}

/// The container of one row, which is no scalar.
struct RowValueDecoder: ScalarContainer {
  let decoder: RowDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { false }
  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { throw decoder.mismatch(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let element: ElementSource.Element =
      decoder.source.columns?.shape == nil ? .array(row: decoder.row) : .object(row: decoder.row)
    return try decoder.source.session.decode(type, element, of: decoder.source, at: decoder.node)
  }
}
