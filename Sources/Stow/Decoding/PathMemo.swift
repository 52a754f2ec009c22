/// The path that was asked for last.
///
/// Errors come in turns at one place and then at the next, whose paths differ by a key: this one is changed where it
/// is, unless an error that somebody keeps holds it.
struct PathMemo {
  private(set) var keys: [any CodingKey] = []
  /// Of the step of each key, behind that of the top.
  private var serials = [DecodingPath.Node.top.serial]

  /// How many keys lead to a place; nil if the path does not pass it.
  @inline(__always)
  func count(to node: DecodingPath.Node) -> Int? { serials.lastIndex(of: node.serial) }

  /// Whether the path passes a place behind so many keys.
  @inline(__always)
  func passes(_ node: DecodingPath.Node, behind count: Int) -> Bool {
    count < serials.count && serials[count] == node.serial
  }

  /// Goes on from a place with one key more.
  mutating func append(_ key: any CodingKey, to node: DecodingPath.Node, from parent: DecodingPath.Node) {
    let count = count(to: parent) ?? 0
    // The place is mostly beside the last.
    if count + 1 == keys.count {
      keys[count] = key
      serials[count + 1] = node.serial
      return
    }
    keys.removeLast(keys.count - count)
    serials.removeLast(serials.count - 1 - count)
    keys.append(key)
    serials.append(node.serial)
  }

  mutating func reset() {
    if keys.isEmpty { return }
    keys = []
    serials.removeLast(serials.count - 1)
  }
}
