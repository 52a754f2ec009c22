/// The decoder that a value is handed: the place in the message where its bytes stand.
///
/// Three words, so that it sits inside its existential. It keeps the session alive and may outlive the
/// `init(from:)` it was made for.
struct ValueDecoder: Decoder {
  let session: DecodingSession
  let offset: Int
  let node: PathNode

  @inline(__always)
  init(session: DecodingSession, offset: Int, node: PathNode) {
    self.session = session
    self.offset = offset
    self.node = node
  }

  var codingPath: [any CodingKey] { session.codingPath(node, at: offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    do throws(FormatError) {
      guard let object = try session.message.reader.object(at: offset) else {
        try fail(.mismatch, at: offset)
      }
      return try session.container(type, object, node)
    } catch {
      throw session.error(error, at: node, offset, expected: [String: Any].self)
    }
  }

  @inline(__always)
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    do throws(FormatError) {
      if let source = try SessionElements.at(offset, session) {
        return ElementsDecoder(source: source, node: node)
      }
      let elements = try session.message.reader.array(at: offset)
      return ArrayDecoder(
        session: session, current: elements.lowerBound, end: elements.upperBound, node: node)
    } catch {
      throw session.error(error, at: node, offset, expected: [Any].self)
    }
  }

  @inline(__always)
  func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueDecoder(decoder: self) }
}
