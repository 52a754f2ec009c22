/// An object that is being read.
struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let cursor: DecodingCursor

  var codingPath: [any CodingKey] { cursor.withSession { $0.codingPath(cursor.node) } }

  var allKeys: [Key] {
    let names = cursor.withSession { try? cursor.names($0) } ?? []
    return names.compactMap { Key(stringValue: $0) }
  }

  func contains(_ key: Key) -> Bool {
    guard let found = try? cursor.find(key) else { return false }
    return found >= 0
  }

  // MARK: reading

  /// Where the value for `key` stands.
  @inline(__always)
  private func offset(_ key: Key, _ session: DecodingSession) throws -> Int {
    let offset = try find(key, session)
    guard offset >= 0 else { throw session.keyNotFound(key, cursor.node) }
    return offset
  }

  @inline(__always)
  private func find(_ key: Key, _ session: DecodingSession) throws -> Int {
    do throws(FormatError) { return try cursor.find(key) } catch { throw failure(error, key, nil, session) }
  }

  @inline(never)
  private func failure(_ error: FormatError, _ key: Key, _ type: Any.Type?, _ session: DecodingSession)
    -> DecodingError
  {
    session.error(error, path: session.codingPath(cursor.node) + [key], expected: type)
  }

  /// Reads a scalar with its tag, or without one in the row of a table.
  @inline(__always)
  private func read<Value>(
    _ type: Value.Type, _ key: Key,
    _ value: (DecodingSession, Int, inout Int) throws(FormatError) -> Value,
    _ cell: (DecodingSession, Cell, Int) throws(FormatError) -> Value
  ) throws -> Value {
    try cursor.withSession { session in
      let offset = try offset(key, session)
      do throws(FormatError) {
        if let source = cursor.source { return try readCell(source, slot: offset, session, value, cell) }
        var next = offset
        let result = try value(session, offset, &next)
        try cursor.advance(to: next, session)
        return result
      } catch {
        throw failure(error, key, type, session)
      }
    }
  }

  @inline(__always)
  private func readIfPresent<Value>(
    _ type: Value.Type, _ key: Key,
    _ value: (DecodingSession, Int, inout Int) throws(FormatError) -> Value,
    _ cell: (DecodingSession, Cell, Int) throws(FormatError) -> Value
  ) throws -> Value? {
    try cursor.withSession { session in
      let offset = try find(key, session)
      guard offset >= 0 else { return nil }
      do throws(FormatError) {
        if let source = cursor.source {
          return isNil(source, slot: offset) ? nil : try readCell(source, slot: offset, session, value, cell)
        }
        if session.reader.isNil(at: offset) {
          try cursor.advance(to: session.reader.end(of: offset), session)
          return nil
        }
        var next = offset
        let result = try value(session, offset, &next)
        try cursor.advance(to: next, session)
        return result
      } catch {
        throw failure(error, key, type, session)
      }
    }
  }

  @inline(__always)
  private func readCell<Value>(
    _ source: ElementSource, slot: Int, _ session: DecodingSession,
    _ value: (DecodingSession, Int, inout Int) throws(FormatError) -> Value,
    _ cell: (DecodingSession, Cell, Int) throws(FormatError) -> Value
  ) throws(FormatError) -> Value {
    switch try source.cell(row: cursor.row, slot: slot) {
    case .cell(let content): return try cell(session, content, cursor.row)
    case .value(let offset):
      var next = offset
      return try value(session, offset, &next)
    case .object, .array: throw FormatError(.cellMismatch, at: cursor.row)
    }
  }

  /// Whether nil stands in the column of a slot.
  private func isNil(_ source: ElementSource, slot: Int) -> Bool {
    guard case .value(let offset)? = try? source.cell(row: cursor.row, slot: slot) else { return false }
    return source.session.reader.isNil(at: offset)
  }

  @inline(__always)
  private func integer<Value: FixedWidthInteger>(_ type: Value.Type, _ key: Key) throws -> Value {
    try read(type, key) { session, offset, next throws(FormatError) in
      try session.integer(type, at: offset, next: &next)
    } _: { session, cell, offset throws(FormatError) in
      try session.integer(type, cell, at: offset)
    }
  }

  @inline(__always)
  private func integerIfPresent<Value: FixedWidthInteger>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try readIfPresent(type, key) { session, offset, next throws(FormatError) in
      try session.integer(type, at: offset, next: &next)
    } _: { session, cell, offset throws(FormatError) in
      try session.integer(type, cell, at: offset)
    }
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    try cursor.withSession { session in
      let offset = try offset(key, session)
      if let source = cursor.source { return isNil(source, slot: offset) }
      guard session.reader.isNil(at: offset) else { return false }
      try pass(offset, key, session)
      return true
    }
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try read(type, key) { session, offset, next throws(FormatError) in
      try session.bool(at: offset, next: &next)
    } _: { session, cell, offset throws(FormatError) in
      try session.bool(cell, at: offset)
    }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    // Straight from the column, without a `Cell` in between: points are read in two thirds of the time.
    if let value = try? cursor.wholeDouble(key) { return value }
    return try read(type, key) { session, offset, next throws(FormatError) in
      try session.double(at: offset, next: &next)
    } _: { session, cell, offset throws(FormatError) in
      try session.double(cell, at: offset)
    }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try read(type, key) { session, offset, next throws(FormatError) in
      try session.float(at: offset, next: &next)
    } _: { session, cell, offset throws(FormatError) in
      try session.float(cell, at: offset)
    }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try read(type, key) { session, offset, next throws(FormatError) in
      try session.string(at: offset, next: &next)
    } _: { _, _, offset throws(FormatError) in
      throw FormatError(.cellMismatch, at: offset)
    }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try readIfPresent(type, key) { session, offset, next throws(FormatError) in
      try session.bool(at: offset, next: &next)
    } _: { session, cell, offset throws(FormatError) in
      try session.bool(cell, at: offset)
    }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try readIfPresent(type, key) { session, offset, next throws(FormatError) in
      try session.double(at: offset, next: &next)
    } _: { session, cell, offset throws(FormatError) in
      try session.double(cell, at: offset)
    }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try readIfPresent(type, key) { session, offset, next throws(FormatError) in
      try session.float(at: offset, next: &next)
    } _: { session, cell, offset throws(FormatError) in
      try session.float(cell, at: offset)
    }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try readIfPresent(type, key) { session, offset, next throws(FormatError) in
      try session.string(at: offset, next: &next)
    } _: { _, _, offset throws(FormatError) in
      throw FormatError(.cellMismatch, at: offset)
    }
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try integerIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try integerIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try integerIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try integerIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try integerIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try integerIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try integerIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try integerIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try integerIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try integerIfPresent(type, key)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try cursor.withSession { session in
      let offset = try offset(key, session)
      let step = step(key, offset, session)
      if let source = cursor.source { return try decodeCell(type, source, slot: offset, key, step) }
      try pass(offset, key, session)
      return try session.decode(type, at: offset, step)
    }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try cursor.withSession { session in
      let offset = try find(key, session)
      guard offset >= 0 else { return nil }
      let step = step(key, offset, session)
      if let source = cursor.source {
        guard isNil(source, slot: offset) else {
          return try decodeCell(type, source, slot: offset, key, step)
        }
        guard case .value(let constant) = try? source.cell(row: cursor.row, slot: offset) else { return nil }
        return try session.decodeNil(type, at: constant)
      }
      try pass(offset, key, session)
      if session.reader.isNil(at: offset) {
        // A nil of an optional within this one is a value here.
        return try session.decodeNil(type, at: offset)
      }
      return try session.decode(type, at: offset, step)
    }
  }

  /// Goes on behind the value at `offset`.
  @inline(__always)
  private func pass(_ offset: Int, _ key: Key, _ session: DecodingSession) throws {
    do throws(FormatError) {
      try cursor.advance(to: session.reader.end(of: offset), session)
    } catch {
      throw failure(error, key, nil, session)
    }
  }

  @inline(never)
  private func decodeCell<Value: Decodable>(
    _ type: Value.Type, _ source: ElementSource, slot: Int, _ key: Key, _ step: DecodingPath.Step
  ) throws -> Value {
    let element: ElementSource.Element
    do throws(FormatError) {
      element = try source.cell(row: cursor.row, slot: slot)
    } catch {
      throw failure(error, key, type, source.session)
    }
    return try source.session.decode(type, element, of: source, step)
  }

  /// The step of the coding path to the value for `key`.
  @inline(__always)
  private func step(_ key: Key, _ offset: Int, _ session: DecodingSession) -> DecodingPath.Step {
    cursor.schemaReference._withUnsafeGuaranteedRef { schema in
      schema.hasBytes
        ? DecodingPath.Step(.byte, parent: cursor.node, value: keyByte(key), schema: cursor.schemaReference)
        : dynamicStep(key, offset, session)
    }
  }

  @inline(never)
  private func dynamicStep(_ key: Key, _ offset: Int, _ session: DecodingSession) -> DecodingPath.Step {
    let place = cursor.keyOffset(ofFound: offset, session)
    session.noteInteger(of: key, at: place)
    return DecodingPath.Step(.name, parent: cursor.node, value: place, schema: cursor.schemaReference)
  }

  // MARK: nested containers

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try nestedDecoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nestedDecoder(key).unkeyedContainer()
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    let isMissing = try cursor.withSession { try find(key, $0) } < 0
    guard isMissing else { return try nestedDecoder(key) }
    return MissingDecoder(session: session, codingPath: codingPath + [key])
  }

  func superDecoder() throws -> any Decoder {
    try cursor.withSession { session in
      let name = PathKey.super.stringValue
      let step = DecodingPath.Step(.super, parent: cursor.node)
      do {
        let offset = try cursor.find(name: name, session)
        guard offset >= 0 else {
          return MissingDecoder(session: session, codingPath: codingPath + [PathKey.super])
        }
        return try decoder(offset, session.path.push(step), session)
      } catch let error as FormatError {
        throw session.error(error, path: codingPath + [PathKey.super], expected: nil)
      }
    }
  }

  private var session: DecodingSession { cursor.withSession { $0 } }

  /// A decoder of the value for `key`, whose step stays until the object itself is left.
  private func nestedDecoder(_ key: Key) throws -> any Decoder {
    try cursor.withSession { session in
      let offset = try offset(key, session)
      let node = session.path.push(step(key, offset, session))
      if cursor.source == nil { try pass(offset, key, session) }
      return try decoder(offset, node, session)
    }
  }

  private func decoder(_ offset: Int, _ node: DecodingPath.Node, _ session: DecodingSession) throws
    -> any Decoder
  {
    guard let source = cursor.source else {
      return ValueDecoder(session: session, offset: offset, node: node)
    }
    do throws(FormatError) {
      return session.decoder(try source.cell(row: cursor.row, slot: offset), of: source, node)
    } catch {
      throw session.error(error, path: session.codingPath(node), expected: nil)
    }
  }
}
