// Recording the values of an object under their keys.

extension ObjectWriter {
  var path: [any CodingKey] { withSession { $0.path(ofContainer: begin) } }

  @inline(__always)
  func putNil<Key: CodingKey>(_ key: Key) {
    let slot = place(key)
    withSession { $0.recordNil(level: 0, key: slot) }
    if slot & KeyTable.predictedKey != 0 { writeNil(keyByte(key)) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value, _ key: Key) {
    let slot = place(key)
    withSession { $0.record(value, key: slot) }
    if slot & KeyTable.predictedKey != 0 { write(value, keyByte(key)) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  @inline(__always)
  func put<Key: CodingKey>(_ value: String, _ key: Key) {
    let slot = place(key)
    withSession { session in
      let isWritten =
        slot & KeyTable.predictedKey != 0 && session.recordWritten(value, key: slot, keyText(keyByte(key)))
      if !isWritten { session.record(value, key: slot) }
    }
  }

  @inline(__always)
  func put<Key: CodingKey>(_ value: String?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  func put<Key: CodingKey>(_ value: Int128, _ key: Key) {
    let slot = placeOuter(key)
    withSession { $0.record(value, key: slot) }
  }

  func put<Key: CodingKey>(_ value: Int128?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  func put<Key: CodingKey>(_ value: UInt128, _ key: Key) {
    let slot = placeOuter(key)
    withSession { $0.record(value, key: slot) }
  }

  func put<Key: CodingKey>(_ value: UInt128?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  @inline(__always)
  func encode<Value: Encodable, Key: CodingKey>(_ value: Value, _ key: Key) throws {
    let slot = placeOuter(key)
    try announced { try $0.encode(value, key: slot) }
  }

  @inline(__always)
  func encodeIfPresent<Value: Encodable, Key: CodingKey>(_ value: Value?, _ key: Key) throws {
    let isPresent = try borrowingSome(value) { value in
      let slot = placeOuter(key)
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
    let slot = placeOuter(key)
    return withSession { $0.nestedKeyedContainer(keyType, key: slot, parent: begin) }
  }

  func nestedUnkeyedContainer<Key: CodingKey>(_ key: Key) -> any UnkeyedEncodingContainer {
    let slot = placeOuter(key)
    return withSession { $0.nestedUnkeyedContainer(forKey: slot, parent: begin) }
  }

  func encoderForSuper() -> any Encoder {
    withSession { session in
      session.settleSlots()
      if session.current != begin { session.resume(begin) }
      session.recordKey(PathKey.super.stringValue)
      return session.deferValue(key: 0, parent: begin)
    }
  }

  func encoderForSuper<Key: CodingKey>(_ key: Key) -> any Encoder {
    let slot = placeOuter(key)
    return withSession { $0.deferValue(key: slot, parent: begin) }
  }
}

// MARK: writing the values of predicted keys as they come

extension ObjectWriter {
  @inline(__always)
  private func write(_ value: some RecordableScalar, _ byte: Int) {
    withSession { session in
      guard session.lone.isWhole else { return }
      if !session.lone.write(value, key: keyText(byte)) { session.endLone() }
    }
  }

  @inline(never)
  private func writeNil(_ byte: Int) {
    withSession { session in
      guard session.lone.isWhole else { return }
      if !session.lone.writeNil(key: keyText(byte)) { session.endLone() }
    }
  }
}
