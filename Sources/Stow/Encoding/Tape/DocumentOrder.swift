/// Puts a tape in the order of the document: the one pass that repairs what came in another.
///
/// It follows the links from the top, and appends the values to a second tape. Values that threw are left out, because
/// nothing links to them. Of several values for a key the last one counts, in the place of the first. An object that has a
/// key of another type than its first ones becomes a map. Strings join the pool as they first occur, and uses are counted
/// again; so are slots, if keys are sorted. Takes time linear in the length of the tape, except to sort what is out of turn.
///
/// The buffers are kept for the next message. The old message is `inout` also where it is only read, because a borrowed
/// one would be copied from where it is stored.
struct DocumentOrder: ~Copyable {
  private var tape = Tape()
  private var strings = StringPool()
  /// Values that are still to come, the next one last.
  private var pending = GrowableBuffer<Pending>(capacity: 64)
  /// What is known of the strings of the old pool.
  private var known = GrowableBuffer<KnownString>(capacity: 32)
  /// The last value for each slot of an object.
  private var lastOfSlot = GrowableBuffer<Pending>(capacity: 256)
  private var sortsKeys = false

  struct Pending: BitwiseCopyable {
    /// A token of the old tape; 0 if another value for the key took its place.
    var token: UInt32
    /// A container of the new one.
    let parent: UInt32
    /// The key there: a byte in an object, and in a map a string of the old pool.
    var key: UInt32 = 0

    init(_ token: Int, in parent: Int) {
      self.token = UInt32(truncatingIfNeeded: token)
      self.parent = UInt32(truncatingIfNeeded: parent)
    }
  }

  struct KnownString: BitwiseCopyable {
    /// One more than its index in the new pool; 0 if it is not there yet.
    var string: UInt32 = 0
    /// The last container of the new tape that has it as a key, and where among the pending values.
    var container: UInt32 = 0
    var place = 0
    /// The first of its values there, and the byte that the key was; nil if it was a string.
    var first: UInt32 = 0
    var byte: UInt8?
  }

  mutating func restore(_ message: inout RecordedMessage, sortsKeys: Bool) {
    self.sortsKeys = sortsKeys
    message.beginCount()
    let former = sortsKeys ? message.keyTables.forgetSlots() : []
    pending.append(Pending(message.tape.view.top, in: 0))
    while pending.count > 0 { append(pending.takeLast(), &message) }
    for (table, keys) in former {
      for byte in keys { _ = message.keyTables.slot(table, ofByte: Int(byte), isPresent: false) }
    }
    message.endCount()
    swap(&message.tape, &tape)
    swap(&message.strings, &strings)
    tape.removeAll()
    strings.removeAll()
    known.removeAll()
  }

  /// Appends a value to the new tape, and the values of a container to those that are pending.
  private mutating func append(_ next: Pending, _ message: inout RecordedMessage) {
    if message.isKept(Int(next.token)) { message.expand(Int(next.token), in: 0) }
    let (token, parent) = (message.tape[Int(next.token)], Int(next.parent))
    let key = key(of: next, &message)
    switch token.kind {
    case .string, .url:
      let string = use(token.value, &message)
      strings[string].valueUses &+= 1
      tape.append(token.kind, key: key, value: string)
    case .array, .object, .map: return appendContainer(token.value, key: key, in: parent, &message)
    case .place: tape.append(.place, key: key)
    case _ where token.hasWord:
      tape.append(token.kind, key: key, word: message.tape.view.word(token))
    default: tape.append(token.kind, key: key, value: token.value)
    }
    tape.linkLast(in: parent)
  }

  /// Returns the key of a value on the new tape. Indices are left out, because nobody asks for paths any more.
  private mutating func key(of next: Pending, _ message: inout RecordedMessage) -> TokenKey {
    switch tape.container(Int(next.parent)).keys {
    case TapeContainer.array: return TokenKey()
    case TapeContainer.map:
      let string = use(Int(next.key), &message)
      strings[string].keyUses &+= 1
      return tape.key(string + TokenKey.firstString)
    default: return TokenKey(byte: Int(next.key))
    }
  }

  /// Returns a string of the old pool in the new one.
  private mutating func use(_ string: Int, _ message: inout RecordedMessage) -> Int {
    know(string)
    if known[string].string > 0 {
      strings.noteRepeat()
    } else {
      known[string].string = UInt32(truncatingIfNeeded: strings.intern(message.strings.utf8(string)) + 1)
    }
    return Int(known[string].string) - 1
  }

  private mutating func know(_ string: Int) {
    while known.count <= string { known.append(KnownString()) }
  }

  // MARK: containers

  private mutating func appendContainer(
    _ old: Int, key: TokenKey, in parent: Int, _ message: inout RecordedMessage
  ) {
    precondition(
      !message.conflicts.contains(old),
      "Attempt to continue a container of another kind, which was already encoded for this key.")
    let (first, number, keys) = (pending.count, tape.nextContainer, message.tape.container(old).keys)
    var hasStrings = false
    // Values that were written while another was being encoded are linked before that.
    var (areLinkedInTurn, later) = (true, Int.max)
    message.tape.forEachBackwards(in: old) {
      let key = message.tape[$0].key
      hasStrings = hasStrings || key.isString
      areLinkedInTurn = areLinkedInTurn && $0 < later
      later = $0
      var next = Pending($0, in: number)
      next.key = UInt32(key.byte)
      pending.append(next)
    }
    var form = ContainerForm.array
    if keys != TapeContainer.array,
      hasStrings ? collectStrings(old, from: first, areLinkedInTurn, &message) : keys == TapeContainer.map
    {
      form = .map
      message.noteMap(number)
      if sortsKeys {
        // By the UTF-8 of the keys.
        let values = sorted(from: first) {
          message.strings.utf8(Int($0.key)).lexicographicallyPrecedes(message.strings.utf8(Int($1.key)))
        }
        replace(from: first, by: values)
      }
    } else if keys != TapeContainer.array {
      let table = message.keyTables[Int(keys)]
      form = .object(table.pointee.index)
      message.keyTables.countUses(table, 1, from: number)
      // Strings are in turn already.
      collectBytes(table, from: first, areLinkedInTurn || hasStrings, &message)
    }
    _ = tape.append(form, key: key, parent: parent)
    tape.linkLast(in: parent)
  }

  /// Puts the values of an object in the order of their slots, and leaves the last one for each.
  ///
  /// - Parameter first: The first of its values in `pending`, from the last to the first.
  private mutating func collectBytes(
    _ table: KeyTable.Reference, from first: Int, _ areLinkedInTurn: Bool, _ message: inout RecordedMessage
  ) {
    var (isSorted, last) = (true, -1)
    // A key whose slot went back with a value that threw, or is to be numbered again, takes the next one here.
    if !areLinkedInTurn {
      for value in pending.buffer[first...].sorted(by: { $0.token < $1.token }) {
        _ = message.keyTables.slot(table, ofByte: Int(value.key), isPresent: true)
      }
    }
    for index in (first..<pending.count).reversed() {
      let slot = message.keyTables.slot(table, ofByte: Int(pending[index].key), isPresent: true)
      isSorted = isSorted && slot > last
      last = slot
    }
    if isSorted { return }
    while lastOfSlot.count < table.pointee.slotCount { lastOfSlot.append(Pending(0, in: 0)) }
    for index in first..<pending.count {
      let slot = message.keyTables.slot(table, ofByte: Int(pending[index].key), isPresent: true)
      if lastOfSlot[slot].token == 0 { lastOfSlot[slot] = pending[index] }
    }
    pending.truncate(to: first)
    for slot in (0..<table.pointee.slotCount).reversed() where lastOfSlot[slot].token > 0 {
      pending.append(lastOfSlot[slot])
      lastOfSlot[slot].token = 0
    }
  }

  /// Leaves the last value for each key of a container with keys that are strings, in the place of the first. Returns
  /// whether it is a map: whether at first, some key was a string.
  private mutating func collectStrings(
    _ old: Int, from first: Int, _ areLinkedInTurn: Bool, _ message: inout RecordedMessage
  ) -> Bool {
    var hasRepeats = false
    for index in first..<pending.count {
      let (token, container) = (pending[index].token, pending[index].parent)
      let key = message.tape[Int(token)].key
      let string = message.string(key, at: Int(token), in: old)
      know(string)
      pending[index].key = UInt32(truncatingIfNeeded: string)
      let isRepeated = known[string].container == container
      if isRepeated {
        swapAt(index, known[string].place)
        pending[known[string].place].token = 0
        hasRepeats = true
      }
      (known[string].container, known[string].place) = (container, index)
      if !isRepeated || token < known[string].first {
        (known[string].first, known[string].byte) = (token, key.isString ? nil : UInt8(key.byte))
      }
    }
    if hasRepeats { compact(from: first) }
    if !areLinkedInTurn {
      replace(
        from: first,
        by: sorted(from: first) { known[Int($0.key)].first < known[Int($1.key)].first })
    }
    let isMap = pending.buffer[first...].contains { known[Int($0.key)].byte == nil }
    if !isMap {
      for index in first..<pending.count {
        pending[index].key = UInt32(known[Int(pending[index].key)].byte ?? 0)
      }
    }
    return isMap
  }

  private mutating func swapAt(_ one: Int, _ other: Int) {
    (pending[one], pending[other]) = (pending[other], pending[one])
  }

  private mutating func compact(from first: Int) {
    var count = first
    for index in first..<pending.count where pending[index].token > 0 {
      pending[count] = pending[index]
      count += 1
    }
    pending.truncate(to: count)
  }

  /// Returns values sorted, the first one last.
  private func sorted(from first: Int, by isBefore: (Pending, Pending) -> Bool) -> [Pending] {
    let values = pending.buffer[first...]
    return sortedIndices(values.count) { isBefore(values[first + $1], values[first + $0]) }
      .map { values[first + $0] }
  }

  private mutating func replace(from first: Int, by values: [Pending]) {
    for (place, value) in values.enumerated() { pending[first + place] = value }
  }
}

/// Returns indices in some order. One function for all orders, because the standard library's sort is
/// specialized for each element type.
@inline(never)
func sortedIndices(_ count: Int, by isBefore: (Int, Int) -> Bool) -> [Int] {
  (0..<count).sorted(by: isBefore)
}
