/// The decoder of a cell: a scalar.
struct CellDecoder: Decoder, SingleValueDecodingContainer {
  let source: ElementSource
  let cell: Cell
  let node: DecodingPath.Node

  var codingPath: [any CodingKey] { source.session.codingPath(node, at: source.offset) }
  var userInfo: [CodingUserInfoKey: Any] { source.session.configuration.userInfo.values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch([String: Any].self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    source.session.error(FormatError(.cellMismatch, at: source.offset), path: codingPath, expected: type)
  }

  func decodeNil() -> Bool { false }

  // The standard library's defaults for these throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try known(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try known(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try source.session.decode(type, .cell(cell), of: source, at: node)
  }

  private func known<Value: Decodable>(_ type: Value.Type) throws -> Value { try decode(type) }
}
