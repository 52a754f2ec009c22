/// The sequences of keys that the maps of a message have: each distinct one may become a shape.
struct KeyLists {
  struct List {
    /// Where its keys are among those of all lists.
    fileprivate let range: Range<Int>
    /// The first map with these keys.
    let firstUse: Int
    var uses = 1
    /// The number of the shape in the message; −1 if the maps stay maps.
    var shape = -1
    /// Another list whose hash is the same.
    fileprivate let next: Int?

    var count: Int { range.count }
  }

  private(set) var lists: [List] = []
  /// The keys of the lists, one list after another: strings of the pool.
  private var keys: [UInt32] = []
  private var byHash: [UInt64: Int] = [:]
  private let hashing = ByteHash()

  /// Where a map names no list: as the index of a token reads it.
  static let none = Int(truncatingIfNeeded: UInt32.max)

  subscript(index: Int) -> List {
    _read { yield lists[index] }
    _modify { yield &lists[index] }
  }

  /// The keys of a list: strings of the pool.
  func keys(of list: Int) -> ArraySlice<UInt32> { keys[lists[list].range] }

  mutating func removeAll() {
    guard !lists.isEmpty else { return }
    let isSmall = lists.count < 1024
    lists.removeAll(keepingCapacity: isSmall)
    keys.removeAll(keepingCapacity: isSmall)
    byHash.removeAll(keepingCapacity: isSmall)
  }

  /// Gives every map on the tape its list, and tells whether no map has a key twice.
  ///
  /// - Parameter maps: The tokens where they begin, in order.
  mutating func collect(
    _ maps: UnsafeBufferPointer<UInt32>, _ tape: inout Tape, _ strings: inout StringPool,
    _ walk: inout MapWalk
  ) -> Bool {
    walk.begin()
    var end = 0
    for map in maps where map >= end {
      guard let next = collect(from: Int(map), &tape, &strings, &walk) else { return false }
      end = next
    }
    return true
  }

  /// The same for a map and those inside it; returns where it ends, nil if one of them has a key twice.
  private mutating func collect(
    from begin: Int, _ tape: inout Tape, _ strings: inout StringPool, _ walk: inout MapWalk
  ) -> Int? {
    var index = begin
    repeat {
      let token = tape[index]
      switch token.kind {
      case .object, .map, .array: walk.open(at: index, isMap: token.kind == .map)
      case .key: walk.keys.append(UInt32(truncatingIfNeeded: token.index))
      case .end:
        if walk.innermost.isMap {
          let begin = walk.innermost.begin
          guard let list = list(of: walk.innermostKeys, &strings, begin: begin) else { return nil }
          tape[begin].index = list
        }
        walk.close()
      default: break
      }
      index &+= 1
    } while walk.isInside
    return index
  }

  /// The list with these keys, which is added if it is new; nil if a key repeats.
  private mutating func list(of wanted: MapWalk.Keys, _ strings: inout StringPool, begin: Int) -> Int? {
    guard !wanted.isEmpty else { return Self.none }
    let hash = hash(wanted)
    let sameHash = byHash[hash]
    var candidate = sameHash
    while let found = candidate {
      if wanted.elementsEqual(keys[lists[found].range]) {
        lists[found].uses += 1
        return found
      }
      candidate = lists[found].next
    }
    guard strings.mark(wanted, UInt32(truncatingIfNeeded: begin + 1)) else { return nil }
    let start = keys.count
    keys += wanted
    lists.append(List(range: start..<keys.count, firstUse: begin, next: sameHash))
    byHash[hash] = lists.count - 1
    return lists.count - 1
  }

  private func hash(_ keys: MapWalk.Keys) -> UInt64 {
    let bytes = UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: keys))
    return bytes.baseAddress.map { TextKey.make($0, bytes.count, hashing).hash } ?? 0
  }
}

/// The containers that a walk over a map is in, and the keys of the maps among them.
struct MapWalk: ~Copyable {
  typealias Keys = Slice<UnsafeMutableBufferPointer<UInt32>>

  struct Container: BitwiseCopyable {
    let begin: Int
    let isMap: Bool
    /// Its first key among those of all.
    fileprivate let firstKey: Int
  }

  /// The keys of the maps that are open, those of the innermost last: strings of the pool.
  fileprivate var keys = GrowableBuffer<UInt32>(capacity: 64)
  private var outer = GrowableBuffer<Container>(capacity: 16)
  fileprivate private(set) var innermost = MapWalk.top

  private static let top = Container(begin: 0, isMap: false, firstKey: 0)

  fileprivate mutating func begin() {
    keys.removeAll()
    outer.removeAll()
    innermost = Self.top
  }

  fileprivate mutating func open(at begin: Int, isMap: Bool) {
    outer.append(innermost)
    innermost = Container(begin: begin, isMap: isMap, firstKey: keys.count)
  }

  fileprivate mutating func close() {
    keys.truncate(to: innermost.firstKey)
    innermost = outer.takeLast()
  }

  fileprivate var isInside: Bool { outer.count > 0 }

  fileprivate var innermostKeys: Keys { keys.buffer[innermost.firstKey...] }
}

extension StringPool {
  /// Marks strings for one map; false if one of them has its mark already.
  fileprivate mutating func mark(_ keys: MapWalk.Keys, _ map: UInt32) -> Bool {
    for key in keys {
      guard self[Int(key)].mark != map else { return false }
      self[Int(key)].mark = map
    }
    return true
  }
}
