/// Coding paths, read off the tape when somebody asks.
///
/// The tape knows the parent of every container and its slot or index there; a key without a slot stands before
/// it.
extension EncodingSession {
  /// The path of the container that begins at `begin`.
  func path(ofContainer begin: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var start = begin
    // The outermost container has no place. What was kept of a large message that is over has no path.
    while let place = tape.place(ofContainer: start) {
      let key = tape[start].key | UInt64(place.position) << 32
      path.append(pathKey(parent: Int(place.parent), key: key, start: start))
      start = Int(place.parent)
    }
    return path.reversed()
  }

  /// The path of a value in the container that begins at `parent`, which is negative at the top.
  func path(parent: Int, key: UInt64, start: Int) -> [any CodingKey] {
    guard parent >= 0, parent < tape.count else { return [] }
    return path(ofContainer: parent) + [pathKey(parent: parent, key: key, start: start)]
  }

  private func pathKey(parent: Int, key: UInt64, start: Int) -> any CodingKey {
    let container = tape[parent]
    if container.kind == .array { return PathKey.index(Int(key >> 32)) }
    // What fills a reserved place stands behind a mark that names the place.
    var start = start
    if start > 0, start <= tape.count, tape[start - 1].kind == .fill { start = tape[start - 1].index }
    if start > 0, start <= tape.count, tape[start - 1].kind == .key {
      let name = strings.string(tape[start - 1].index)
      if let integer = integerKeys[start - 1] { return PathKey(name: name, integer: integer) }
      return PathKey(stringValue: name)
    }
    let slot = Int(key >> 8 & 0xFF)
    guard container.kind == .object else { return PathKey(stringValue: "") }
    return keyTables[container.index].codingKey(atSlot: slot) ?? PathKey(stringValue: "")
  }
}
