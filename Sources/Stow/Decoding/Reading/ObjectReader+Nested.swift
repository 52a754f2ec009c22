// Decoding the values of an object, and its nested containers.

extension ObjectReader {
  func readNil<Key: CodingKey>(_ key: Key) throws -> Bool {
    try withSession { try passNil(offset(key, $0), key, $0) }
  }

  @inline(__always)
  func decode<Value: Decodable, Key: CodingKey>(_ type: Value.Type, _ key: Key) throws -> Value {
    try withSession { session in
      let offset = try offset(key, session)
      let step = step(key, session)
      if let source { return try decodeCell(type, source, slot: offset, key, step) }
      try pass(offset, key, session)
      return try session.decode(type, at: offset, step)
    }
  }

  @inline(__always)
  func decodeIfPresent<Value: Decodable, Key: CodingKey>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try withSession { session in
      let offset = try find(key, session)
      guard offset >= 0 else { return nil }
      let step = step(key, session)
      if let source { return try decodeCellIfPresent(type, source, slot: offset, key, step) }
      try pass(offset, key, session)
      if session.reader.isNil(at: offset) {
        // A nil of an optional within this one is a value here.
        return try session.decodeNil(type, at: offset)
      }
      return try session.decode(type, at: offset, step)
    }
  }

  @inline(never)
  private func decodeCell<Value: Decodable, Key: CodingKey>(
    _ type: Value.Type, _ source: ElementSource, slot: Int, _ key: Key, _ step: PathStep
  ) throws -> Value {
    let element: ElementSource.Element
    do throws(FormatError) {
      element = try source.cell(row: row, slot: slot)
    } catch {
      throw failure(error, key, type, source.session)
    }
    return try source.session.decode(type, element, of: source, step)
  }

  @inline(never)
  private func decodeCellIfPresent<Value: Decodable, Key: CodingKey>(
    _ type: Value.Type, _ source: ElementSource, slot: Int, _ key: Key, _ step: PathStep
  ) throws -> Value? {
    guard let constant = source.constant(slot: slot), source.session.reader.isNil(at: constant) else {
      return try decodeCell(type, source, slot: slot, key, step)
    }
    return try source.session.decodeNil(type, at: constant)
  }

  // MARK: nested containers

  /// A decoder of the value for `key`, whose step stays until the object itself is left.
  func nestedDecoder<Key: CodingKey>(_ key: Key) throws -> any Decoder {
    try withSession { session in
      let offset = try offset(key, session)
      let node = session.path.push(step(key, session))
      if source == nil { try pass(offset, key, session) }
      do throws(FormatError) {
        return try decoder(offset, node, session)
      } catch {
        throw failure(error, key, nil, session)
      }
    }
  }

  func decoderForSuper<Key: CodingKey>(_ key: Key) throws -> any Decoder {
    try withSession { session in
      if try find(key, session) >= 0 { return try nestedDecoder(key) }
      return MissingDecoder(session: session, codingPath: session.codingPath(node) + [key])
    }
  }

  func decoderForSuper() throws -> any Decoder {
    try withSession { session in
      let path = { session.codingPath(self.node) + [PathKey.super] }
      do throws(FormatError) {
        let offset = try find(name: PathKey.super.stringValue, session)
        guard offset >= 0 else { return MissingDecoder(session: session, codingPath: path()) }
        let step = PathStep(.super, parent: node)
        return try decoder(offset, session.path.push(step), session)
      } catch {
        throw session.error(error, path: path(), expected: nil)
      }
    }
  }

  private func decoder(
    _ offset: Int, _ node: PathNode, _ session: DecodingSession
  ) throws(FormatError) -> any Decoder {
    guard let source else { return ValueDecoder(session: session, offset: offset, node: node) }
    return session.decoder(try source.cell(row: row, slot: offset), of: source, node)
  }
}
