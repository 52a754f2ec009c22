/// What a session has found out about types: how to decode values, and the keyed containers of key types.
struct KnownDecodingTypes: ~Copyable {
  private var plans = DecodingPlans()
  private var pools: [KeyedDecoderPool] = []
  private var table = TypeTable<Unmanaged<KeyedDecoderPool>>()
  /// The pools of which the message took containers.
  private var usedPools = GrowableBuffer<Unmanaged<KeyedDecoderPool>>(capacity: 4)

  /// Returns how values of a type are decoded.
  @inline(__always)
  mutating func entry(for type: Any.Type) -> DecodingPlans.Entry { plans.entry(for: type) }

  /// Returns the containers of a key type.
  @inline(__always)
  mutating func pool<Key: CodingKey>(of keyType: Key.Type) -> Unmanaged<KeyedDecoderPool> {
    table[TypeTable<Unmanaged<KeyedDecoderPool>>.identity(keyType)] ?? add(keyType)
  }

  @inline(never)
  private mutating func add<Key: CodingKey>(_ keyType: Key.Type) -> Unmanaged<KeyedDecoderPool> {
    let pool = KeyedDecoderPool(keyType)
    pools.append(pool)
    let reference = Unmanaged.passUnretained(pool)
    table.insert(reference, for: TypeTable<Unmanaged<KeyedDecoderPool>>.identity(keyType))
    return reference
  }

  /// Notes that the message with the given number takes a container out of a pool.
  @inline(__always)
  mutating func noteUse(_ pool: KeyedDecoderPool, message: Int) {
    if pool.lastMessage != message { noteFirstUse(pool, message) }
  }

  @inline(never)
  private mutating func noteFirstUse(_ pool: KeyedDecoderPool, _ message: Int) {
    pool.lastMessage = message
    usedPools.append(.passUnretained(pool))
  }

  /// Takes back the containers that nobody holds any more, and returns whether that is all of them.
  func takeContainersBack() -> Bool {
    var areComplete = true
    for pool in usedPools.buffer {
      pool._withUnsafeGuaranteedRef { pool in
        if pool.containers.isComplete() {
          pool.containers.borrowObjects { $0.finish() }
        } else {
          areComplete = false
        }
      }
    }
    return areComplete
  }

  /// Forgets of which pools the message took containers.
  mutating func reset() { usedPools.truncate(to: 0) }
}
