/// The keyed containers of a session, by their key types.
struct KeyedDecoderPools: ~Copyable {
  private var types: [KeyedDecoderPool] = []
  private var table = TypeTable<Unmanaged<KeyedDecoderPool>>()
  /// Those whose containers the message took.
  private var used = BorrowedList<KeyedDecoderPool>()

  /// Returns what is known of a key type.
  @inline(__always)
  mutating func type<Key: CodingKey>(of keyType: Key.Type) -> Unmanaged<KeyedDecoderPool> {
    table[TypeTable<Unmanaged<KeyedDecoderPool>>.identity(keyType)] ?? add(keyType)
  }

  @inline(never)
  private mutating func add<Key: CodingKey>(_ keyType: Key.Type) -> Unmanaged<KeyedDecoderPool> {
    let type = KeyedDecoderPool(keyType)
    types.append(type)
    let reference = Unmanaged.passUnretained(type)
    table.insert(reference, for: TypeTable<Unmanaged<KeyedDecoderPool>>.identity(keyType))
    return reference
  }

  /// Notes that the message with the given number takes a container of a type.
  @inline(__always)
  mutating func noteUse(_ type: KeyedDecoderPool, message: Int) {
    if type.lastMessage != message { noteFirstUse(type, message) }
  }

  @inline(never)
  private mutating func noteFirstUse(_ type: KeyedDecoderPool, _ message: Int) {
    type.lastMessage = message
    used.append(type)
  }

  /// Takes back the containers that nobody holds any more, and returns whether that is all of them.
  func takeBack() -> Bool {
    var areComplete = true
    used.borrowEach { type in
      if type.pool.isComplete() {
        type.pool.borrowCursors { $0.finish() }
      } else {
        areComplete = false
      }
    }
    return areComplete
  }

  /// Forgets which types the message used.
  mutating func reset() { used.removeAll() }
}

/// The keyed containers of one key type.
final class KeyedDecoderPool {
  let keyTable: KeyTable
  // Used for every object, whose access calls nothing of the user's.
  @exclusivity(unchecked) var pool = ContainerPool<ObjectReader>()
  /// A `ContainerCopier` of the containers in the pool.
  private let copier: AnyObject
  /// The last message that took a container.
  var lastMessage = -1

  init<Key: CodingKey>(_ keyType: Key.Type) {
    keyTable = KeyTable(keyType)
    copier = ContainerCopier<KeyedDecodingContainer<Key>>()
  }

  /// Returns the copier as what it is; `type` must be that of the containers for the key type.
  @inline(__always)
  func copier<Container>(of type: Container.Type) -> ContainerCopier<Container> {
    unsafeDowncast(copier, to: ContainerCopier<Container>.self)
  }
}
