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
      guard let object = try session.reader.object(at: offset) else {
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
      if let source = try ElementSource.at(offset, session) {
        return ElementsDecoder(source: source, node: node)
      }
      let elements = try session.reader.array(at: offset)
      return UInt32(exactly: elements.upperBound) != nil
        ? arrayDecoder(elements, UInt32.self) : arrayDecoder(elements, UInt64.self)
    } catch {
      throw session.error(error, at: node, offset, expected: [Any].self)
    }
  }

  @inline(__always)
  private func arrayDecoder<Offset: FixedWidthInteger & UnsignedInteger>(
    _ elements: Range<Int>, _: Offset.Type
  ) -> any UnkeyedDecodingContainer {
    ArrayDecoder(
      session: session, current: Offset(truncatingIfNeeded: elements.lowerBound),
      end: Offset(truncatingIfNeeded: elements.upperBound), node: Offset(truncatingIfNeeded: node.index))
  }

  @inline(__always)
  func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueDecoder(decoder: self) }
}

extension DecodingSession {
  /// What is known of a key type.
  @inline(__always)
  private func schema<Key: CodingKey>(of keyType: Key.Type) -> Unmanaged<KeyTable> {
    schemaTable[TypeTable<Unmanaged<KeyTable>>.identity(keyType)] ?? addSchema(keyType)
  }

  @inline(never)
  private func addSchema<Key: CodingKey>(_ keyType: Key.Type) -> Unmanaged<KeyTable> {
    let schema = KeyTable(keyType)
    schemas.append(schema)
    let reference = Unmanaged.passUnretained(schema)
    schemaTable.insert(reference, for: TypeTable<Unmanaged<KeyTable>>.identity(keyType))
    return reference
  }

  /// A container of an object, new or used before.
  @inline(__always)
  func container<Key: CodingKey>(
    _ keyType: Key.Type, _ object: ObjectHeader, _ node: PathNode
  ) throws(FormatError) -> KeyedDecodingContainer<Key> {
    try container(keyType) { cursor throws(FormatError) in try cursor.open(object, self, node) }
  }

  /// A container of a row of a table.
  func container<Key: CodingKey>(
    _ keyType: Key.Type, row: Int, of source: ElementSource, shape: Int, _ node: PathNode
  ) -> KeyedDecodingContainer<Key> {
    container(keyType) { $0.open(row: row, of: source, shape: shape, self, node) }
  }

  /// A container, new or used before, whose cursor is opened by `open`.
  @inline(__always)
  private func container<Key: CodingKey, Failure: Error>(
    _ keyType: Key.Type, _ open: (ObjectReader) throws(Failure) -> Void
  ) throws(Failure) -> KeyedDecodingContainer<Key> {
    let schema = schema(of: keyType)
    guard reusesContainers else {
      return try newContainer(keyType, schema.takeUnretainedValue(), open)
    }
    let number = take(keyType, schema)
    try schema._withUnsafeGuaranteedRef { $0.pool.cursor(number) }.borrow(open)
    return schema._withUnsafeGuaranteedRef { schema in
      schema.copier(of: KeyedDecodingContainer<Key>.self).copy(schema.pool.address(number))
    }
  }

  /// A container that holds the session, where containers are not used again.
  @inline(never)
  private func newContainer<Key: CodingKey, Failure: Error>(
    _ keyType: Key.Type, _ schema: KeyTable, _ open: (ObjectReader) throws(Failure) -> Void
  ) throws(Failure) -> KeyedDecodingContainer<Key> {
    let cursor = ObjectReader(session: self, schema: schema)
    try open(cursor)
    return KeyedDecodingContainer(HeldKeyedDecoder<Key>(session: self, cursor: cursor))
  }

  @inline(never)
  private func noteUse(_ schema: KeyTable) {
    schema.lastMessage = message
    usedSchemas.append(schema)
  }

  @inline(__always)
  private func take<Key: CodingKey>(_ keyType: Key.Type, _ schema: Unmanaged<KeyTable>) -> Int {
    schema._withUnsafeGuaranteedRef { schema in
      if schema.lastMessage != message { noteUse(schema) }
      return schema.pool.take { makeContainer(keyType, schema) }
    }
  }

  /// A container for the pool. Here its metadata is needed, so this must not be part of what is called often.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ schema: KeyTable
  ) -> (container: AnyObject, cursor: ObjectReader) {
    let cursor = ObjectReader(session: self, schema: schema)
    let container = KeyedDecodingContainer(KeyedDecoder<Key>(cursor))
    return (ContainerReuse.reference(of: container), cursor)
  }
}

/// The decoder of a value that is not there, for `superDecoder(forKey:)`: it finds nil.
struct MissingDecoder: Decoder, SingleValueDecodingContainer {
  let session: DecodingSession
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw missing([String: Any].self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw missing([Any].self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { true }

  // The standard library's defaults for these throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try known(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try known(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // An optional finds its nil; other types may make something of it.
    if let none = session.missing(type) { return none }
    guard session.plans.entry(for: type).kind == .plain else { throw missing(type) }
    return try session.decodePlain(type, self)
  }

  private func known<Value: Decodable>(_ type: Value.Type) throws -> Value { try decode(type) }

  private func missing(_ type: Any.Type) -> DecodingError {
    session.valueNotFound(type, path: codingPath, "Expected a value of type \(type), but there is none.")
  }
}
