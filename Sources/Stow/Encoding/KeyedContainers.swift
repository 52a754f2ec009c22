extension EncodingSession {
  /// What is known of a key type.
  @inline(__always)
  func schema<Key: CodingKey>(of keyType: Key.Type) -> Unmanaged<Schema> {
    schemaTable[TypeTable<Unmanaged<Schema>>.identity(keyType)] ?? addSchema(keyType)
  }

  @inline(never)
  private func addSchema<Key: CodingKey>(_ keyType: Key.Type) -> Unmanaged<Schema> {
    let schema = Schema(keyType, index: schemas.count)
    add(schema)
    let reference = Unmanaged.passUnretained(schema)
    schemaTable.insert(reference, for: TypeTable<Unmanaged<Schema>>.identity(keyType))
    return reference
  }

  @inline(__always)
  func keyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, at place: PlaceEncoder
  ) -> KeyedEncodingContainer<Key> {
    schema(of: keyType)._withUnsafeGuaranteedRef { schema in
      guard awaits(place.start) else { return continuedContainer(keyType, at: place, schema: schema) }
      occupy(beginObject(schema, key: place.key, parent: place.parent, flags: 0))
      return container(schema, begin: place.start, hasSlots: schema.hasSlots)
    }
  }

  /// A container for the object that begins at `begin`, new or used before.
  @inline(__always)
  private func container<Key: CodingKey>(
    _ schema: Schema, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    if schema.lastMessage != message { noteUse(schema) }
    guard reusesContainers else { return newContainer(schema, begin: begin, hasSlots: hasSlots) }
    let number = schema.pool.take { makeContainer(Key.self, schema) }
    let cursor = schema.pool.cursor(number)
    cursor._withUnsafeGuaranteedRef { $0.start(at: begin, hasSlots: hasSlots) }
    if begin == 0, hasSlots { predict(schema, cursor) }
    return schema.copier(of: KeyedEncodingContainer<Key>.self).copy(schema.pool.address(number))
  }

  /// A container for the pool. Here its metadata is needed, so this must not be part of what is called often.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ schema: Schema
  ) -> (container: AnyObject, cursor: KeyedCursor) {
    let cursor = KeyedCursor(session: self, schema: schema)
    let container = KeyedEncodingContainer(KeyedEncoder<Key>(cursor: cursor))
    return (ContainerReuse.reference(of: container), cursor)
  }

  /// A container that holds the session, where containers are not used again.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    _ schema: Schema, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    let cursor = KeyedCursor(session: self, schema: schema, isOwner: true)
    cursor.start(at: begin, hasSlots: hasSlots)
    return KeyedEncodingContainer(KeyedEncoder<Key>(cursor: cursor))
  }

  @inline(__always)
  private func noteUse(_ schema: Schema) {
    schema.lastMessage = message
    usedSchemas.append(schema)
  }

  /// The beginning of an object, which counts as a use of its schema.
  @inline(__always)
  private func beginObject(_ schema: Schema, key: UInt64, parent: Int, flags: UInt64) -> ContainerStart {
    guard schema.hasSlots else {
      noteMap(at: tape.count)
      hasFreeKeys = true
      return ContainerStart(.map, key: key, parent: parent, flags: flags, index: schema.index)
    }
    if schema.uses == 0 { activate(schema, firstUse: tape.count) }
    schema.uses &+= 1
    return ContainerStart(.object, key: key, parent: parent, flags: flags, index: schema.index)
  }

  @inline(__always)
  private func activate(_ schema: Schema, firstUse: Int) {
    schema.firstUse = firstUse
    activeSchemas.append(schema)
    if firstUse > 0 || !reusesContainers { schema.dropPrediction() }
  }

  /// An object that exists already: with the keys it has, or with others as strings.
  @inline(never)
  private func continuedContainer<Key: CodingKey>(
    _ keyType: Key.Type, at place: PlaceEncoder, schema: Schema
  ) -> KeyedEncodingContainer<Key> {
    reopenEmpty(place.start, isKeyed: true)
    let isNew = isUnfilled(place.start)
    let object =
      isNew
      ? beginObject(schema, key: place.key, parent: place.parent, flags: 0)
      : ContainerStart(.map, key: place.key, parent: place.parent)
    let begin = containerOutOfLine(at: place, object)
    let hasSlots = tape[begin].kind == .object && tape[begin].index == schema.index
    return container(schema, begin: begin, hasSlots: hasSlots)
  }

  @inline(__always)
  func nestedKeyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, key: UInt64, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    schema(of: keyType)._withUnsafeGuaranteedRef { schema in
      let begin = openNested(beginObject(schema, key: key, parent: parent, flags: Token.Flags.nested))
      return container(schema, begin: begin, hasSlots: schema.hasSlots)
    }
  }
}
