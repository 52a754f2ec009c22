/// Puts a tape in the order of the document: the one pass that repairs what came in another.
///
/// It follows the links from the top, and appends the values to a second tape. Values that threw are left out, because
/// nothing links to them. Of several values for a key the last one counts, in the place of the first. An object that
/// has a key of another type than its first ones becomes a map. Strings join the pool as they first occur, and uses are
/// counted again; so are slots, if keys are sorted. Takes time linear in the length of the tape, and what sorting keys
/// takes.
///
/// The buffers are kept for the next message. The old message is `inout` also where it is only read, because a borrowed
/// one would be copied from where it is stored.
struct DocumentOrder: ~Copyable {
  private var tape = Tape()
  private var strings = StringPool()
  /// Values that are still to come, the next one last.
  private var pending = GrowableBuffer<Pending>(capacity: 64)
  /// What is known of the strings of the old pool, as keys.
  private var known = GrowableBuffer<KnownString>(capacity: 32)
  private var sortsKeys = false

  struct Pending: BitwiseCopyable {
    /// A token of the old tape.
    let token: UInt32
    /// A container of the new one.
    let parent: UInt32
    /// The key there: a byte in an object, and in a map a string of the old pool.
    var key: UInt32

    init(_ token: Int, in parent: Int, key: Int = 0) {
      self.token = UInt32(truncatingIfNeeded: token)
      self.parent = UInt32(truncatingIfNeeded: parent)
      self.key = UInt32(truncatingIfNeeded: key)
    }
  }

  struct KnownString: BitwiseCopyable {
    /// The last container of the new tape that has it as a key.
    var container: UInt32 = 0
    /// The first of its values there, and the byte that the key was; nil if it was a string.
    var first: UInt32 = 0
    var byte: UInt8?
  }

  mutating func restore(_ message: inout RecordedMessage, sortsKeys: Bool) {
    self.sortsKeys = sortsKeys
    let former = message.beginCount(forgetsSlots: sortsKeys)
    pending.append(Pending(message.tape.top, in: 0))
    while pending.count > 0 { append(pending.takeLast(), &message) }
    for (table, keys) in former {
      for byte in keys { _ = message.keyTables.slot(table, ofByte: Int(byte), isPresent: false) }
    }
    message.isInOrder = true
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
      tape.append(LooseToken(token.kind, UInt64(string)), key: key, to: parent)
    case .array, .object, .map: return appendContainer(token.value, key: key, in: parent, &message)
    default: tape.append(LooseToken(token.kind, message.tape.number(token)), key: key, to: parent)
    }
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
    strings.intern(message.strings.utf8(string))
  }

  // MARK: containers

  private mutating func appendContainer(_ old: Int, key: TokenKey, in parent: Int, _ message: inout RecordedMessage) {
    precondition(
      !message.conflicts.contains(old),
      "Attempt to continue a container of another kind, which was already encoded for this key.")
    let (first, number, keys) = (pending.count, tape.nextContainer, message.tape.container(old).keys)
    var hasStrings = keys == TapeContainer.map
    message.tape.forEachBackwards(in: old) {
      let key = message.tape[$0].key
      hasStrings = hasStrings || key.isString
      pending.append(Pending($0, in: number, key: key.byte))
    }
    var form = ContainerForm.array
    if keys != TapeContainer.array, hasStrings, findStrings(of: old, from: first, &message) {
      form = .map
      message.noteMap(number)
      sortMap(from: first, &message)
    } else if keys != TapeContainer.array {
      let table = message.keyTables[Int(keys)]
      form = .object(table.pointee.index)
      message.keyTables.countUses(table, 1, from: number)
      sortObject(table, from: first, &message)
    }
    _ = tape.append(form, key: key, parent: parent)
    tape.link(tape.count - 1, in: parent)
  }

  /// Finds the strings of a container's keys, of which some may be bytes, and returns whether it is a map: whether at
  /// first, some key was a string. Otherwise all keys become bytes.
  ///
  /// - Parameter first: The first of its values in `pending`, from the last to the first.
  private mutating func findStrings(of old: Int, from first: Int, _ message: inout RecordedMessage) -> Bool {
    for index in first..<pending.count {
      let (token, container) = (pending[index].token, pending[index].parent)
      let key = message.tape[Int(token)].key
      let string = message.string(key, at: Int(token), in: old)
      while known.count <= string { known.append(KnownString()) }
      pending[index].key = UInt32(truncatingIfNeeded: string)
      if known[string].container != container || token < known[string].first {
        (known[string].container, known[string].first) = (container, token)
        known[string].byte = key.isString ? nil : UInt8(key.byte)
      }
    }
    if message.tape.container(old).keys == TapeContainer.map { return true }
    if pending.buffer[first...].contains(where: { known[Int($0.key)].byte == nil }) { return true }
    for index in first..<pending.count { pending[index].key = UInt32(known[Int(pending[index].key)].byte ?? 0) }
    return false
  }

  /// Puts the values of a map in the order in which their keys occurred, or in that of their UTF-8.
  private mutating func sortMap(from first: Int, _ message: inout RecordedMessage) {
    let values = sorted(from: first) {
      sortsKeys
        ? message.strings.utf8(Int($0.key)).lexicographicallyPrecedes(message.strings.utf8(Int($1.key)))
        : known[Int($0.key)].first < known[Int($1.key)].first
    }
    replace(from: first, by: values)
  }

  /// Puts the values of an object in the order of their slots.
  private mutating func sortObject(_ table: KeyTable.Reference, from first: Int, _ message: inout RecordedMessage) {
    // A key whose slot went back with a value that threw, or is to be numbered again, takes the next one here.
    let turns = sorted(from: first) { $0.token < $1.token }
    for index in (first..<pending.count).reversed() {
      let value = turns?[index - first] ?? pending[index]
      _ = message.keyTables.slot(table, ofByte: Int(value.key), isPresent: true)
    }
    let values = sorted(from: first) {
      table.pointee.slot(ofByte: Int($0.key)) < table.pointee.slot(ofByte: Int($1.key))
    }
    replace(from: first, by: values)
  }

  /// Returns values sorted, the first one last; nil if they already are, and differ. Those that are equal stay as they
  /// are.
  @inline(__always)
  private func sorted(from first: Int, by isBefore: (Pending, Pending) -> Bool) -> [Pending]? {
    var next = pending.count
    while next - first > 1, isBefore(pending[next - 1], pending[next - 2]) { next -= 1 }
    if next - first <= 1 { return nil }
    let values = pending.buffer[first...]
    return sortedIndices(values.count) { isBefore(values[first + $1], values[first + $0]) }
      .map { values[first + $0] }
  }

  /// Puts sorted values in the place of the others, and leaves the last one for each key.
  private mutating func replace(from first: Int, by values: [Pending]?) {
    guard let values else { return }
    pending.truncate(to: first)
    for value in values where pending.count == first || pending[pending.count - 1].key != value.key {
      pending.append(value)
    }
  }
}
