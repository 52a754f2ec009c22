/// An array that is being recorded.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
  let session: EncodingSession
  /// The token where the array begins.
  let begin: Int
  private(set) var count: Int

  @inline(__always)
  init(session: EncodingSession, begin: Int, count: Int) {
    self.session = session
    self.begin = begin
    self.count = count
  }

  var codingPath: [any CodingKey] { session.path(ofContainer: begin) }

  /// Makes this the container that is written to, and returns the key of the next element.
  @inline(__always)
  private mutating func next() -> UInt64 {
    if session.current != begin { session.resume(begin) }
    let index = count
    count &+= 1
    return UInt64(truncatingIfNeeded: index) << 32
  }

  @inline(__always)
  private mutating func append(_ token: Token) {
    _ = next()
    session.tape.append(token)
  }

  mutating func encodeNil() { append(Token(.null)) }
  mutating func encode(_ value: Bool) { append(.bool(value)) }
  mutating func encode(_ value: Double) { append(.double(value)) }
  mutating func encode(_ value: Float) { append(.float(value)) }
  mutating func encode(_ value: Int) { append(.integer(value)) }
  mutating func encode(_ value: Int8) { append(.integer(value)) }
  mutating func encode(_ value: Int16) { append(.integer(value)) }
  mutating func encode(_ value: Int32) { append(.integer(value)) }
  mutating func encode(_ value: Int64) { append(.integer(value)) }
  mutating func encode(_ value: UInt) { append(.integer(value)) }
  mutating func encode(_ value: UInt8) { append(.integer(value)) }
  mutating func encode(_ value: UInt16) { append(.integer(value)) }
  mutating func encode(_ value: UInt32) { append(.integer(value)) }
  mutating func encode(_ value: UInt64) { append(.integer(value)) }

  mutating func encode(_ value: Int128) {
    _ = next()
    session.record(value, key: 0)
  }

  mutating func encode(_ value: UInt128) {
    _ = next()
    session.record(value, key: 0)
  }

  mutating func encode(_ value: String) {
    _ = next()
    session.record(value, key: 0)
  }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    let key = next()
    do {
      try session.encode(value, key: key)
    } catch {
      count &-= 1
      throw error
    }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    let key = next()
    return session.nestedKeyedContainer(keyType, key: key, parent: begin)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let key = next()
    return session.nestedUnkeyedContainer(key: key, parent: begin)
  }

  mutating func superEncoder() -> any Encoder {
    let key = next()
    return session.deferValue(key: key, parent: begin)
  }
}

extension EncodingSession {
  func nestedUnkeyedContainer(key: UInt64, parent: Int) -> UnkeyedEncoder {
    let begin = openNested(.container(.array, key: key, parent: parent, flags: Token.Flags.nested))
    return UnkeyedEncoder(session: self, begin: begin, count: 0)
  }
}
