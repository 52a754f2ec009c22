/// The sequences of keys that the maps of a message have: each distinct one may become a shape.
struct KeyLists {
  struct List {
    /// The token of the first key; each key names the next.
    let firstKey: Int
    let count: Int
    /// The first map with these keys.
    let firstUse: Int
    var uses = 1
    var textSize = 0
    /// The number of the shape in the message; −1 if the maps stay maps.
    var shape = -1
    /// Another list whose hash is the same.
    var next: Int?
  }

  private(set) var lists: [List] = []
  private var byHash: [UInt64: Int] = [:]

  /// Where a map, or a key, names no list, or no other key.
  static let none = Int(UInt32.max)

  subscript(index: Int) -> List {
    _read { yield lists[index] }
    _modify { yield &lists[index] }
  }

  mutating func removeAll() {
    guard !lists.isEmpty else { return }
    lists.removeAll(keepingCapacity: lists.count < 1024)
    byHash.removeAll(keepingCapacity: lists.count < 1024)
  }

  /// Gives every map on the tape its list, and tells whether no map has a key twice.
  mutating func collect(_ tape: inout Tape, _ strings: inout StringPool) -> Bool {
    struct Open {
      let begin: Int
      var firstKey = KeyLists.none
      var lastKey = KeyLists.none
      var count = 0
    }
    var outer: [Open] = []
    var open = Open(begin: 0)
    for index in 0..<tape.count {
      switch tape[index].kind {
      case .object, .map, .array:
        outer.append(open)
        open = Open(begin: index)
      case .key:
        tape[index].payload = UInt64(Self.none)
        if open.count == 0 { open.firstKey = index } else { tape[open.lastKey].payload = UInt64(index) }
        open.lastKey = index
        open.count += 1
      case .end:
        if tape[open.begin].kind == .map {
          guard
            let list = list(tape, &strings, begin: open.begin, firstKey: open.firstKey, count: open.count)
          else { return false }
          tape[open.begin].head = tape[open.begin].head & 0xFFFF_FFFF | UInt64(list) << 32
        }
        open = outer.removeLast()
      default: break
      }
    }
    return true
  }

  /// The list with the keys that begin at `firstKey`, which is added if it is new; nil if a key repeats.
  private mutating func list(
    _ tape: borrowing Tape, _ strings: inout StringPool, begin: Int, firstKey: Int, count: Int
  ) -> Int? {
    guard count > 0 else { return Self.none }
    var hash: UInt64 = 0
    var key = firstKey
    let stamp = UInt32(truncatingIfNeeded: begin + 1)
    while key != Self.none {
      let string = tape[key].index
      if strings[string].mark == stamp { return nil }
      strings[string].mark = stamp
      hash = (hash ^ UInt64(string)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
      key = tape[key].target
    }
    var candidate = byHash[hash]
    while let found = candidate {
      if lists[found].count == count, haveSameKeys(tape, lists[found].firstKey, firstKey) {
        lists[found].uses += 1
        return found
      }
      candidate = lists[found].next
    }
    lists.append(List(firstKey: firstKey, count: count, firstUse: begin, next: byHash[hash]))
    byHash[hash] = lists.count - 1
    return lists.count - 1
  }

  private func haveSameKeys(_ tape: borrowing Tape, _ first: Int, _ second: Int) -> Bool {
    var (first, second) = (first, second)
    while first != Self.none, second != Self.none {
      if tape[first].index != tape[second].index { return false }
      first = tape[first].target
      second = tape[second].target
    }
    return first == second
  }
}
