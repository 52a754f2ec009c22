/// What a keyed container refers to, so that container and box can be used again.
protocol PooledCursor: AnyObject {
  /// The session, once the container has outlived its message.
  var owner: AnyObject? { get set }
}

/// The keyed containers of one key type that were made so far, to be handed out again.
///
/// A keyed container is a box around a box, and making one takes a quarter to a half of all the time that
/// `Codable` itself costs. A container is handed out again only when nobody else holds it, so that one
/// that was kept keeps its own object.
///
/// On the plain path, where containers are not used again, the pool only watches which of them are held.
final class ContainerPool<Cursor: PooledCursor> {
  /// What nobody else holds when a container is free: its box, or on the plain path its cursor.
  @exclusivity(unchecked) private var watched: UnsafeMutablePointer<AnyObject>
  /// Kept by what is watched.
  @exclusivity(unchecked) private var cursors: UnsafeMutablePointer<Unmanaged<Cursor>>
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var capacity = 2
  /// The containers from here on are free.
  @exclusivity(unchecked) private var used = 0

  init() {
    watched = .allocate(capacity: capacity)
    cursors = .allocate(capacity: capacity)
  }

  deinit {
    watched.deinitialize(count: count)
    watched.deallocate()
    cursors.deallocate()
  }

  /// The number of a free container; `make` makes one if there is none.
  @inline(__always)
  func take(_ make: () -> (box: AnyObject, cursor: Cursor)) -> Int {
    var free = used
    while free > 0, isKnownUniquelyReferenced(&watched[free &- 1]) { free &-= 1 }
    if free == count {
      let (box, cursor) = make()
      add(box, cursor)
    }
    used = free &+ 1
    return free
  }

  /// Watches a container that was made for one use.
  func watch(_ cursor: Cursor) {
    releaseFree()
    (watched + used).deinitialize(count: count - used)
    count = used
    add(cursor, cursor)
    used = count
  }

  @inline(never)
  private func add(_ object: AnyObject, _ cursor: Cursor) {
    if count == capacity { grow() }
    (watched + count).initialize(to: object)
    (cursors + count).initialize(to: .passUnretained(cursor))
    count += 1
  }

  private func grow() {
    let (oldWatched, oldCursors) = (watched, cursors)
    capacity *= 2
    watched = .allocate(capacity: capacity)
    cursors = .allocate(capacity: capacity)
    watched.moveInitialize(from: oldWatched, count: count)
    cursors.moveInitialize(from: oldCursors, count: count)
    oldWatched.deallocate()
    oldCursors.deallocate()
  }

  /// The cursor of the container with a number that `take` gave.
  @inline(__always)
  func cursor(_ number: Int) -> Unmanaged<Cursor> { cursors[number] }

  /// Where the container itself is kept.
  @inline(__always)
  func address(_ number: Int) -> UnsafeRawPointer { UnsafeRawPointer(watched + number) }

  /// Whether every container has been given back.
  func isComplete() -> Bool {
    releaseFree()
    return used == 0
  }

  private func releaseFree() {
    while used > 0, isKnownUniquelyReferenced(&watched[used - 1]) { used -= 1 }
  }

  /// Lets go of all containers; those that somebody holds keep `session` alive from now on.
  func retire(_ session: AnyObject) {
    for number in 0..<count where !isKnownUniquelyReferenced(&watched[number]) {
      cursors[number].takeUnretainedValue().owner = session
    }
    watched.deinitialize(count: count)
    count = 0
    used = 0
  }
}
