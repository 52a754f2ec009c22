// Making the containers and encoders that values are handed.

extension Recorder {
  /// The container of a message that is over: what is written to it is discarded.
  @inline(never)
  static func discarding<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncodingContainer<Key> {
    let recorder = Recorder(reusesContainers: false)
    recorder.detach()
    return recorder.nestedKeyedContainer(keyType, key: TokenKey(), parent: -1)
  }

  // MARK: keyed containers

  /// What is known of a key type.
  @inline(__always)
  private func keys<Key: CodingKey>(_ keyType: Key.Type) -> KeyTypeEntry {
    types.keys(keyType) ?? addKeys(keyType)
  }

  @inline(never)
  private func addKeys<Key: CodingKey>(_ keyType: Key.Type) -> KeyTypeEntry {
    types.add(keyType, recording.keyTables.add(keyType))
  }

  /// The object that is the value of the place at `start`.
  @inline(__always)
  func keyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, start: Int, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let keys = keys(keyType)
    guard awaits(start) else {
      return continuedContainer(keys, start: start, key: key, parent: parent)
    }
    occupy(recording.beginObject(keys.table, key: key, parent: parent, flags: 0))
    return container(keys, begin: start, hasSlots: keys.table.pointee.hasSlots)
  }

  /// An object inside the current container.
  @inline(__always)
  func nestedKeyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let keys = keys(keyType)
    let begin = openNested(
      recording.beginObject(keys.table, key: key, parent: parent, flags: Token.Flags.nested))
    return container(keys, begin: begin, hasSlots: keys.table.pointee.hasSlots)
  }

  /// An object that exists already: with the keys it has, or with others as strings.
  @inline(never)
  private func continuedContainer<Key: CodingKey>(
    _ keys: KeyTypeEntry, start: Int, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    reopenEmpty(start, isKeyed: true)
    let object =
      recording.isUnfilled(start)
      ? recording.beginObject(keys.table, key: key, parent: parent, flags: 0)
      : ContainerStart(.map, key: key, parent: parent)
    let begin = containerOutOfLine(start: start, object)
    let token = recording.tape[begin]
    let hasSlots = token.kind == .object && token.index == keys.table.pointee.index
    return container(keys, begin: begin, hasSlots: hasSlots)
  }

  /// A container for the object that begins at `begin`, new or used before.
  @inline(__always)
  private func container<Key: CodingKey>(
    _ keys: KeyTypeEntry, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    guard types.reusesContainers else { return newContainer(keys.table, begin: begin, hasSlots: hasSlots) }
    let pool = keys.pool
    types.noteUse(pool)
    let number = pool.pointee.containers.take { makeContainer(Key.self, keys.table) }
    pool.pointee.containers.object(number)._withUnsafeGuaranteedRef {
      $0.start(at: begin, hasSlots: hasSlots)
    }
    return pool.pointee.copy(number, as: KeyedEncodingContainer<Key>.self)
  }

  /// A container for the pool. Here its metadata is needed, so this must not be part of what is called often.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ keys: KeyTable.Reference
  ) -> (container: AnyObject, object: ObjectWriter) {
    let writer = ObjectWriter(recorder: self, keys: keys)
    let container = KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
    return (ContainerReuse.reference(of: container), writer)
  }

  /// A container that holds the recorder, where containers are not used again.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    _ keys: KeyTable.Reference, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    let writer = ObjectWriter(recorder: self, keys: keys, isOwner: true)
    writer.start(at: begin, hasSlots: hasSlots)
    return KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
  }

  // MARK: arrays

  /// The array that is the value of the place at `start`.
  @inline(__always)
  func unkeyedContainer(start: Int, key: TokenKey, parent: Int) -> UnkeyedEncoder {
    let container = ContainerStart(.array, key: key, parent: parent)
    guard awaits(start) else {
      reopenEmpty(start, isKeyed: false)
      let begin = containerOutOfLine(start: start, container)
      return UnkeyedEncoder(recorder: self, begin: begin)
    }
    occupy(container)
    return UnkeyedEncoder(recorder: self, begin: start)
  }

  /// An array inside the current container.
  func nestedUnkeyedContainer(key: TokenKey, parent: Int) -> UnkeyedEncoder {
    let begin = openNested(ContainerStart(.array, key: key, parent: parent, flags: Token.Flags.nested))
    return UnkeyedEncoder(recorder: self, begin: begin)
  }

  /// An array for a key of the current container, new or continued.
  func nestedUnkeyedContainer(forKey key: TokenKey, parent: Int) -> UnkeyedEncoder {
    var name = -1
    if recording.endsWithKey {
      recording.keepNames()
      name = recording.tape[recording.tape.count - 1].index
    }
    if !isOver, let begin = recording.array(forKey: key, name: name, parent: parent) {
      recording.dropAnnouncement()
      recording.needsNormalizing = true
      return UnkeyedEncoder(recorder: self, begin: begin)
    }
    return nestedUnkeyedContainer(key: key, parent: parent)
  }

  // MARK: out of line

  /// Reserves the place of a value in the current container.
  func deferValue(key: TokenKey, parent: Int) -> RecordingEncoder {
    let start = recording.tape.count
    disturb()
    recording.tape.append(Token(.deferred, key: key, index: Token.unfilled))
    return RecordingEncoder(recorder: self, start: start, parent: parent, key: key)
  }

  /// The container of a place that no longer awaits its first token: the one that is there already, or a
  /// late one.
  private func containerOutOfLine(start: Int, _ container: ContainerStart) -> Int {
    if recording.isUnfilled(start) { return openLate(container, start: start) }
    var begin = start
    if recording.tape[begin].kind == .deferred { begin = recording.tape[begin].index }
    let value = recording.tape[begin]
    let isSame = container.token.kind == .array ? value.isArray : value.kind == .object || value.kind == .map
    precondition(
      isSame, "Attempt to get a container of another kind than the value that was already encoded.")
    recording.needsNormalizing = true
    return begin
  }
}
