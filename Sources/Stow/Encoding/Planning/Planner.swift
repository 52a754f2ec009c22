/// Decides what stands in the prelude of a message: which key lists become shapes, and which strings
/// become symbols (FORMAT.md, "What a writer chooses").
///
/// Works on what recording has counted; the tape is walked only if there are maps whose keys may recur.
struct Planner: ~Copyable {
  /// The shapes of the message, in the order of their numbers.
  private(set) var shapes: [Shape] = []
  /// The strings that are symbols, in the order of their numbers.
  private(set) var symbols: [Int] = []
  private(set) var lists = KeyLists()
  /// Whether maps on the tape name their list.
  private(set) var hasLists = false
  private var candidates: [Candidate] = []

  struct Shape {
    enum Source {
      case keyTable(Int)
      case list(Int)
    }

    let source: Source
    let uses: Int
    let firstUse: Int
    let gain: Int
  }

  private struct Candidate {
    let string: Int
    let uses: Int
    let shortGain: Int
    var isShort = true

    /// What it saves if a reference to it takes two bytes.
    var longGain: Int { shortGain - uses }
  }

  /// What a prelude takes besides its symbols and shapes.
  static let preludeSize = 3

  mutating func removeAll() {
    if !shapes.isEmpty { shapes.removeAll(keepingCapacity: true) }
    if !symbols.isEmpty { symbols.removeAll(keepingCapacity: true) }
    if !candidates.isEmpty { candidates.removeAll(keepingCapacity: true) }
    lists.removeAll()
    hasLists = false
  }

  /// Plans the message of `session`, whose tape is in line; false if a map has a key twice.
  mutating func plan(_ session: EncodingSession) -> Bool {
    removeAll()
    if session.maps.count > 1 || session.hasFreeKeys {
      let maps = UnsafeBufferPointer(session.maps.buffer)
      guard lists.collect(maps, &session.tape, &session.strings, &session.mapWalk) else { return false }
      hasLists = true
    }
    if Self.hasSingleObject(session) {
      session.activeKeyTables.borrow(0) { $0.standAlone(&session.strings) }
    } else if session.activeKeyTables.count > 0 || hasLists {
      chooseShapes(session)
      countKeyUses(session)
    }
    chooseSymbols(session)
    if shapes.isEmpty, candidates.isEmpty { return true }
    let gain =
      shapes.reduce(0) { $0 + $1.gain }
      + candidates.reduce(0) { $0 + ($1.isShort ? $1.shortGain : $1.longGain) }
    if gain > Self.preludeSize { number(session) } else { dropTables(session) }
    return true
  }

  /// Whether one object is all that has keys: then it has no shape, and its keys are written once.
  private static func hasSingleObject(_ session: EncodingSession) -> Bool {
    session.activeKeyTables.count == 1 && session.maps.count == 0
      && session.activeKeyTables.borrow(0) { $0.uses == 1 }
  }

  // MARK: shapes

  private mutating func chooseShapes(_ session: EncodingSession) {
    session.activeKeyTables.borrowEach { keyTable in
      keyTable.shape = -1
      keyTable.collectPresent()
      consider(.keyTable(keyTable.index), textSize: keyTable.textSize, uses: keyTable.uses, firstUse: keyTable.firstUse)
    }
    for index in lists.lists.indices where lists[index].uses > 1 {
      var size = 0
      for key in lists.keys(of: index) { size += KeyText.measure(session.strings.utf8(Int(key))).size }
      lists[index].textSize = size
      consider(.list(index), textSize: size, uses: lists[index].uses, firstUse: lists[index].firstUse)
    }
    if shapes.count > 1 {
      shapes.sort { $0.uses != $1.uses ? $0.uses > $1.uses : $0.firstUse < $1.firstUse }
    }
    for (number, shape) in shapes.enumerated() { assign(number, to: shape, session) }
  }

  /// Every use saves the keys and takes a byte for the shape; the shape itself takes the keys once.
  private mutating func consider(_ source: Shape.Source, textSize: Int, uses: Int, firstUse: Int) {
    let gain = (uses - 1) * textSize - uses - 1
    guard textSize > 0, uses > 1, gain > 0 else { return }
    shapes.append(Shape(source: source, uses: uses, firstUse: firstUse, gain: gain))
  }

  private mutating func assign(_ number: Int, to shape: Shape, _ session: EncodingSession) {
    switch shape.source {
    case .keyTable(let index): session.keyTables[index].shape = number
    case .list(let index): lists[index].shape = number
    }
  }

  // MARK: symbols

  /// Keys in shapes are written once; the others once for every object.
  private mutating func countKeyUses(_ session: EncodingSession) {
    session.activeKeyTables.borrowEach { $0.internKeys(&session.strings) }
    for index in lists.lists.indices where lists[index].shape >= 0 {
      for key in lists.keys(of: index) { session.strings.countKeyUses(Int(key), 1 - lists[index].uses) }
    }
  }

  private mutating func chooseSymbols(_ session: EncodingSession) {
    session.strings.forgetFollowers()
    let entries = session.strings.all
    for index in entries.indices {
      let values = Int(entries[index].valueUses)
      let keys = Int(entries[index].keyUses)
      guard values + keys > 1 else { continue }
      let length = entries[index].length
      let text = KeyText.measure(session.strings.utf8(index)).size
      let inline = length + (length < Tag.shortStringLimit ? 1 : 1 + Varint.size(length))
      let gain = values * inline + keys * text - text - values - keys
      if gain > 0 { candidates.append(Candidate(string: index, uses: values + keys, shortGain: gain)) }
    }
    if candidates.count > Tag.shortSymbolLimit { shortenMostUsed() }
    if candidates.isEmpty { return }
    candidates.removeAll { !$0.isShort && $0.longGain <= 0 }
  }

  /// Leaves the references of one byte to the 32 strings that are used most, the first of equals.
  private mutating func shortenMostUsed() {
    var best: [(uses: Int, index: Int)] = []
    for index in candidates.indices {
      candidates[index].isShort = false
      let uses = candidates[index].uses
      if best.count == Tag.shortSymbolLimit {
        guard uses > best[best.count - 1].uses else { continue }
        best.removeLast()
      }
      var place = best.count
      while place > 0, best[place - 1].uses < uses { place -= 1 }
      best.insert((uses, index), at: place)
    }
    for (_, index) in best { candidates[index].isShort = true }
  }

  // MARK: numbers

  private mutating func number(_ session: EncodingSession) {
    for isShort in [true, false] {
      for candidate in candidates where candidate.isShort == isShort {
        symbols.append(candidate.string)
        session.strings[candidate.string].symbol = UInt32(symbols.count)
      }
    }
    session.strings.shareSymbols()
  }

  /// A prelude would cost more than it saves.
  private mutating func dropTables(_ session: EncodingSession) {
    for shape in shapes { assign(-1, to: shape, session) }
    shapes.removeAll(keepingCapacity: true)
  }
}
