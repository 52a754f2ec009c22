/// The sequences of keys that the maps of a message have: each distinct one may become a shape.
struct KeyLists {
  struct List {
    /// Where its keys are among those of all lists.
    fileprivate let range: Range<Int>
    /// The first map with these keys.
    let firstUse: Int
    var uses = 1
    var textSize = 0
    /// The number of the shape in the message; −1 if the maps stay maps.
    var shape = -1
    /// Another list whose hash is the same.
    fileprivate let next: Int?

    var count: Int { range.count }
  }

  private(set) var lists: [List] = []
  /// The keys of the lists, one list after another: strings of the pool.
  private var keys: [UInt32] = []
  /// The keys of the maps that are open, those of the innermost last.
  private var pending: [UInt32] = []
  private var byHash: [UInt64: Int] = [:]

  /// Where a map names no list.
  static let none = Int(UInt32.max)

  subscript(index: Int) -> List {
    _read { yield lists[index] }
    _modify { yield &lists[index] }
  }

  /// The keys of a list: strings of the pool.
  func keys(of list: Int) -> ArraySlice<UInt32> { keys[lists[list].range] }

  mutating func removeAll() {
    guard !lists.isEmpty || !pending.isEmpty else { return }
    let isSmall = lists.count < 1024
    lists.removeAll(keepingCapacity: isSmall)
    keys.removeAll(keepingCapacity: isSmall)
    pending.removeAll(keepingCapacity: isSmall)
    byHash.removeAll(keepingCapacity: isSmall)
  }

  /// Gives every map on the tape its list, and tells whether no map has a key twice.
  mutating func collect(_ tape: inout Tape, _ strings: inout StringPool) -> Bool {
    struct Open {
      let begin: Int
      /// Its first key among those that are pending.
      let firstKey: Int
    }
    var outer: [Open] = []
    var open = Open(begin: 0, firstKey: 0)
    for index in 0..<tape.count {
      let token = tape[index]
      switch token.kind {
      case .object, .map, .array:
        outer.append(open)
        open = Open(begin: index, firstKey: pending.count)
      case .key: pending.append(UInt32(truncatingIfNeeded: token.index))
      case .end:
        if tape[open.begin].kind == .map {
          guard let list = list(from: open.firstKey, &strings, begin: open.begin) else { return false }
          tape[open.begin].index = list
        }
        pending.removeLast(pending.count - open.firstKey)
        open = outer.removeLast()
      default: break
      }
    }
    return true
  }

  /// The list with the keys that are pending from `first` on, which is added if it is new; nil if a key repeats.
  private mutating func list(from first: Int, _ strings: inout StringPool, begin: Int) -> Int? {
    guard first < pending.count else { return Self.none }
    var hash: UInt64 = 0
    let stamp = UInt32(truncatingIfNeeded: begin + 1)
    for index in first..<pending.count {
      let string = Int(pending[index])
      if strings[string].mark == stamp { return nil }
      strings[string].mark = stamp
      hash = (hash ^ UInt64(string)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
    }
    var candidate = byHash[hash]
    while let found = candidate {
      if keys[lists[found].range] == pending[first...] {
        lists[found].uses += 1
        return found
      }
      candidate = lists[found].next
    }
    let start = keys.count
    keys += pending[first...]
    lists.append(List(range: start..<keys.count, firstUse: begin, next: byHash[hash]))
    byHash[hash] = lists.count - 1
    return lists.count - 1
  }
}
