// Places whose value comes later, or never, as the tape has them.

extension Recording {
  /// Whether the place at `start` was reserved and has no value yet.
  func isUnfilled(_ start: Int) -> Bool {
    start < tape.count && tape[start].kind == .deferred && tape[start].index == Token.unfilled
  }

  /// Whether the value of the place at `start` is a container that begins before the token at `count`.
  func hasContainer(_ start: Int, before count: Int) -> Bool {
    guard start < count else { return false }
    let value = tape[start].kind == .deferred ? tape[start].index : start
    return value < count && tape[value].isContainer
  }

  /// Lets a place whose value encoded nothing await one again; false if it has one.
  ///
  /// - Parameter isKeyed: Whether an object is to come: that continues even a value which has been settled on
  ///   as an empty object, because a single-value container was given it.
  mutating func reopenEmpty(_ start: Int, isKeyed: Bool) -> Bool {
    guard start < tape.count else { return false }
    let isLate = tape[start].kind == .deferred && tape[start].index != Token.unfilled
    let value = isLate ? tape[start].index : start
    let token = tape[value]
    guard token.kind == .empty, isKeyed || !token.has(Token.Flags.nested) else { return false }
    if isLate {
      tape[value].set(Token.Flags.dead)
      // A container that failed here has its end on the tape still.
      tape[start].index = Token.unfilled
    } else {
      let isDead = token.has(Token.Flags.dead)
      tape[start] = Token(
        .deferred, key: token.key, flags: isDead ? Token.Flags.dead : 0, index: Token.unfilled)
    }
    return true
  }

  /// Makes what was recorded at `start`, which threw, a place that awaits its value.
  mutating func failReservation(at start: Int) {
    var token = tape[start]
    if token.isArray { addedElements[start] = elementCount(ofArray: start) }
    if token.kind == .deferred {
      if token.index != Token.unfilled { tape[token.index].set(Token.Flags.dead) }
    } else {
      token = Token(.deferred, key: token.key, flags: token.isContainer ? Token.Flags.failedContainer : 0)
    }
    token.index = Token.unfilled
    // A value in the same place may have been rolled back before this one.
    token.clear(Token.Flags.dead)
    tape[start] = token
  }

  /// Whether the tokens from `count` on continue or fill what begins before them, other than the place at `place`.
  func reachesOut(from count: Int, place: Int) -> Bool {
    (count..<max(count, tape.count)).contains { index in
      let token = tape[index]
      return (token.kind == .segment || token.kind == .fill) && token.index < count && token.index != place
    }
  }
}

// How many elements arrays have, and which arrays are the values of keys, while they are recorded.

extension Recording {
  func elementCount(ofArray begin: Int) -> Int {
    let token = tape[begin]
    switch token.kind {
    case .array: return token.index
    case .integers, .doubles, .bools: return retained[token.index].count + addedElements[begin, default: 0]
    default: return addedElements[begin, default: 0]
    }
  }

  /// Counts one more element of an array, and returns how many it had.
  mutating func addElement(toArray begin: Int) -> Int {
    let token = tape[begin]
    guard token.kind == .array else { return addElementRarely(toArray: begin) }
    tape[begin].index = token.index &+ 1
    return token.index
  }

  /// The same for an array that was retained whole, or that failed.
  @inline(never)
  private mutating func addElementRarely(toArray begin: Int) -> Int {
    let count = elementCount(ofArray: begin)
    addedElements[begin, default: 0] += 1
    return count
  }

  /// Counts one element less, which threw.
  mutating func removeElement(ofArray begin: Int) {
    if tape[begin].kind == .array {
      tape[begin].index = max(0, tape[begin].index - 1)
    } else {
      addedElements[begin, default: 0] -= 1
    }
  }

  // MARK: arrays of keys

  /// The array that is the last value for a key of the container that begins at `parent`, if one was encoded before.
  ///
  /// - Parameter name: The string of the key; −1 if it has a slot.
  mutating func array(forKey key: TokenKey, name: Int, parent: Int) -> Int? {
    // A key that is new to the message, or in its turn, cannot have been there.
    guard name >= 0 ? strings[name].keyUses > 1 : needsNormalizing else { return nil }
    // The last key is that of the value to come.
    let end = endsWithKey ? tape.count - 1 : tape.count
    if keyedValues == nil { keyedValues = KeyedValues() }
    var found = keyedValues?.last(KeyPlace(parent: parent, name: name, slot: key.slot), end, tape)
    // The value of a late place is what it was filled with.
    while let value = found, value < tape.count, tape[value].kind == .deferred { found = tape[value].index }
    guard let found, found < tape.count, tape[found].isArray, !tape[found].has(Token.Flags.dead) else {
      return nil
    }
    return found
  }
}

/// A key of a container.
struct KeyPlace: Hashable {
  let parent: Int
  /// The string of the key in the pool, or the complement of its slot.
  private let key: Int

  /// - Parameter name: The string of the key; −1 if it has a slot.
  init(parent: Int, name: Int, slot: Int) {
    self.parent = parent
    key = name >= 0 ? name : ~slot
  }
}

/// The values of all keys of a message, for whoever continues its containers.
///
/// The tape, which may not be in line, is walked once, as far as it has come, whenever somebody asks.
struct KeyedValues {
  /// The next token, and the tokens that began the containers which are open there.
  private var index = 0
  private var open: [Int] = []
  private var name = -1
  private var isLate = false
  /// The token of the last value of each key, and what came before it: its place in `earlier`, −1 if nothing did.
  private var values: [KeyPlace: (token: Int, earlier: Int)] = [:]
  private var earlier: [(token: Int, earlier: Int)] = []

  /// The token of the last value of a key that did not throw, of those before the token at `end`. A value that came late
  /// stands where its place was reserved.
  mutating func last(_ place: KeyPlace, _ end: Int, _ tape: borrowing Tape) -> Int? {
    while index < end {
      let token = tape[index]
      switch token.kind {
      case .key: name = token.index
      case .fill: isLate = true
      case .end: _ = open.popLast()
      case .segment: open.append(token.index)
      default:
        if !isLate, let parent = open.last, !tape[parent].isArray {
          note(KeyPlace(parent: parent, name: name, slot: token.slot), index)
        }
        name = -1
        isLate = false
        if token.begins { open.append(index) }
      }
      index += 1
    }
    while let value = values[place], tape[value.token].has(Token.Flags.dead) {
      values[place] = value.earlier < 0 ? nil : earlier[value.earlier]
    }
    return values[place]?.token
  }

  private mutating func note(_ place: KeyPlace, _ token: Int) {
    let last = values[place]
    if let last { earlier.append(last) }
    values[place] = (token, last == nil ? -1 : earlier.count - 1)
  }
}

/// Coding paths and depths, read off the tape when somebody asks.
///
/// The tape knows the parent of every container and its slot or index there; a key without a slot stands before
/// it.
extension Recording {
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
