/// The decoder of an optional that decodes itself, and its container.
struct OptionalDecoder: ScalarDecoder {
  enum Content {
    case value(at: Int)
    case element(ElementSource.Element, of: SessionElements)
    case none(level: Int)
  }

  let session: DecodingSession
  let content: Content
  let node: PathNode

  var codingPath: [any CodingKey] { session.codingPath(node) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  func mismatch(_ type: Any.Type) -> any Error {
    session.error(FormatError(.cellMismatch, at: session.message.body), path: codingPath, expected: type)
  }

  func decodeNil() -> Bool {
    if case .none(level: 0) = content { true } else { false }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    switch content {
    case .value(let offset):
      return try session.decodeKnown(type, session.types.entry(for: type), at: offset, node)
    case .element(let element, let source): return try session.decode(type, element, of: source, at: node)
    case .none(let level):
      guard let none = session.none(type, level: level - 1) else { throw mismatch(type) }
      return none
    }
  }
}
