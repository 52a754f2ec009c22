import Synchronization

/// The one assumption about types of the standard library (see SECURITY.md): a `KeyedEncodingContainer` or a
/// `KeyedDecodingContainer` is one strong reference, which a copy retains.
///
/// Then a container in a pool is free exactly if the pool holds the only reference. Each session checks that with the
/// first container of each key type. If it finds anything else, it makes a new container every time.
enum ContainerReuse {
  /// Setting the environment variable `STOW_CONTAINER_REUSE` to `0` turns reuse off, for tests without the assumption.
  private static let isAllowed = CLibrary.environment("STOW_CONTAINER_REUSE") != "0"

  /// Returns whether containers like the one made are one reference each.
  ///
  /// - Parameter make: Makes a container that nobody else holds.
  static func isPossible<Container>(_ make: () -> Container) -> Bool {
    guard isAllowed, MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size,
      MemoryLayout<Container>.alignment == MemoryLayout<AnyObject>.alignment, !_isPOD(Container.self)
    else { return false }
    // In memory of its own, the container is a single reference whatever the optimizer does with copies.
    let container = UnsafeMutablePointer<Container>.allocate(capacity: 1)
    container.initialize(to: make())
    defer {
      container.deinitialize(count: 1)
      container.deallocate()
    }
    let reference = UnsafeMutableRawPointer(container).assumingMemoryBound(to: AnyObject?.self)
    guard isKnownUniquelyReferenced(&reference.pointee) else { return false }
    let isHeld = withExtendedLifetime(ContainerCopier<Container>().copy(container)) {
      !isKnownUniquelyReferenced(&reference.pointee)
    }
    return isHeld && isKnownUniquelyReferenced(&reference.pointee)
  }

  /// Returns the reference that a container is. Only valid if `isPossible` has returned true.
  static func reference<Container>(of container: Container) -> AnyObject {
    unsafeBitCast(container, to: AnyObject.self)
  }
}

/// Copies containers of one type, which it knows. Without it, copying one whose key type is not known statically would
/// look up its type in a table of the runtime.
class ContainerCopier<Container> {
  @inline(never)
  func copy(_ address: UnsafeRawPointer) -> Container { address.assumingMemoryBound(to: Container.self).pointee }
}

/// What a session knows about one key type: its keys, and the keyed containers for them, for reuse.
///
/// Making a keyed container allocates an object, which costs as much as the calls of a small object do.
struct ContainerPool<Object: AnyObject, Keys>: ~Copyable {
  /// A `ContainerCopier` of the containers.
  private let copier: AnyObject
  /// The references that the containers are. Never nil; optional because without optimization, in Swift 6, an
  /// `AnyObject` that is not is never known to be uniquely referenced.
  private var containers: UnsafeMutablePointer<AnyObject?>
  private var objects: UnsafeMutablePointer<Object>
  private var count = 0
  private var capacity = 2
  /// The containers from here on are free.
  private var used = 0
  /// The last property: where code is not specialized, the place of a property after it would have to be looked up.
  let keys: Keys

  init<Container>(_ keys: Keys, of container: Container.Type) {
    self.keys = keys
    copier = ContainerCopier<Container>()
    containers = .allocate(capacity: capacity)
    objects = .allocate(capacity: capacity)
  }

  deinit {
    objects.deinitialize(count: count)
    containers.deinitialize(count: count)
    containers.deallocate()
    objects.deallocate()
  }

  /// Takes a container of the type for the key type, whose object `start` prepares; `make` makes one if all are in use.
  @inline(__always)
  mutating func take<Container, Failure: Error>(
    _ type: Container.Type, _ make: () -> (container: AnyObject, object: Object),
    _ start: (borrowing Object) throws(Failure) -> Void
  ) throws(Failure) -> Container {
    var free = used
    while free > 0, isKnownUniquelyReferenced(&containers[free &- 1]) { free &-= 1 }
    if free == count {
      let (container, object) = make()
      add(container, object)
    }
    used = free &+ 1
    try borrowing(objects + free, start)
    return unsafeDowncast(copier, to: ContainerCopier<Container>.self).copy(containers + free)
  }

  @inline(never)
  private mutating func add(_ container: AnyObject, _ object: Object) {
    if count == capacity { resize(to: capacity * 2) }
    (containers + count).initialize(to: container)
    (objects + count).initialize(to: object)
    count += 1
  }

  private mutating func resize(to newCapacity: Int) {
    let (oldContainers, oldObjects) = (containers, objects)
    capacity = newCapacity
    containers = .allocate(capacity: capacity)
    objects = .allocate(capacity: capacity)
    containers.moveInitialize(from: oldContainers, count: count)
    objects.moveInitialize(from: oldObjects, count: count)
    oldContainers.deallocate()
    oldObjects.deallocate()
  }

  /// Whether no container was taken since all were given back.
  var isUnused: Bool { used == 0 }

  /// Returns whether every container was given back; then all work with them is done, on whatever thread.
  mutating func isComplete() -> Bool {
    while used > 0, isKnownUniquelyReferenced(&containers[used - 1]) { used -= 1 }
    // The check does not order what is read after it: another thread may have used a container that was kept.
    atomicMemoryFence(ordering: .acquiring)
    return used == 0
  }

  func borrowObjects(_ body: (borrowing Object) -> Void) {
    for number in 0..<count { borrowing(objects + number, body) }
  }

  /// Releases containers of a complete pool beyond those that nest within each other at the standard depth.
  mutating func trim() {
    let most = DepthLimit.standard
    guard count > most else { return }
    (objects + most).deinitialize(count: count - most)
    (containers + most).deinitialize(count: count - most)
    count = most
    resize(to: most)
  }
}

/// The pools of the key types that a session has met, by raw addresses: code that is not specialized looks up types.
struct ContainerPools<Object: AnyObject, Keys>: ~Copyable {
  /// A stable address, without reference counting.
  typealias Reference = UnsafeMutablePointer<ContainerPool<Object, Keys>>

  private var table = TypeTable()
  private var pools = GrowableBuffer<UnsafeMutableRawPointer>(capacity: 8)
  /// The pools from which the message took containers.
  private var used = GrowableBuffer<UnsafeMutableRawPointer>(capacity: 8)
  /// No longer once a container has escaped its message.
  var reusesContainers: Bool

  init(reusesContainers: Bool) { self.reusesContainers = reusesContainers }

  deinit {
    for pool in pools.buffer { Self.release(pool) }
  }

  private static func release(_ address: UnsafeMutableRawPointer) {
    // Moved out, because `deinitialize` does not call the `deinit` of a generic type that cannot be copied.
    _ = pool(address).move()
    address.deallocate()
  }

  private static func pool(_ address: UnsafeMutableRawPointer) -> Reference {
    address.assumingMemoryBound(to: ContainerPool<Object, Keys>.self)
  }

  @inline(__always)
  subscript(keyType: Any.Type) -> Reference? {
    guard case let pool?? = table[keyType] else { return nil }
    return Self.pool(pool)
  }

  /// Adds the pool of a key type, and checks with a container that `make` makes whether they can be reused.
  mutating func add<Container>(_ keys: Keys, for keyType: Any.Type, _ make: () -> Container) -> Reference {
    if reusesContainers { reusesContainers = ContainerReuse.isPossible(make) }
    let pool = Reference.allocate(capacity: 1)
    pool.initialize(to: ContainerPool(keys, of: Container.self))
    pools.append(UnsafeMutableRawPointer(pool))
    table.insert(UnsafeMutableRawPointer(pool), for: keyType)
    return pool
  }

  /// Notes that the message takes a container, before it is over: after that, another thread may check the pool.
  @inline(__always)
  mutating func noteUse(_ pool: Reference) { if pool.pointee.isUnused { used.append(UnsafeMutableRawPointer(pool)) } }

  /// Takes back the containers that nobody holds any more, and returns whether that is all of them.
  ///
  /// - Parameter finish: Called with the objects of each key type whose containers are complete.
  func takeContainersBack(_ finish: (borrowing Object) -> Void = { _ in }) -> Bool {
    var areComplete = true
    for address in used.buffer {
      let pool = Self.pool(address)
      if pool.pointee.isComplete() {
        pool.pointee.borrowObjects(finish)
        pool.pointee.trim()
      } else {
        areComplete = false
      }
    }
    return areComplete
  }

  mutating func removeUses() { used.truncate(to: 0) }

  /// Keeps only the pools of which somebody holds a container. From now on each container is a new one, in a new pool.
  mutating func keepHeld() {
    reusesContainers = false
    var held: [UnsafeMutableRawPointer] = []
    for pool in pools.buffer {
      if Self.pool(pool).pointee.isComplete() { Self.release(pool) } else { held.append(pool) }
    }
    table = TypeTable()
    pools.truncate(to: 0)
    used.truncate(to: 0)
    for pool in held {
      pools.append(pool)
      used.append(pool)
    }
  }
}
