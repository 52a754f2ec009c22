/// Decides what stands in the prelude of a message: which key lists become shapes, and which strings
/// become symbols (FORMAT.md, "What a writer chooses").
///
/// Works on what recording has counted; the tape is walked only if there are maps whose keys may recur.
struct Planner: ~Copyable {
  /// What was decided last.
  private(set) var plan = MessagePlan()
  private var candidates: [Candidate] = []
  private var walk = MapWalk()

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

  /// Plans a message, after its recording has been put in line.
  ///
  /// - Parameter sortsKeys: Whether maps are sorted by their keys.
  @inline(__always)
  mutating func makePlan(_ recording: inout Recording, sortsKeys: Bool) {
    recording.mergeStrings(isComplete: true)
    if recording.needsNormalizing || sortsKeys && recording.maps.count > 0 {
      Normalizer.normalize(&recording, sortsKeys: sortsKeys)
    }
    if choose(&recording) { return }
    Normalizer.normalize(&recording, sortsKeys: sortsKeys)
    let isPlanned = choose(&recording)
    assert(isPlanned)
  }

  private mutating func removeAll() {
    plan.removeAll()
    if !candidates.isEmpty { candidates.removeAll(keepingCapacity: true) }
  }

  /// Chooses shapes and symbols for a tape that is in line; false if a map has a key twice.
  private mutating func choose(_ recording: inout Recording) -> Bool {
    removeAll()
    if recording.maps.count > 1 || recording.hasFreeKeys {
      let maps = UnsafeBufferPointer(recording.maps.buffer)
      guard plan.lists.collect(maps, &recording.tape, &recording.strings, &walk) else { return false }
      plan.hasLists = true
    }
    if Self.hasSingleObject(recording) {
      recording.keyTables.active[0].pointee.settleSingleObject(&recording.strings)
    } else if recording.keyTables.active.count > 0 || plan.hasLists {
      chooseShapes(&recording)
      countKeyUses(&recording)
    }
    chooseSymbols(&recording)
    if plan.shapes.isEmpty, candidates.isEmpty { return true }
    let gain =
      plan.shapes.reduce(0) { $0 + $1.gain }
      + candidates.reduce(0) { $0 + ($1.isShort ? $1.shortGain : $1.longGain) }
    if gain > Self.preludeSize { number(&recording) } else { dropTables(recording) }
    return true
  }

  /// Whether one object is all that has keys: then it has no shape, and its keys are written once.
  private static func hasSingleObject(_ recording: borrowing Recording) -> Bool {
    recording.keyTables.active.count == 1 && recording.maps.count == 0
      && recording.keyTables.active[0].pointee.uses == 1
  }

  // MARK: shapes

  private mutating func chooseShapes(_ recording: inout Recording) {
    for keys in recording.keyTables.active.buffer {
      keys.pointee.shape = -1
      keys.pointee.collectPresent()
      consider(
        .keyTable(keys.pointee.index), textSize: keys.pointee.textSize, uses: keys.pointee.uses,
        firstUse: keys.pointee.firstUse)
    }
    for index in plan.lists.lists.indices where plan.lists[index].uses > 1 {
      var size = 0
      for key in plan.lists.keys(of: index) { size += KeyText.measure(recording.strings.utf8(Int(key))).size }
      plan.lists[index].textSize = size
      consider(
        .list(index), textSize: size, uses: plan.lists[index].uses, firstUse: plan.lists[index].firstUse)
    }
    if plan.shapes.count > 1 {
      plan.shapes.sort { $0.uses != $1.uses ? $0.uses > $1.uses : $0.firstUse < $1.firstUse }
    }
    for (number, shape) in plan.shapes.enumerated() { assign(number, to: shape, recording) }
  }

  /// Every use saves the keys and takes a byte for the shape; the shape itself takes the keys once.
  private mutating func consider(_ source: MessagePlan.Shape.Source, textSize: Int, uses: Int, firstUse: Int)
  {
    let gain = (uses - 1) * textSize - uses - 1
    guard textSize > 0, uses > 1, gain > 0 else { return }
    plan.shapes.append(MessagePlan.Shape(source: source, uses: uses, firstUse: firstUse, gain: gain))
  }

  private mutating func assign(_ number: Int, to shape: MessagePlan.Shape, _ recording: borrowing Recording) {
    switch shape.source {
    case .keyTable(let index): recording.keyTables[index].pointee.shape = number
    case .list(let index): plan.lists[index].shape = number
    }
  }

  // MARK: symbols

  /// Keys in shapes are written once; the others once for every object.
  private mutating func countKeyUses(_ recording: inout Recording) {
    for keys in recording.keyTables.active.buffer { keys.pointee.internKeys(&recording.strings) }
    for index in plan.lists.lists.indices where plan.lists[index].shape >= 0 {
      for key in plan.lists.keys(of: index) {
        recording.strings.countKeyUses(Int(key), 1 - plan.lists[index].uses)
      }
    }
  }

  private mutating func chooseSymbols(_ recording: inout Recording) {
    recording.strings.forgetFollowers()
    let entries = recording.strings.all
    for index in entries.indices {
      let values = Int(entries[index].valueUses)
      let keys = Int(entries[index].keyUses)
      guard values + keys > 1 else { continue }
      let length = entries[index].length
      let text = KeyText.measure(recording.strings.utf8(index)).size
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

  private mutating func number(_ recording: inout Recording) {
    for isShort in [true, false] {
      for candidate in candidates where candidate.isShort == isShort {
        plan.symbols.append(candidate.string)
        recording.strings[candidate.string].symbol = UInt32(plan.symbols.count)
      }
    }
    recording.strings.shareSymbols()
  }

  /// A prelude would cost more than it saves.
  private mutating func dropTables(_ recording: borrowing Recording) {
    for shape in plan.shapes { assign(-1, to: shape, recording) }
    plan.shapes.removeAll(keepingCapacity: true)
  }
}
