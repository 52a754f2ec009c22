/// What one message recorded: all that planning and emitting know of it.
struct Recording: ~Copyable {
  var tape = Tape()
  var strings = StringPool()
  var keyTables = KeyTables()
  /// Whole arrays and data, which the tape names by their index.
  var retained: [RetainedValue] = []
  /// Scalars of more than 64 bits, which the tape names by their index.
  private(set) var wideForms = GrowableBuffer<WideForm>(capacity: 4)
  /// The tokens where maps begin, which have keys before their values. A tape that is not in line may have others.
  private(set) var maps = GrowableBuffer<UInt32>(capacity: 16)
  /// Whether the keys of a map could repeat.
  private(set) var hasFreeKeys = false
  /// Whether the tape must be normalized before it is planned.
  var needsNormalizing = false
  /// By the token of a key: its integer, where that is not what its string says.
  var integerKeys: [Int: Int?] = [:]
  /// By the token of an array that was retained whole, or that failed: how many elements were added to it.
  var addedElements: [Int: Int] = [:]
  /// Nil as long as nobody needs it.
  var keyedValues: KeyedValues?

  /// Forgets the message.
  @inline(__always)
  mutating func removeAll() {
    tape.removeAll()
    strings.removeAll()
    keyTables.removeAll()
    if !retained.isEmpty { retained.removeAll() }
    wideForms.removeAll()
    maps.removeAll()
    hasFreeKeys = false
    needsNormalizing = false
    if !integerKeys.isEmpty { integerKeys = [:] }
    if !addedElements.isEmpty { addedElements = [:] }
    if keyedValues != nil { keyedValues = nil }
  }

  /// Notes a map that begins at `begin`.
  ///
  /// - Parameter hasFreeKeys: Whether its keys could repeat.
  @inline(__always)
  mutating func noteMap(at begin: Int, hasFreeKeys: Bool = false) {
    maps.append(UInt32(truncatingIfNeeded: begin))
    if hasFreeKeys { self.hasFreeKeys = true }
  }

  /// The beginning of the object that is to be recorded next, which counts as a use of its keys.
  @inline(__always)
  mutating func beginObject(
    _ table: KeyTable.Reference, key: TokenKey, parent: Int, flags: UInt64
  ) -> ContainerStart {
    let index = table.pointee.index
    guard table.pointee.hasSlots else {
      noteMap(at: tape.count, hasFreeKeys: true)
      return ContainerStart(.map, key: key, parent: parent, flags: flags, index: index)
    }
    keyTables.countUse(table, at: tape.count)
    return ContainerStart(.object, key: key, parent: parent, flags: flags, index: index)
  }

  /// Puts the tape in line: `tape` and `strings` become those of the message, in which nothing repeats.
  mutating func replace(_ tape: inout Tape, _ strings: inout StringPool) {
    swap(&self.tape, &tape)
    swap(&self.strings, &strings)
    noteInLine()
  }

  /// Notes that the tape is in line.
  mutating func noteInLine() {
    needsNormalizing = false
    hasFreeKeys = false
  }

  /// Forgets the maps, before they are noted anew.
  mutating func forgetMaps() { maps.removeAll() }

  /// Records a scalar of more than 64 bits as it will be written.
  mutating func record(_ form: WideForm, key: TokenKey) {
    tape.append(Token(.wide, key: key, index: wideForms.count))
    wideForms.append(form)
  }

  // MARK: strings

  /// Counts equal strings of the pool as one, and makes them one on the tape where that matters: for keys of maps, and
  /// for what looks strings up by their index. Elsewhere it is enough that all of them write the same.
  ///
  /// - Parameter isComplete: Whether the only strings that are still to be looked up are keys of key tables.
  mutating func mergeStrings(isComplete: Bool) {
    guard strings.isForgetful else { return }
    var keys: [UnsafeRawBufferPointer] = []
    for table in keyTables.active.buffer {
      for slot in 0..<table.pointee.slotCount { keys.append(table.pointee.utf8(atSlot: slot)) }
    }
    strings.merge(keeping: isComplete ? keys : nil)
    if keyedValues != nil { keyedValues = nil }
    guard strings.hasTwins, !isComplete || needsNormalizing || maps.count > 0 else { return }
    for index in 0..<tape.count {
      let token = tape[index]
      guard token.kind == .string || token.kind == .key || token.kind == .url else { continue }
      let string = strings.standIn(for: token.index)
      if string != token.index { tape[index].index = string }
    }
    strings.forgetTwins()
  }

  /// From here on, the same name is always the same string of the pool.
  mutating func keepNames() {
    mergeStrings(isComplete: false)
    strings.keepsAll = true
  }
}
