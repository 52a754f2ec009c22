/// Coding paths and depths, read off the tape when somebody asks.
///
/// The tape knows the parent of every container and its slot or index there; a key without a slot stands before
/// it.
extension Recording {
  /// The path of the container that begins at `begin`.
  func path(ofContainer begin: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var start = begin
    // The outermost container has no location. A container that escaped from a large message that is over has no path.
    while let location = tape.location(ofContainer: start) {
      let key = TokenKey(slotBits: tape[start].bits, index: location.position)
      path.append(pathKey(parent: Int(location.parent), key: key, start: start))
      start = Int(location.parent)
    }
    return path.reversed()
  }

  /// How many containers the one that begins at `begin` is in, with itself, but no more than `limit`.
  func depth(ofContainer begin: Int, atMost limit: Int) -> Int {
    var (depth, start) = (1, begin)
    while depth < limit, let location = tape.location(ofContainer: start) {
      depth += 1
      start = Int(location.parent)
    }
    return depth
  }

  /// The path of a value in the container that begins at `parent`, which is negative at the top.
  func path(parent: Int, key: TokenKey, start: Int) -> [any CodingKey] {
    guard parent >= 0, parent < tape.count else { return [] }
    return path(ofContainer: parent) + [pathKey(parent: parent, key: key, start: start)]
  }

  private func pathKey(parent: Int, key: TokenKey, start: Int) -> any CodingKey {
    let container = tape[parent]
    if container.kind == .array { return PathKey.index(Int(key.index)) }
    // What fills a reservation stands after a mark that names the reservation.
    var start = start
    if start > 0, start <= tape.count, tape[start - 1].kind == .fill { start = tape[start - 1].index }
    if start > 0, start <= tape.count, tape[start - 1].kind == .key {
      let name = strings.string(tape[start - 1].index)
      if let integer = integerKeys[start - 1] { return PathKey(name: name, integer: integer) }
      return PathKey(stringValue: name)
    }
    guard container.kind == .object else { return PathKey(stringValue: "") }
    return keyTables[container.index].pointee.codingKey(atSlot: key.slot) ?? PathKey(stringValue: "")
  }
}
