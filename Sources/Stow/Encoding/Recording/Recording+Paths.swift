/// Coding paths, read off the tape when somebody asks; and what else only a walk over the tape tells.
///
/// The tape knows the parent of every container and its slot or index there; a key without a slot stands before
/// it.
extension Recording {
  /// The path of the container that begins at `begin`.
  func path(ofContainer begin: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var start = begin
    // The outermost container is nowhere. A container that escaped from a large message that is over has no path.
    while let location = tape.location(ofContainer: start) {
      let key = TokenKey(slotBits: tape[start].bits, index: location.position)
      path.append(pathKey(parent: Int(location.parent), key: key, start: start))
      start = Int(location.parent)
    }
    return path.reversed()
  }

  /// The path of a value in the container that begins at `parent`, which is negative at the top.
  func path(parent: Int, key: TokenKey, start: Int) -> [any CodingKey] {
    guard parent >= 0, parent < tape.count else { return [] }
    return path(ofContainer: parent) + [pathKey(parent: parent, key: key, start: start)]
  }

  private func pathKey(parent: Int, key: TokenKey, start: Int) -> any CodingKey {
    let container = tape[parent]
    if container.kind == .array { return PathKey.index(Int(key.index)) }
    // What fills a reservation stands behind a mark that names the reservation.
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

  // MARK: walks

  /// How many elements an array has that was written to in several places, and whether it is where the tape ends.
  ///
  /// A walk over the tape from the beginning of the array on.
  func elementCount(ofArray begin: Int) -> (count: Int, isInnermost: Bool) {
    let isWhole = tape[begin].isArray && tape[begin].kind != .array
    var count = isWhole ? retained[tape[begin].index].count : 0
    var outer: [Int] = []
    // A late value was counted with its reservation.
    var isLate = false
    for index in begin..<tape.count {
      let token = tape[index]
      switch token.kind {
      case .end: _ = outer.popLast()
      case .segment: outer.append(token.index)
      case .key: break
      case .fill: isLate = true
      default:
        if outer.last == begin, !isLate, !token.has(Token.Flags.dead) { count += 1 }
        isLate = false
        if token.begins { outer.append(index) }
      }
    }
    return (count, outer.last == begin)
  }

  /// The array that is the last value for a key of the container that begins at `parent`, if one was encoded before.
  ///
  /// - Parameter name: The string of the key; −1 if it has a slot.
  func array(forKey key: TokenKey, name: Int, parent: Int) -> Int? {
    // A key that is new to the message, or in its turn, cannot have been there.
    guard name >= 0 ? strings[name].keyUses > 1 : needsNormalizing else { return nil }
    var found: Int?
    /// The last value for the key, or the reservation of one that comes late.
    var last = -1
    var outer: [Int] = []
    var pendingName = -1
    var filled = -1
    for index in parent..<tape.count {
      let token = tape[index]
      switch token.kind {
      case .key: pendingName = token.index
      case .end: _ = outer.popLast()
      case .segment: outer.append(token.index)
      case .fill: filled = token.index
      default:
        let isOwn = outer.last == parent && pendingName == name && (name >= 0 || token.slot == key.slot)
        if filled < 0, isOwn, !token.has(Token.Flags.dead) { last = index }
        if last >= 0, last == (filled < 0 ? index : filled), !token.has(Token.Flags.dead) {
          found = token.isArray ? index : nil
        }
        pendingName = -1
        filled = -1
        if token.begins { outer.append(index) }
      }
    }
    return found
  }
}
