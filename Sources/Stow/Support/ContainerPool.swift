import Synchronization

/// The keyed containers of one key type that were made so far, to be handed out again.
///
/// A keyed container is a reference to an object, and making one with the box of the standard library takes a quarter to
/// a half of all the time that `Codable` itself costs. A container is handed out again only when nobody else holds it, so that one
/// that was kept keeps its own object.
struct ContainerPool<Cursor: AnyObject>: ~Copyable {
  /// What the containers are references to.
  ///
  /// None is nil: without optimization, in Swift 6, an `AnyObject` is never known to be uniquely referenced, but
  /// an optional one is.
  private var boxes: UnsafeMutablePointer<AnyObject?>
  /// What the containers refer to: the boxes themselves, or a reference to each is held.
  private var cursors: UnsafeMutablePointer<Unmanaged<Cursor>>
  private var count = 0
  private var capacity = 2
  /// The containers from here on are free.
  private var used = 0

  init() {
    boxes = .allocate(capacity: capacity)
    cursors = .allocate(capacity: capacity)
  }

  deinit {
    for number in 0..<count where !isBox(number) { cursors[number].release() }
    boxes.deinitialize(count: count)
    boxes.deallocate()
    cursors.deallocate()
  }

  /// The number of a free container; `make` makes one if there is none.
  @inline(__always)
  mutating func take(_ make: () -> (box: AnyObject, cursor: Cursor)) -> Int {
    var free = used
    while free > 0, isKnownUniquelyReferenced(&boxes[free &- 1]) { free &-= 1 }
    if free == count {
      let (box, cursor) = make()
      add(box, cursor)
    }
    used = free &+ 1
    return free
  }

  @inline(never)
  private mutating func add(_ box: AnyObject, _ cursor: Cursor) {
    if count == capacity { grow() }
    (boxes + count).initialize(to: box)
    (cursors + count).initialize(to: box === cursor ? .passUnretained(cursor) : .passRetained(cursor))
    count += 1
  }

  private mutating func grow() {
    let (oldBoxes, oldCursors) = (boxes, cursors)
    capacity *= 2
    boxes = .allocate(capacity: capacity)
    cursors = .allocate(capacity: capacity)
    boxes.moveInitialize(from: oldBoxes, count: count)
    cursors.moveInitialize(from: oldCursors, count: count)
    oldBoxes.deallocate()
    oldCursors.deallocate()
  }

  /// Whether a cursor is the box that stands for it, which then holds it already.
  private func isBox(_ number: Int) -> Bool {
    boxes[number].map { Unmanaged.passUnretained($0).toOpaque() } == cursors[number].toOpaque()
  }

  /// The cursor of the container with a number that `take` gave.
  @inline(__always)
  func cursor(_ number: Int) -> Unmanaged<Cursor> { cursors[number] }

  /// Where the container itself is kept.
  @inline(__always)
  func address(_ number: Int) -> UnsafeRawPointer { UnsafeRawPointer(boxes + number) }

  /// Whether every container has been given back; then all that was done with them is done, on whatever thread.
  mutating func isComplete() -> Bool {
    while used > 0, isKnownUniquelyReferenced(&boxes[used - 1]) { used -= 1 }
    // Such a check does not order what is read after it: another thread may have used a container that was kept.
    atomicMemoryFence(ordering: .acquiring)
    return used == 0
  }

  /// Every cursor that was made so far.
  @inline(__always)
  func borrowCursors(_ body: (Cursor) -> Void) {
    for number in 0..<count { cursors[number]._withUnsafeGuaranteedRef { body($0) } }
  }
}
