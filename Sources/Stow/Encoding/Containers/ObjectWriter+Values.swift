// Recording the values of an object under their keys.

extension ObjectWriter {
  var path: [any CodingKey] { withSession { $0.path(ofContainer: begin) } }

  @inline(__always)
  func putNil<Key: CodingKey>(_ key: Key) {
    let slot = place(key)
    withSession { $0.recordNil(level: 0, key: slot) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value, _ key: Key) {
    let slot = place(key)
    withSession { $0.record(value, key: slot) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  @inline(__always)
  func put<Key: CodingKey>(_ value: String, _ key: Key) {
    let slot = place(key)
    withSession { $0.record(value, key: slot) }
  }

  @inline(__always)
  func put<Key: CodingKey>(_ value: String?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  func put<Key: CodingKey>(_ value: Int128, _ key: Key) {
    let slot = place(key)
    withSession { $0.record(value, key: slot) }
  }

  func put<Key: CodingKey>(_ value: Int128?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  func put<Key: CodingKey>(_ value: UInt128, _ key: Key) {
    let slot = place(key)
    withSession { $0.record(value, key: slot) }
  }

  func put<Key: CodingKey>(_ value: UInt128?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  @inline(__always)
  func encode<Value: Encodable, Key: CodingKey>(_ value: Value, _ key: Key) throws {
    let slot = place(key)
    try announced { try $0.encode(value, key: slot) }
  }

  @inline(__always)
  func encodeIfPresent<Value: Encodable, Key: CodingKey>(_ value: Value?, _ key: Key) throws {
    let isPresent = try borrowingSome(value) { value in
      let slot = place(key)
      try announced { try $0.encodePresent(value, key: slot) }
    }
    if !isPresent { skip(key) }
  }

  /// Encodes the value whose key has been recorded; the key goes if the value throws.
  @inline(__always)
  private func announced(_ body: (EncodingSession) throws -> Void) throws {
    try withSession { session in
      do {
        try body(session)
      } catch {
        session.needsNormalizing = true
        session.dropAnnouncement()
        throw error
      }
    }
  }

  // MARK: nested containers

  func nestedContainer<NestedKey: CodingKey, Key: CodingKey>(
    _ keyType: NestedKey.Type, _ key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    let slot = place(key)
    return withSession { $0.nestedKeyedContainer(keyType, key: slot, parent: begin) }
  }

  func nestedUnkeyedContainer<Key: CodingKey>(_ key: Key) -> any UnkeyedEncodingContainer {
    let slot = place(key)
    return withSession { $0.nestedUnkeyedContainer(forKey: slot, parent: begin) }
  }

  func encoderForSuper() -> any Encoder {
    withSession { session in
      if session.current != begin { session.resume(begin) }
      session.recordKey(PathKey.super.stringValue)
      return session.deferValue(key: 0, parent: begin)
    }
  }

  func encoderForSuper<Key: CodingKey>(_ key: Key) -> any Encoder {
    let slot = place(key)
    return withSession { $0.deferValue(key: slot, parent: begin) }
  }
}
