/// The decoder that a value is handed: the place in the message where its bytes stand.
///
/// Three words, so that it sits inside its existential. It keeps the session alive and may outlive the
/// `init(from:)` it was made for.
struct ValueDecoder: Decoder, StowValueCoder {
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
      guard let object = try ObjectHeader.read(session.message.reader, at: offset) else {
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
      let elements = try Arrays.read(session.message.reader, at: offset)
      return ArrayDecoder(
        session: session, current: elements.lowerBound, end: elements.upperBound, node: node)
    } catch {
      throw session.error(error, at: node, offset, expected: [Any].self)
    }
  }

  @inline(__always)
  func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueDecoder(decoder: self) }
}

/// The container of one value with its tag.
struct SingleValueDecoder: ScalarContainer {
  let decoder: ValueDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { Nils.isNil(decoder.session.message.reader, at: decoder.offset) }

  @inline(__always)
  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    var next = decoder.offset
    do throws(FormatError) {
      return try Value.read(decoder.session.message, at: decoder.offset, next: &next)
    } catch {
      throw decoder.session.error(error, at: decoder.node, decoder.offset, expected: type)
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let entry = decoder.session.types.entry(for: type)
    if entry.kind == .plain { return try decoder.session.decodePlain(type, decoder) }
    return try decoder.session.decodeKnown(type, entry, at: decoder.offset, decoder.node)
  }
}
