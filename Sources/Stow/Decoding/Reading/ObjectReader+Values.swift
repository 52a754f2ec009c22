// Reading the values of an object by their keys.

extension ObjectReader {
  var path: [any CodingKey] { withSession { codingPath($0) } }

  /// The keys that have a value, of the type that they have.
  func presentKeys<Key: CodingKey>(_ type: Key.Type) -> [Key] {
    withSession { keyList($0).map { unsafeDowncast($0, to: KeyList<Key>.self).keys } ?? [] }
  }

  private func keyList(_ session: DecodingSession) -> AnyKeyList? {
    do throws(FormatError) { return try keys(session) } catch {
      session.note(error, path: codingPath(session))
      return nil
    }
  }

  func has<Key: CodingKey>(_ key: Key) -> Bool {
    do throws(FormatError) { return try find(key) >= 0 } catch {
      withSession { $0.note(error, path: codingPath($0) + [key]) }
      return false
    }
  }

  /// Where the value for `key` stands.
  @inline(__always)
  func offset<Key: CodingKey>(_ key: Key, _ session: DecodingSession) throws -> Int {
    let offset = try find(key, session)
    guard offset >= 0 else { throw session.keyNotFound(key, path: codingPath(session)) }
    return offset
  }

  @inline(__always)
  func find<Key: CodingKey>(_ key: Key, _ session: DecodingSession) throws -> Int {
    do throws(FormatError) { return try find(key) } catch { throw failure(error, key, nil, session) }
  }

  @inline(never)
  func failure<Key: CodingKey>(
    _ error: FormatError, _ key: Key, _ type: Any.Type?, _ session: DecodingSession
  ) -> any Error {
    session.error(error, path: codingPath(session) + [key], expected: type)
  }

  @inline(__always)
  func read<Value: ReadableScalar, Key: CodingKey>(_ type: Value.Type, _ key: Key) throws -> Value {
    try withSession { try readFound(type, key, at: offset(key, $0), $0) }
  }

  @inline(__always)
  func readDouble<Key: CodingKey>(_ key: Key) throws -> Double {
    // Straight from the column, without a `Cell` in between: points are read in half of the time.
    do throws(FormatError) {
      if let value = try wholeDouble(key) { return value }
    } catch {
      throw withSession { failure(error, key, Double.self, $0) }
    }
    return try read(Double.self, key)
  }

  @inline(__always)
  func readIfPresent<Value: ReadableScalar, Key: CodingKey>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try withSession { session in
      let offset = try find(key, session)
      guard offset >= 0, try !passNil(offset, key, session) else { return nil }
      return try readFound(type, key, at: offset, session)
    }
  }

  /// Reads the scalar that was found, with its tag, or without one in the row of a table.
  @inline(__always)
  private func readFound<Value: ReadableScalar, Key: CodingKey>(
    _ type: Value.Type, _ key: Key, at offset: Int, _ session: DecodingSession
  ) throws -> Value {
    do throws(FormatError) {
      if let source { return try readCell(type, source, slot: offset) }
      var next = offset
      let result = try Value.read(session, at: offset, next: &next)
      try advance(to: next, session)
      return result
    } catch {
      throw failure(error, key, type, session)
    }
  }

  /// Goes on behind the value that was found if it is nil.
  @inline(__always)
  func passNil<Key: CodingKey>(_ offset: Int, _ key: Key, _ session: DecodingSession) throws -> Bool {
    if let source { return isNil(source, slot: offset) }
    guard session.reader.isNil(at: offset) else { return false }
    try pass(offset, key, session)
    return true
  }

  /// Out of line, which makes what reads values with a tag shorter: small records decode 9 % faster.
  @inline(never)
  private func readCell<Value: ReadableScalar>(
    _ type: Value.Type, _ source: ElementSource, slot: Int
  ) throws(FormatError) -> Value {
    switch try source.cell(row: row, slot: slot) {
    case .cell(let content): return try Value.read(source.session, content, at: row)
    case .value(let offset):
      var next = offset
      return try Value.read(source.session, at: offset, next: &next)
    case .object, .array: try fail(.cellMismatch, at: row)
    }
  }

  /// Whether nil stands in the column of a slot.
  func isNil(_ source: ElementSource, slot: Int) -> Bool {
    source.constant(slot: slot).map { source.session.reader.isNil(at: $0) } ?? false
  }

  /// Goes on behind the value at `offset`.
  @inline(__always)
  func pass<Key: CodingKey>(_ offset: Int, _ key: Key, _ session: DecodingSession) throws {
    do throws(FormatError) {
      try advance(to: session.reader.end(of: offset), session)
    } catch {
      throw failure(error, key, nil, session)
    }
  }

  /// The step of the coding path to the value for `key`.
  @inline(__always)
  func step<Key: CodingKey>(_ key: Key, _ session: DecodingSession) -> PathStep {
    schemaReference._withUnsafeGuaranteedRef { schema in
      schema.hasBytes
        ? PathStep(.byte, parent: node, value: keyByte(key), schema: schemaReference)
        : session.path.step(to: key, from: node)
    }
  }
}
