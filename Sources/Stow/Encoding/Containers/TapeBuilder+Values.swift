// Recording values of any type.

class AnyEncodingPlan {
  /// Whether values may be recorded to an object that was begun.
  var continuesObjects: Bool { true }
}

typealias EncodingPlans = TypePlans<AnyEncodingPlan>

/// A way to record the values of one type, without knowing its parameters where it is called.
///
/// The caller knows only `Value`, and calls a method of the object's class. This looks up no metadata.
class EncodingPlan<Value>: AnyEncodingPlan {
  /// Appends a value, which the caller links to `parent`.
  ///
  /// - Parameter level: How many optionals are around the value, which distinguishes a nil in it from theirs.
  func append(_ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int) throws {
    preconditionFailure("an encoding plan without a way to encode")
  }

  func encode(_ elements: UnsafeBufferPointer<Value>, to builder: TapeBuilder, in array: Int) throws {
    try borrowingEach(of: elements) {
      let index = builder.recorded.tape.count
      try append($0, to: builder, key: builder.recorded.tape.key($1), parent: array, level: 0)
      builder.recorded.tape.link(index, in: array)
    }
  }

  /// Writes a message of the value without a tape, if that is possible, and returns whether it was.
  func write(_ value: borrowing Value, by emitter: inout Emitter) -> Bool { false }

  /// Returns an array as a value in `parent` that is packed when it is written, or nil.
  func retained(_ elements: [Value], by builder: TapeBuilder, in parent: Int) -> RetainedValue? { nil }
}

extension TapeBuilder {
  @inline(__always)
  func plan(of type: Any.Type) -> EncodingPlans.Entry { plans[type] ?? addPlan(of: type) }

  @inline(never)
  private func addPlan(of type: Any.Type) -> EncodingPlans.Entry {
    let makePlan = plans.makePlan
    return plans.add(type, makePlan(type))
  }

  /// Records a value, and links it to the container whose key it has. If this throws, the key has no value.
  @inline(__always)
  func encode<Value: Encodable>(_ value: borrowing Value, key: TokenKey, in container: Int, level: Int = 0) throws {
    try encode(value, by: plan(of: Value.self), key: key, in: container, level: level)
  }

  /// The same for a value whose type is known here.
  @inline(__always)
  func encode<Value: Encodable>(
    _ value: borrowing Value, by entry: EncodingPlans.Entry, key: TokenKey, in container: Int, level: Int = 0
  ) throws {
    let index = recorded.tape.count
    do { try append(value, by: entry, key: key, parent: container, level: level) } catch {
      recorded.isInOrder = false
      throw error
    }
    recorded.tape.link(index, in: container)
  }

  /// Appends a value, which the caller links.
  @inline(__always)
  func append<Value: Encodable>(
    _ value: borrowing Value, by entry: EncodingPlans.Entry, key: TokenKey, parent: Int, level: Int = 0
  ) throws {
    if entry.isPlain { return try appendPlain(value, key: key, parent: parent) }
    let value = copy value
    try entry.withPlan(as: EncodingPlan<Value>.self) {
      try $0.append(value, to: self, key: key, parent: parent, level: level)
    }
  }

  /// Lets `value` encode itself to a place that begins with the next token.
  @inline(__always)
  func appendPlain<Value: Encodable>(_ value: borrowing Value, key: TokenKey, parent: Int) throws {
    try call(of: value, key: key, parent: parent) { value, place in
      try value.encode(to: RecordingEncoder(builder: self, place: place, parent: parent, key: key))
    }
  }

  /// Records the value of a single-value container in the place of `encoder`.
  func encode<Value: Encodable>(_ value: Value, at encoder: RecordingEncoder) throws {
    try attempt(encoder) {
      let entry = plan(of: Value.self)
      let place = recorded.tape[encoder.place]
      let isBegun = !place.isPlace || place.isSettled
      if entry.isPlain || isBegun && !entry.withPlan(as: AnyEncodingPlan.self, \.continuesObjects) {
        try beginCall(of: value, key: encoder.key, parent: encoder.parent)
        defer { endCall() }
        try value.encode(to: encoder)
      } else {
        try fill(encoder) { try append(value, by: entry, key: encoder.key, parent: encoder.parent, level: 0) }
      }
    }
  }
}

// Making the containers and encoders that values receive.

extension TapeBuilder {
  /// Returns the container of a message that is over: what is written to it is discarded with its builder.
  @inline(never)
  static func discarding<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncodingContainer<Key> {
    let builder = TapeBuilder(reusesContainers: false) { _ in nil }
    return builder.nestedKeyedContainer(keyType, TokenKey(), in: 0)
  }

  // MARK: keyed containers

  @inline(__always)
  func pool<Key: CodingKey>(of keyType: Key.Type) -> EncoderPools.Reference { pools[keyType] ?? addPool(keyType) }

  @inline(never)
  private func addPool<Key: CodingKey>(_ keyType: Key.Type) -> EncoderPools.Reference {
    let keys = recorded.keyTables.add(keyType)
    return pools.add(keys, for: keyType) { newContainer(keys, of: 0) as KeyedEncodingContainer<Key> }
  }

  @inline(__always)
  func keyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, at encoder: RecordingEncoder
  ) -> KeyedEncodingContainer<Key> {
    let pool = pool(of: keyType)
    let object = container(at: encoder, isArray: false) { recorded.form(of: pool.pointee.keys) }
    return keyed(pool, object)
  }

  /// Returns an object in a container, new or continued.
  @inline(never)
  func nestedKeyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ key: TokenKey, in parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let pool = pool(of: keyType)
    if let object = recorded.container(forKey: key, in: parent, isArray: false) {
      return keyed(pool, object, isNested: true)
    }
    return keyed(pool, appendNested(recorded.form(of: pool.pointee.keys), key: key, parent: parent))
  }

  @inline(__always)
  private func keyed<Key: CodingKey>(
    _ pool: EncoderPools.Reference, _ object: Int, isNested: Bool = false
  ) -> KeyedEncodingContainer<Key> {
    guard pools.reusesContainers else { return newContainer(pool.pointee.keys, of: object, isNested: isNested) }
    pools.noteUse(pool)
    return pool.pointee.take(
      KeyedEncodingContainer<Key>.self, { makeContainer(Key.self, pool.pointee.keys) },
      { $0.start(object, isNested: isNested) })
  }

  /// Makes a container for the pool. Not inlined, because it needs the container's metadata and is rarely called.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ keys: KeyTable.Reference
  ) -> (container: AnyObject, object: ObjectWriter) {
    let writer = ObjectWriter(builder: self, keys: keys)
    let container = KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
    return (ContainerReuse.reference(of: container), writer)
  }

  /// Makes a container that holds the builder, for when containers are not reused.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    _ keys: KeyTable.Reference, of object: Int, isNested: Bool = false
  ) -> KeyedEncodingContainer<Key> {
    let writer = ObjectWriter(builder: self, keys: keys, isOwner: true)
    writer.start(object, isNested: isNested)
    return KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
  }

  // MARK: arrays

  func unkeyedContainer(at encoder: RecordingEncoder) -> UnkeyedEncoder {
    UnkeyedEncoder(builder: self, array: container(at: encoder, isArray: true) { .array })
  }

  func nestedUnkeyedContainer(_ key: TokenKey, in parent: Int) -> UnkeyedEncoder {
    let array =
      recorded.container(forKey: key, in: parent, isArray: true)
      ?? appendNested(.array, key: key, parent: parent)
    return UnkeyedEncoder(builder: self, array: array)
  }
}
