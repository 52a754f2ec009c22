/// The decoder of an optional that decodes itself, and its container.
struct OptionalDecoder: Decoder, SingleValueDecodingContainer {
  enum Content {
    case value(at: Int)
    case element(ElementSource.Element, of: ElementSource)
    case none(level: Int)
  }

  let session: DecodingSession
  let content: Content
  let node: PathNode

  var codingPath: [any CodingKey] { session.codingPath(node) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch([String: Any].self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func mismatch(_ type: Any.Type) -> any Error {
    session.error(FormatError(.cellMismatch, at: session.body), path: codingPath, expected: type)
  }

  func decodeNil() -> Bool {
    if case .none(level: 0) = content { true } else { false }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    switch content {
    case .value(let offset):
      return try session.decodeKnown(type, session.plans.entry(for: type), at: offset, node)
    case .element(let element, let source): return try session.decode(type, element, of: source, at: node)
    case .none(let level):
      guard let none = session.none(type, level: level - 1) else { throw mismatch(type) }
      return none
    }
  }
}

extension DecodingSession {
  /// Lets the optional at `offset` decode itself.
  func decodeOptional<Value: Decodable>(
    _ type: Value.Type, at offset: Int, _ node: PathNode
  ) throws -> Value {
    let isNil = reader.isNil(at: offset)
    return try decodeOptional(
      type, isNil ? .none(level: reader.nilLevel(at: offset)) : .value(at: offset), node)
  }

  func decodeOptional<Value: Decodable>(
    _ type: Value.Type, _ content: OptionalDecoder.Content, _ node: PathNode
  ) throws -> Value {
    var content = content
    // A nil of the innermost optional, however deep it stood.
    if case .none = content, !TypeName(type).isNestedOptional { content = .none(level: 0) }
    return try type.init(from: OptionalDecoder(session: self, content: content, node: node))
  }
}
