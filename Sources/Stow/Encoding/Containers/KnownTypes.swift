/// What a recorder knows of the types that it has met: how their values are recorded, and the containers of key types.
struct KnownTypes: ~Copyable {
  var encoders = TypeEncoders()
  private var keyTypes = TypeTable<KeyedContainers.Reference>()
  private var all = GrowableBuffer<KeyedContainers.Reference>(capacity: 8)
  /// Those whose containers the message took.
  private var used = GrowableBuffer<KeyedContainers.Reference>(capacity: 8)
  /// Tells the messages of a recorder apart.
  private var message = 0
  /// Whether containers are handed out again; no longer when the message is over.
  var reusesContainers: Bool

  init(reusesContainers: Bool) { self.reusesContainers = reusesContainers }

  deinit {
    for containers in all.buffer {
      containers.deinitialize(count: 1)
      containers.deallocate()
    }
  }

  /// The containers of a key type; nil if it has not been met.
  @inline(__always)
  func containers<Key: CodingKey>(_ keyType: Key.Type) -> KeyedContainers.Reference? {
    keyTypes[TypeTable<KeyedContainers.Reference>.identity(keyType)]
  }

  /// Notes the containers of a key type that has not been met.
  mutating func add<Key: CodingKey>(
    _ keyType: Key.Type, _ keys: KeyTable.Reference
  ) -> KeyedContainers.Reference {
    let containers = KeyedContainers.Reference.allocate(capacity: 1)
    containers.initialize(to: KeyedContainers(keyType, keys))
    all.append(containers)
    keyTypes.insert(containers, for: TypeTable<KeyedContainers.Reference>.identity(keyType))
    return containers
  }

  /// Notes that the message takes a container.
  @inline(__always)
  mutating func noteUse(_ containers: KeyedContainers.Reference) {
    guard containers.pointee.lastMessage != message else { return }
    containers.pointee.lastMessage = message
    used.append(containers)
  }

  /// Whether nobody holds a container of the message.
  @inline(__always)
  func takeContainersBack() -> Bool {
    used.buffer.allSatisfy { $0.pointee.pool.isComplete() }
  }

  /// Begins another message.
  @inline(__always)
  mutating func removeUses() {
    used.truncate(to: 0)
    message &+= 1
  }
}

/// The containers of one key type, to be handed out again, and the keys.
struct KeyedContainers: ~Copyable {
  /// The address, which stays; nobody counts references.
  typealias Reference = UnsafeMutablePointer<KeyedContainers>

  let keys: KeyTable.Reference
  var pool = ContainerPool<ObjectWriter>()
  /// A `ContainerCopier` of the containers in the pool.
  private let copier: AnyObject
  /// The last message that took a container.
  fileprivate var lastMessage = -1

  fileprivate init<Key: CodingKey>(_ keyType: Key.Type, _ keys: KeyTable.Reference) {
    self.keys = keys
    copier = ContainerCopier<KeyedEncodingContainer<Key>>()
  }

  /// A copy of one of the containers, whose type must be that for the key type.
  @inline(__always)
  func copy<Container>(_ number: Int, as type: Container.Type) -> Container {
    unsafeDowncast(copier, to: ContainerCopier<Container>.self).copy(pool.address(number))
  }
}
