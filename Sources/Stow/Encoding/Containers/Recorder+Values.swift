// Recording values of any type.

extension Recorder {
  func record<Value: Encodable>(_ value: Value) throws {
    let entry = encoder(of: Value.self)
    try encode(value, by: entry, key: TokenKey(), parent: currentContainer, level: 0)
    try checkNesting(of: value)
    // An optional encodes its value as a single-value container does, which may be nothing.
    guard entry.isPlain, recording.isUnfilled(0, unsettled: true) else { return }
    throw EncodingError.invalid(value, path: [], "Top-level \(Value.self) did not encode any values.")
  }

  /// Returns how values of a type are encoded.
  @inline(__always)
  func encoder(of type: Any.Type) -> TypeEncoders.Entry { encoders[type] ?? addEncoder(of: type) }

  @inline(never)
  private func addEncoder(of type: Any.Type) -> TypeEncoders.Entry {
    let makeEncoder = encoders.makePlan
    return encoders.add(type, makeEncoder(type))
  }

  /// Lets `value` encode itself to the place that begins with the next token.
  @inline(__always)
  func encodePlain<Value: Encodable>(_ value: borrowing Value, key: TokenKey, parent: Int) throws {
    try call(of: value, key: key, parent: parent) { value, start in
      try value.encode(to: RecordingEncoder(recorder: self, start: start, parent: parent, key: key))
    }
  }

  /// Records a value in the current container.
  @inline(__always)
  func encode<Value: Encodable>(_ value: borrowing Value, key: TokenKey, level: Int = 0) throws {
    let entry = encoder(of: Value.self)
    try encode(value, by: entry, key: key, parent: currentContainer, level: level)
  }

  /// Records a value whose type is known here.
  @inline(__always)
  func encode<Value: Encodable>(
    _ value: borrowing Value, by entry: TypeEncoders.Entry, key: TokenKey, parent: Int, level: Int
  ) throws {
    if entry.isPlain { return try encodePlain(value, key: key, parent: parent) }
    let value = copy value
    try entry.withPlan(as: TypeEncoder<Value>.self) {
      try $0.encode(value, into: self, key: key, parent: parent, level: level)
    }
  }

  /// Records the value of a single-value container in the place of `encoder`.
  func encode<Value: Encodable>(
    _ value: Value, inPlaceOf encoder: RecordingEncoder, _ key: () -> TokenKey
  ) throws {
    let entry = self.encoder(of: Value.self)
    // A table of fields cannot continue an object.
    if entry.isPlain || hasValue(encoder.start) && Value.self is any StowFields.Type {
      try nestCall(of: value, key: encoder.key, parent: encoder.parent, start: encoder.start) {
        try value.encode(to: encoder)
      }
    } else {
      try encode(value, by: entry, key: key(), parent: encoder.parent, level: 0)
      settle(encoder.start, key: encoder.key)
    }
  }

  private func hasValue(_ start: Int) -> Bool {
    start < recording.tape.count && !recording.isUnfilled(start, unsettled: true)
  }
}

// Making the containers and encoders that values receive.

extension Recorder {
  /// Returns the container of a message that is over: what is written to it is discarded with its recorder.
  @inline(never)
  static func discarding<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncodingContainer<Key> {
    let recorder = Recorder(reusesContainers: false)
    recorder.begin(maximumDepth: DepthLimit.standard, UserInfo())
    return recorder.nestedKeyedContainer(keyType, key: TokenKey(), parent: -1)
  }

  // MARK: keyed containers

  @inline(__always)
  func pool<Key: CodingKey>(of keyType: Key.Type) -> EncoderPools.Reference {
    pools[keyType] ?? addPool(keyType)
  }

  @inline(never)
  private func addPool<Key: CodingKey>(_ keyType: Key.Type) -> EncoderPools.Reference {
    let keys = recording.keyTables.add(keyType)
    return pools.add(keys, for: keyType) {
      newContainer(keys, begin: -1, hasSlots: false) as KeyedEncodingContainer<Key>
    }
  }

  @inline(__always)
  func keyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, start: Int, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let pool = pool(of: keyType)
    guard awaits(start) else {
      return continuedContainer(pool, start: start, key: key, parent: parent)
    }
    occupy(recording.beginObject(pool.pointee.keys, key: key, parent: parent))
    return container(pool, begin: start, hasSlots: pool.pointee.keys.pointee.hasSlots)
  }

  @inline(__always)
  func nestedKeyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let pool = pool(of: keyType)
    let begin = openNested(
      recording.beginObject(pool.pointee.keys, key: key, parent: parent, flags: .nested))
    return container(pool, begin: begin, hasSlots: pool.pointee.keys.pointee.hasSlots)
  }

  /// Returns the container of an existing object: with the keys it has, or with others as strings.
  @inline(never)
  private func continuedContainer<Key: CodingKey>(
    _ pool: EncoderPools.Reference, start: Int, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let object =
      recording.isUnfilled(start)
      ? recording.beginObject(pool.pointee.keys, key: key, parent: parent)
      : ContainerStart(.map, key: key, parent: parent)
    let begin = lateContainer(start: start, object)
    let token = recording.tape[begin]
    let hasSlots = token.kind == .object && token.index == pool.pointee.keys.pointee.index
    return container(pool, begin: begin, hasSlots: hasSlots)
  }

  /// Returns a container for the object that begins at `begin`, new or reused.
  @inline(__always)
  private func container<Key: CodingKey>(
    _ pool: EncoderPools.Reference, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    guard pools.reusesContainers else {
      return newContainer(pool.pointee.keys, begin: begin, hasSlots: hasSlots)
    }
    pools.noteUse(pool)
    return pool.pointee.take(KeyedEncodingContainer<Key>.self) {
      makeContainer(Key.self, pool.pointee.keys)
    } _: {
      $0.start(at: begin, hasSlots: hasSlots)
    }
  }

  /// Makes a container for the pool. Not inlined, because it needs the container's metadata and is rarely
  /// called.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ keys: KeyTable.Reference
  ) -> (container: AnyObject, object: ObjectWriter) {
    let writer = ObjectWriter(recorder: self, keys: keys)
    let container = KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
    return (ContainerReuse.reference(of: container), writer)
  }

  /// Makes a container that holds the recorder, for when containers are not reused.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    _ keys: KeyTable.Reference, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    // Slots only become more, so that the least is that of the second object.
    if keys.pointee.uses > 1 {
      keys.pointee.slotsOfFirst = min(keys.pointee.slotsOfFirst, keys.pointee.slotCount)
    }
    let writer = ObjectWriter(recorder: self, keys: keys, isOwner: true)
    writer.start(at: begin, hasSlots: hasSlots)
    return KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
  }

  func unkeyedContainer(start: Int, key: TokenKey, parent: Int) -> UnkeyedEncoder {
    let container = ContainerStart(.array, key: key, parent: parent)
    guard awaits(start) else {
      let begin = lateContainer(start: start, container)
      return UnkeyedEncoder(recorder: self, begin: begin)
    }
    occupy(container)
    return UnkeyedEncoder(recorder: self, begin: start)
  }

  func nestedUnkeyedContainer(key: TokenKey, parent: Int) -> UnkeyedEncoder {
    let begin = openNested(ContainerStart(.array, key: key, parent: parent, flags: .nested))
    return UnkeyedEncoder(recorder: self, begin: begin)
  }

  /// Returns an array for a key of the current container, new or continued.
  func nestedUnkeyedContainer(forKey key: TokenKey, parent: Int) -> UnkeyedEncoder {
    var name = -1
    if recording.endsWithKey { name = recording.tape[recording.tape.count - 1].index }
    if !isOver, let begin = recording.array(forKey: key, name: name, parent: parent) {
      recording.dropKey()
      recording.expand(begin)
      recording.isOutOfOrder = true
      return UnkeyedEncoder(recorder: self, begin: begin)
    }
    return nestedUnkeyedContainer(key: key, parent: parent)
  }

  func deferValue(key: TokenKey, parent: Int) -> RecordingEncoder {
    let start = recording.tape.count
    recording.isOutOfOrder = true
    appendPlace(key: key)
    return RecordingEncoder(recorder: self, start: start, parent: parent, key: key)
  }

  /// Returns the container of a place that no longer awaits its first token: the one that is there already,
  /// or a late one.
  private func lateContainer(start: Int, _ container: ContainerStart) -> Int {
    let isArray = container.token.kind == .array
    // An object continues even a settled place.
    if recording.isUnfilled(start, unsettled: isArray) {
      fill(start, parent: container.parentToken)
      return openNested(container)
    }
    let begin = recording.value(at: start)
    let value = recording.tape[begin]
    precondition(
      isArray ? value.isArray : value.kind == .object || value.kind == .map,
      "Attempt to get a container of another kind than the value that was already encoded.")
    recording.isOutOfOrder = true
    recording.expand(begin)
    return begin
  }
}
