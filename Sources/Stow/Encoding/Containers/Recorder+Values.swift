// Recording values of any type.

extension Recorder {
  func record<Value: Encodable>(_ value: Value) throws {
    let key = TokenKey()
    if types.encoders.entry(for: Value.self).isPlain {
      let outside = Surroundings()
      enter(key: key, outside)
      try call(value, key: key, parent: -1, outside)
    } else {
      try encode(value, key: key)
    }
    try checkNesting(of: value)
    guard recording.isUnfilled(0, unsettled: true) else { return }
    let description = "Top-level \(Value.self) did not encode any values."
    throw EncodingError.invalidValue(
      value, EncodingError.Context(codingPath: [], debugDescription: description))
  }

  /// Lets `value` encode itself to the place that begins with the next token.
  @inline(__always)
  func encodePlain<Value: Encodable>(_ value: borrowing Value, key: TokenKey, parent: Int) throws {
    let outside = try beginCall(of: value, key: key, parent: parent)
    try call(value, key: key, parent: parent, outside)
  }

  @inline(__always)
  private func call<Value: Encodable>(
    _ value: borrowing Value, key: TokenKey, parent: Int, _ outside: Surroundings
  ) throws {
    do {
      try value.encode(
        to: RecordingEncoder(recorder: self, start: outside.start, parent: parent, key: key))
    } catch {
      failCall(parent: parent, outside)
      throw error
    }
    endCall(key: key, parent: parent, outside)
  }

  /// Records a value in the current container.
  ///
  /// - Parameter level: How many optionals the value was in, which distinguishes a nil in it from theirs.
  @inline(__always)
  func encode<Value: Encodable>(_ value: borrowing Value, key: TokenKey, level: Int = 0) throws {
    let entry = types.encoders.entry(for: Value.self)
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
    let entry = types.encoders.entry(for: Value.self)
    if entry.isPlain {
      try nestCall(of: value, key: encoder.key, parent: encoder.parent, start: encoder.start) {
        try value.encode(to: encoder)
      }
    } else {
      try encode(value, by: entry, key: key(), parent: encoder.parent, level: 0)
    }
  }
}

// Making the containers and encoders that values receive.

extension Recorder {
  /// Returns the container of a message that is over: what is written to it is discarded.
  @inline(never)
  static func discarding<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncodingContainer<Key> {
    let recorder = Recorder(reusesContainers: false)
    recorder.detach()
    return recorder.nestedKeyedContainer(keyType, key: TokenKey(), parent: -1)
  }

  // MARK: keyed containers

  @inline(__always)
  func keys<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncoderPool.Reference {
    types.keys(keyType) ?? addKeys(keyType)
  }

  @inline(never)
  private func addKeys<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncoderPool.Reference {
    let table = recording.keyTables.add(keyType)
    if types.reusesContainers {
      types.reusesContainers = ContainerReuse.isPossible {
        newContainer(table, begin: -1, hasSlots: false) as KeyedEncodingContainer<Key>
      }
    }
    return types.add(keyType, table)
  }

  @inline(__always)
  func keyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, start: Int, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let keys = keys(keyType)
    guard awaits(start) else {
      return continuedContainer(keys, start: start, key: key, parent: parent)
    }
    occupy(recording.beginObject(keys.pointee.table, key: key, parent: parent, flags: 0))
    return container(keys, begin: start, hasSlots: keys.pointee.table.pointee.hasSlots)
  }

  @inline(__always)
  func nestedKeyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let keys = keys(keyType)
    let begin = openNested(
      recording.beginObject(keys.pointee.table, key: key, parent: parent, flags: Token.Flags.nested))
    return container(keys, begin: begin, hasSlots: keys.pointee.table.pointee.hasSlots)
  }

  /// Returns the container of an existing object: with the keys it has, or with others as strings.
  @inline(never)
  private func continuedContainer<Key: CodingKey>(
    _ keys: KeyedEncoderPool.Reference, start: Int, key: TokenKey, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let object =
      recording.isUnfilled(start)
      ? recording.beginObject(keys.pointee.table, key: key, parent: parent, flags: 0)
      : ContainerStart(.map, key: key, parent: parent)
    let begin = containerOutOfLine(start: start, object)
    let token = recording.tape[begin]
    let hasSlots = token.kind == .object && token.index == keys.pointee.table.pointee.index
    return container(keys, begin: begin, hasSlots: hasSlots)
  }

  /// Returns a container for the object that begins at `begin`, new or reused.
  @inline(__always)
  private func container<Key: CodingKey>(
    _ keys: KeyedEncoderPool.Reference, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    guard types.reusesContainers else {
      return newContainer(keys.pointee.table, begin: begin, hasSlots: hasSlots)
    }
    types.noteUse(keys)
    let number = keys.pointee.containers.take { makeContainer(Key.self, keys.pointee.table) }
    keys.pointee.containers.object(number)._withUnsafeGuaranteedRef {
      $0.start(at: begin, hasSlots: hasSlots)
    }
    return keys.pointee.copy(number, as: KeyedEncodingContainer<Key>.self)
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
    let writer = ObjectWriter(recorder: self, keys: keys, isOwner: true)
    writer.start(at: begin, hasSlots: hasSlots)
    return KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
  }

  func unkeyedContainer(start: Int, key: TokenKey, parent: Int) -> UnkeyedEncoder {
    let container = ContainerStart(.array, key: key, parent: parent)
    guard awaits(start) else {
      let begin = containerOutOfLine(start: start, container)
      return UnkeyedEncoder(recorder: self, begin: begin)
    }
    occupy(container)
    return UnkeyedEncoder(recorder: self, begin: start)
  }

  func nestedUnkeyedContainer(key: TokenKey, parent: Int) -> UnkeyedEncoder {
    let begin = openNested(ContainerStart(.array, key: key, parent: parent, flags: Token.Flags.nested))
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
  private func containerOutOfLine(start: Int, _ container: ContainerStart) -> Int {
    let isArray = container.token.kind == .array
    // An object continues even a settled place.
    if recording.isUnfilled(start, unsettled: isArray) { return openLate(container, start: start) }
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

/// What a recorder knows about the types that it has met: how their values are recorded, and the containers
/// of key types.
struct KnownTypes: ~Copyable {
  var encoders = TypeEncoders()
  private var keyTypes = TypeTable<KeyedEncoderPool.Reference>()
  private var pools = GrowableBuffer<KeyedEncoderPool.Reference>(capacity: 8)
  /// The pools from which the message took containers.
  private var usedPools = GrowableBuffer<KeyedEncoderPool.Reference>(capacity: 8)
  /// Tells the messages of a recorder apart.
  private var message = 0
  /// Whether containers are reused; no longer once the message is over.
  var reusesContainers: Bool

  init(reusesContainers: Bool) { self.reusesContainers = reusesContainers }

  deinit {
    for pool in pools.buffer {
      pool.deinitialize(count: 1)
      pool.deallocate()
    }
  }

  @inline(__always)
  func keys<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncoderPool.Reference? {
    keyTypes[keyType]
  }

  mutating func add<Key: CodingKey>(_ keyType: Key.Type, _ keys: KeyTable.Reference)
    -> KeyedEncoderPool.Reference
  {
    let pool = KeyedEncoderPool.Reference.allocate(capacity: 1)
    pool.initialize(to: KeyedEncoderPool(keyType, keys))
    pools.append(pool)
    keyTypes.insert(pool, for: keyType)
    return pool
  }

  /// Notes that the message takes a container.
  ///
  /// Must not be called once the message is over: then another thread may check whether all were given back.
  @inline(__always)
  mutating func noteUse(_ pool: KeyedEncoderPool.Reference) {
    guard pool.pointee.lastMessage != message else { return }
    pool.pointee.lastMessage = message
    usedPools.append(pool)
  }

  func takeContainersBack() -> Bool {
    usedPools.buffer.allSatisfy { $0.pointee.containers.isComplete() }
  }

  mutating func removeUses() {
    usedPools.truncate(to: 0)
    message &+= 1
  }
}

/// The keyed containers of one key type, for reuse.
struct KeyedEncoderPool: ~Copyable {
  /// A stable address, without reference counting.
  typealias Reference = UnsafeMutablePointer<KeyedEncoderPool>

  let table: KeyTable.Reference
  var containers = ContainerPool<ObjectWriter>()
  /// A `ContainerCopier` of the containers.
  private let copier: AnyObject
  var lastMessage = -1

  init<Key: CodingKey>(_ keyType: Key.Type, _ table: KeyTable.Reference) {
    self.table = table
    copier = ContainerCopier<KeyedEncodingContainer<Key>>()
  }

  /// Returns a copy of one of the containers, whose type must be that for the key type.
  @inline(__always)
  func copy<Container>(_ number: Int, as type: Container.Type) -> Container {
    unsafeDowncast(copier, to: ContainerCopier<Container>.self).copy(containers.address(number))
  }
}
