extension EncodingSession {
  /// What is known of a key type.
  @inline(__always)
  func keyTable<Key: CodingKey>(of keyType: Key.Type) -> Unmanaged<KeyTable> {
    keyTablesByType[TypeTable<Unmanaged<KeyTable>>.identity(keyType)] ?? addKeyTable(keyType)
  }

  @inline(never)
  private func addKeyTable<Key: CodingKey>(_ keyType: Key.Type) -> Unmanaged<KeyTable> {
    let keyTable = KeyTable(keyType, index: keyTables.count)
    add(keyTable)
    let reference = Unmanaged.passUnretained(keyTable)
    keyTablesByType.insert(reference, for: TypeTable<Unmanaged<KeyTable>>.identity(keyType))
    return reference
  }

  @inline(__always)
  func keyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, at place: RecordingEncoder
  ) -> KeyedEncodingContainer<Key> {
    keyTable(of: keyType)._withUnsafeGuaranteedRef { keyTable in
      guard awaits(place.start) else { return continuedContainer(keyType, at: place, keyTable: keyTable) }
      occupy(beginObject(keyTable, key: place.key, parent: place.parent, flags: 0))
      return container(keyTable, begin: place.start, hasSlots: keyTable.hasSlots)
    }
  }

  /// A container for the object that begins at `begin`, new or used before.
  @inline(__always)
  private func container<Key: CodingKey>(
    _ keyTable: KeyTable, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    if keyTable.lastMessage != message { noteUse(keyTable) }
    guard reusesContainers else { return newContainer(keyTable, begin: begin, hasSlots: hasSlots) }
    let number = keyTable.pool.take { makeContainer(Key.self, keyTable) }
    let cursor = keyTable.pool.cursor(number)
    cursor._withUnsafeGuaranteedRef { $0.start(at: begin, hasSlots: hasSlots) }
    return keyTable.copier(of: KeyedEncodingContainer<Key>.self).copy(keyTable.pool.address(number))
  }

  /// A container for the pool. Here its metadata is needed, so this must not be part of what is called often.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ keyTable: KeyTable
  ) -> (container: AnyObject, cursor: ObjectWriter) {
    let cursor = ObjectWriter(session: self, keyTable: keyTable)
    let container = KeyedEncodingContainer(KeyedEncoder<Key>(cursor: cursor))
    return (ContainerReuse.reference(of: container), cursor)
  }

  /// A container that holds the session, where containers are not used again.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    _ keyTable: KeyTable, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    let cursor = ObjectWriter(session: self, keyTable: keyTable, isOwner: true)
    cursor.start(at: begin, hasSlots: hasSlots)
    return KeyedEncodingContainer(KeyedEncoder<Key>(cursor: cursor))
  }

  @inline(__always)
  private func noteUse(_ keyTable: KeyTable) {
    keyTable.lastMessage = message
    usedKeyTables.append(keyTable)
  }

  /// The beginning of an object, which counts as a use of its keyTable.
  @inline(__always)
  private func beginObject(_ keyTable: KeyTable, key: UInt64, parent: Int, flags: UInt64) -> ContainerStart {
    guard keyTable.hasSlots else {
      noteMap(at: tape.count)
      hasFreeKeys = true
      return ContainerStart(.map, key: key, parent: parent, flags: flags, index: keyTable.index)
    }
    if keyTable.uses == 0 { activate(keyTable, firstUse: tape.count) }
    keyTable.uses &+= 1
    return ContainerStart(.object, key: key, parent: parent, flags: flags, index: keyTable.index)
  }

  @inline(__always)
  private func activate(_ keyTable: KeyTable, firstUse: Int) {
    keyTable.firstUse = firstUse
    activeKeyTables.append(keyTable)
  }

  /// An object that exists already: with the keys it has, or with others as strings.
  @inline(never)
  private func continuedContainer<Key: CodingKey>(
    _ keyType: Key.Type, at place: RecordingEncoder, keyTable: KeyTable
  ) -> KeyedEncodingContainer<Key> {
    reopenEmpty(place.start, isKeyed: true)
    let isNew = isUnfilled(place.start)
    let object =
      isNew
      ? beginObject(keyTable, key: place.key, parent: place.parent, flags: 0)
      : ContainerStart(.map, key: place.key, parent: place.parent)
    let begin = containerOutOfLine(at: place, object)
    let hasSlots = tape[begin].kind == .object && tape[begin].index == keyTable.index
    return container(keyTable, begin: begin, hasSlots: hasSlots)
  }

  @inline(__always)
  func nestedKeyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, key: UInt64, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    keyTable(of: keyType)._withUnsafeGuaranteedRef { keyTable in
      let begin = openNested(beginObject(keyTable, key: key, parent: parent, flags: Token.Flags.nested))
      return container(keyTable, begin: begin, hasSlots: keyTable.hasSlots)
    }
  }
}
