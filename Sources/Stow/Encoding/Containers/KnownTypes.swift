/// What a recorder knows of the types that it has met: how their values are recorded, and the containers of key types.
struct KnownTypes: ~Copyable {
  var encoders = TypeEncoders()
  private var keyTypes = TypeTable<KeyTypeEntry>()
  private var pools = GrowableBuffer<KeyedEncoderPool.Reference>(capacity: 8)
  /// Those that the message took containers of.
  private var usedPools = GrowableBuffer<KeyedEncoderPool.Reference>(capacity: 8)
  /// Tells the messages of a recorder apart.
  private var message = 0
  /// Whether containers are handed out again; no longer when the message is over.
  var reusesContainers: Bool

  init(reusesContainers: Bool) { self.reusesContainers = reusesContainers }

  deinit {
    for pool in pools.buffer {
      pool.deinitialize(count: 1)
      pool.deallocate()
    }
  }

  /// What is known of a key type; nil if it has not been met.
  @inline(__always)
  func keys<Key: CodingKey>(_ keyType: Key.Type) -> KeyTypeEntry? {
    keyTypes[keyType]
  }

  /// Notes a key type that has not been met.
  mutating func add<Key: CodingKey>(_ keyType: Key.Type, _ keys: KeyTable.Reference) -> KeyTypeEntry {
    let pool = KeyedEncoderPool.Reference.allocate(capacity: 1)
    pool.initialize(to: KeyedEncoderPool(keyType))
    pools.append(pool)
    let known = KeyTypeEntry(table: keys, pool: pool)
    keyTypes.insert(known, for: keyType)
    return known
  }

  /// Notes that the message takes a container.
  ///
  /// Not once the message is over: then another thread may look whether all were given back.
  @inline(__always)
  mutating func noteUse(_ pool: KeyedEncoderPool.Reference) {
    guard pool.pointee.lastMessage != message else { return }
    pool.pointee.lastMessage = message
    usedPools.append(pool)
  }

  /// Whether nobody holds a container of the message.
  @inline(__always)
  func takeContainersBack() -> Bool {
    usedPools.buffer.allSatisfy { $0.pointee.containers.isComplete() }
  }

  /// Begins another message.
  @inline(__always)
  mutating func removeUses() {
    usedPools.truncate(to: 0)
    message &+= 1
  }
}

/// A key type: its keys, and the containers for it.
struct KeyTypeEntry: BitwiseCopyable {
  let table: KeyTable.Reference
  let pool: KeyedEncoderPool.Reference
}
