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
final class ContainerPool<Cursor: PooledCursor> {
  @exclusivity(unchecked) private var boxes: [AnyObject] = []
  @exclusivity(unchecked) private var cursors: [Cursor] = []
  /// The containers from here on are free.
  @exclusivity(unchecked) private var used = 0

  /// The box of a free container and its cursor; `make` makes one if there is none.
  @inline(__always)
  func take(_ make: () -> (box: AnyObject, cursor: Cursor)) -> Int {
    var free = used
    while free > 0, isKnownUniquelyReferenced(&boxes[free &- 1]) { free &-= 1 }
    if free == boxes.count { add(make()) }
    used = free &+ 1
    return free
  }

  @inline(never)
  private func add(_ new: (box: AnyObject, cursor: Cursor)) {
    boxes.append(new.box)
    cursors.append(new.cursor)
  }

  @inline(__always)
  func cursor(_ index: Int) -> Cursor { cursors[index] }

  @inline(__always)
  func box(_ index: Int) -> AnyObject { boxes[index] }

  /// Whether every container has been given back.
  func isComplete() -> Bool {
    while used > 0, isKnownUniquelyReferenced(&boxes[used - 1]) { used -= 1 }
    return used == 0
  }

  /// Lets go of all containers; those that somebody holds keep `session` alive from now on.
  func retire(_ session: AnyObject) {
    for index in boxes.indices where !isKnownUniquelyReferenced(&boxes[index]) {
      cursors[index].owner = session
    }
    boxes.removeAll()
    cursors.removeAll()
    used = 0
  }
}
