import Synchronization

/// Whether a keyed container can be used again when nobody holds it any more: the one assumption about types of the
/// standard library (SECURITY.md names it).
///
/// It is assumed that a `KeyedEncodingContainer` or a `KeyedDecodingContainer` is one strong reference, which a copy
/// retains and which is released when the copy goes. Then a container in a pool is free exactly if the pool's is the
/// only reference. Each session checks that with the first container of each type of keys. Where it finds anything else,
/// it makes every container anew.
enum ContainerReuse {
  /// Whether the process allows it: not if the variable `STOW_CONTAINER_REUSE` of its environment is `0`, as in tests
  /// where the assumption shall not hold.
  private static let isAllowed = CLibrary.environment("STOW_CONTAINER_REUSE") != "0"

  /// Whether containers like the one made are one reference each.
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

  /// The reference that a container is. Only where `isPossible` has said so.
  static func reference<Container>(of container: Container) -> AnyObject {
    unsafeBitCast(container, to: AnyObject.self)
  }
}

/// Copies containers of one type.
///
/// Where the type of the keys is not known, the compiler looks up the type of their container to copy one, in a table of
/// the runtime. This object knows the type that it is generic over.
class ContainerCopier<Container> {
  @inline(never)
  func copy(_ address: UnsafeRawPointer) -> Container {
    address.assumingMemoryBound(to: Container.self).pointee
  }
}

/// The keyed containers of one key type that were made so far, to be handed out again.
///
/// Making a keyed container allocates an object, which costs as much as the calls of a small object do. A container is
/// handed out again only when nobody else holds it, so that one that was kept keeps its own object.
struct ContainerPool<Object: AnyObject>: ~Copyable {
  /// The references that the containers are.
  ///
  /// None is nil: without optimization, in Swift 6, an `AnyObject` is never known to be uniquely referenced, but
  /// an optional one is.
  private var containers: UnsafeMutablePointer<AnyObject?>
  /// What the containers refer to; a reference to each is held.
  private var objects: UnsafeMutablePointer<Unmanaged<Object>>
  private var count = 0
  private var capacity = 2
  /// The containers from here on are free.
  private var used = 0

  init() {
    containers = .allocate(capacity: capacity)
    objects = .allocate(capacity: capacity)
  }

  deinit {
    for number in 0..<count { objects[number].release() }
    containers.deinitialize(count: count)
    containers.deallocate()
    objects.deallocate()
  }

  /// The number of a free container; `make` makes one if there is none.
  @inline(__always)
  mutating func take(_ make: () -> (container: AnyObject, object: Object)) -> Int {
    var free = used
    while free > 0, isKnownUniquelyReferenced(&containers[free &- 1]) { free &-= 1 }
    if free == count {
      let (container, object) = make()
      add(container, object)
    }
    used = free &+ 1
    return free
  }

  @inline(never)
  private mutating func add(_ container: AnyObject, _ object: Object) {
    if count == capacity { grow() }
    (containers + count).initialize(to: container)
    (objects + count).initialize(to: .passRetained(object))
    count += 1
  }

  private mutating func grow() {
    let (oldContainers, oldObjects) = (containers, objects)
    capacity *= 2
    containers = .allocate(capacity: capacity)
    objects = .allocate(capacity: capacity)
    containers.moveInitialize(from: oldContainers, count: count)
    objects.moveInitialize(from: oldObjects, count: count)
    oldContainers.deallocate()
    oldObjects.deallocate()
  }

  /// The object of the container with a number that `take` gave.
  func object(_ number: Int) -> Unmanaged<Object> { objects[number] }

  /// Where the container itself is kept.
  func address(_ number: Int) -> UnsafeRawPointer { UnsafeRawPointer(containers + number) }

  /// Whether every container has been given back; then all that was done with them is done, on whatever thread.
  mutating func isComplete() -> Bool {
    while used > 0, isKnownUniquelyReferenced(&containers[used - 1]) { used -= 1 }
    // Such a check does not order what is read after it: another thread may have used a container that was kept.
    atomicMemoryFence(ordering: .acquiring)
    return used == 0
  }

  func borrowObjects(_ body: (Object) -> Void) {
    for number in 0..<count { objects[number].borrow(body) }
  }
}
