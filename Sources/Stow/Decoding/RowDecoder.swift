/// The decoder of a row: of a table, an object; of a matrix, an array.
struct RowDecoder: Decoder {
  let source: ElementSource
  let row: Int
  let node: DecodingPath.Node

  var codingPath: [any CodingKey] { source.session.codingPath(node, at: source.offset) }
  var userInfo: [CodingUserInfoKey: Any] { source.session.configuration.userInfo.values }

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

  func mismatch(_ type: Any.Type) -> DecodingError {
    source.session.error(FormatError(.cellMismatch, at: source.offset), path: codingPath, expected: type)
  }
}

/// The container of one row, which is no scalar.
struct RowValueDecoder: SingleValueDecodingContainer {
  let decoder: RowDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { false }
  // The standard library's defaults for these throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try known(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try known(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let element: ElementSource.Element =
      decoder.source.columns?.shape == nil ? .array(row: decoder.row) : .object(row: decoder.row)
    return try decoder.source.session.decode(type, element, of: decoder.source, at: decoder.node)
  }

  private func known<Value: Decodable>(_ type: Value.Type) throws -> Value { try decode(type) }
}
