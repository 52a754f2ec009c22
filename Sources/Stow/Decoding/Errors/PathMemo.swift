/// The path that was asked for last.
///
/// Errors come in turns at one place and then at the next, whose paths differ by a key: this one is changed where it
/// is, unless an error that somebody keeps holds it.
struct PathMemo: ~Copyable {
  private(set) var keys: [any CodingKey] = []
  /// Of the step of each key, behind that of the top.
  private var serials = GrowableBuffer<UInt32>(capacity: 16)

  init() { serials.append(PathNode.top.serial) }

  /// Returns whether the path leads to a place.
  @inline(__always)
  func ends(at node: PathNode) -> Bool { serials.base[serials.count &- 1] == node.serial }

  /// Returns how many keys lead to a place, or nil if the path does not pass it.
  @inline(__always)
  func count(to node: PathNode) -> Int? { serials.buffer.lastIndex(of: node.serial) }

  /// Returns whether the path passes a place behind so many keys.
  func passes(_ node: PathNode, behind count: Int) -> Bool {
    count < serials.count && serials[count] == node.serial
  }

  /// Goes on from a place with one key more.
  mutating func append(
    _ key: consuming any CodingKey, to node: PathNode, from parent: PathNode
  ) {
    let count = count(to: parent) ?? 0
    serials.truncate(to: count + 1)
    serials.append(node.serial)
    if keys.count > count + 1 { keys.removeLast(keys.count - count - 1) }
    // The place is mostly beside the last, or beside one above it.
    if keys.count == count { keys.append(key) } else { keys[count] = key }
  }

  mutating func reset() {
    if keys.isEmpty { return }
    keys = []
    serials.truncate(to: 1)
  }
}
