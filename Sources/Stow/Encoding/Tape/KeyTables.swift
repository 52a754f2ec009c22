/// The key tables of all key types that have been met, and which of them the message uses.
struct KeyTables: ~Copyable {
  private var tables = GrowableBuffer<KeyTable.Reference>(capacity: 8)
  /// The tables with objects in the message, in the order of their first objects.
  private(set) var active = GrowableBuffer<KeyTable.Reference>(capacity: 8)
  /// The table of each slot that the message has given to a key, in the order in which it gave them. It is not active
  /// if it has no objects, because its keys were written as strings or its values threw.
  private var owners = GrowableBuffer<KeyTable.Reference>(capacity: 32)

  init() {}

  deinit {
    for table in tables.buffer {
      table.deinitialize(count: 1)
      table.deallocate()
    }
  }

  subscript(index: Int) -> KeyTable.Reference { tables[index] }

  var slotCount: Int { owners.count }

  /// Makes the table of a key type that has not been met.
  mutating func add<Key: CodingKey>(_ keyType: Key.Type) -> KeyTable.Reference {
    let table = KeyTable.Reference.allocate(capacity: 1)
    table.initialize(to: KeyTable(keyType, index: tables.count))
    tables.append(table)
    return table
  }

  /// Notes that objects of the message have the keys of `table`.
  @inline(__always)
  mutating func countUses(_ table: KeyTable.Reference, _ count: Int, from object: Int) {
    if table.pointee.uses == 0 {
      table.pointee.firstUse = object
      active.append(table)
    } else if table.pointee.uses == 1 {
      // Slots only become more.
      table.pointee.slotsOfFirst = table.pointee.slotCount
    }
    table.pointee.uses &+= count
  }

  /// Forgets which objects have keys, and which keys have values, before both are counted again. If all slots are to be
  /// forgotten, returns their keys in order, by tables, so that they can be numbered again.
  mutating func beginCount(forgetsSlots: Bool) -> [(KeyTable.Reference, keys: [UInt8])] {
    for table in active.buffer { table.pointee.forgetCounts() }
    defer { active.truncate(to: 0) }
    return forgetsSlots ? active.buffer.map { ($0, $0.pointee.forgetSlots()) } : []
  }

  @inline(__always)
  mutating func removeAll() {
    var slots = owners.count
    for table in active.buffer {
      slots -= table.pointee.slotCount
      table.pointee.removeAll()
    }
    if slots > 0 {
      for table in owners.buffer where table.pointee.slotCount > 0 { table.pointee.removeAll() }
    }
    active.truncate(to: 0)
    owners.truncate(to: 0)
  }

  /// Gives the next slot to a key of `table` whose entry is fresh.
  @inline(__always)
  mutating func takeSlot(_ table: KeyTable.Reference, ofByte byte: Int, isPresent: Bool) -> Int {
    owners.append(table)
    let slot = table.pointee.slotCount
    table.pointee.table[byte] = UInt16(truncatingIfNeeded: slot) | (isPresent ? 0 : KeyTable.absent)
    table.pointee.keys.append(UInt8(truncatingIfNeeded: byte))
    return slot
  }

  /// Returns the slot of a key of `table` that has been learnt.
  mutating func slot(_ table: KeyTable.Reference, ofByte byte: Int, isPresent: Bool) -> Int {
    let byte = table.pointee.firstOfSameName(byte)
    let entry = table.pointee.table[byte]
    guard entry < KeyTable.fresh else { return takeSlot(table, ofByte: byte, isPresent: isPresent) }
    if isPresent { table.pointee.table[byte] = entry & ~KeyTable.absent }
    return Int(entry & ~KeyTable.absent)
  }

  /// Takes back the slots that were given last, except the first `count`.
  mutating func forgetSlots(from count: Int) {
    while owners.count > count { owners.takeLast().pointee.forgetLastSlot() }
  }
}

/// The keys of one key type, as an encoder meets them.
///
/// A key type of one byte, as every synthesized `CodingKeys` is, identifies its keys by that byte, which indexes a
/// table of slots. The slots of a message are numbered in the order in which its keys are first used; the names of keys
/// are remembered from message to message. Other key types have no slots: their keys are strings, written before the
/// values.
struct KeyTable: ~Copyable {
  /// A table is referred to by its address: the message keeps it, without reference counting.
  typealias Reference = UnsafeMutablePointer<KeyTable>

  let keyType: ObjectIdentifier
  let index: Int
  /// Whether keys are identified by their byte.
  let hasSlots: Bool
  /// The slot of each key in this message, by the byte of the key, with marks above it.
  let table: UnsafeMutablePointer<UInt16>

  /// The entry of a key that has no slot yet, and about which more must be found out.
  static let unknown = UInt16.max
  /// The entry of a key that has no slot yet, and whose name no other key has: it can take the next slot.
  static let fresh = unknown - 1
  /// Marks the slot of a key that has been used and never had a value.
  static let absent: UInt16 = 0x8000

  // From message to message.

  /// The names by the bytes of keys, as far as keys have been learnt.
  private var names = GrowableBuffer<Name>(capacity: 16)
  private var codingKeys: [(any CodingKey)?] = []
  /// Begins with as many bytes as `BackwardWriter.shortBytes` reads before what it copies.
  private var texts = GrowableBuffer<UInt8>(capacity: 256)
  /// A Bloom filter: bits that a string has if it may be one of the keys.
  private(set) var filter: UInt64 = 0
  /// The matches that were found for messages that used the same keys.
  private(set) var matches: [Match] = []
  /// Lists of slots: those of the matches, and after them the one that was collected last.
  private var slotLists = GrowableBuffer<Int>(capacity: 32)

  // Of one message.

  /// The byte of the key of each slot.
  fileprivate var keys = GrowableBuffer<UInt8>(capacity: 32)
  /// Changes when slots are forgotten.
  private(set) var version = 0
  /// How many objects have these keys, and the first of them on the tape.
  var uses = 0
  var firstUse = 0
  /// How many slots there were when the second object began: all of them, if every object asks for the same keys.
  var slotsOfFirst = Int.max

  // Of one message, when it is complete.

  /// The slots that have a value in some object, in order; for a shape that was found, those of its keys, −1 for a key
  /// that was not used. A key without a value may have a slot, such as that of an optional that is nil.
  var present: UnsafeMutableBufferPointer<Int> {
    precondition(presentList.upperBound <= slotLists.count)
    return UnsafeMutableBufferPointer(rebasing: slotLists.buffer[presentList])
  }
  private var presentList = 0..<0
  /// The string in the pool for the key of each slot; −1 if the pool has no use for it. Empty if it has no use for any.
  private var strings = GrowableBuffer<Int>(capacity: 32)
  /// The number of the shape in the message; −1 if the objects are maps.
  var shape = -1

  fileprivate init<Key: CodingKey>(_ type: Key.Type, index: Int) {
    keyType = ObjectIdentifier(type)
    self.index = index
    hasSlots = isByte(type)
    let size = hasSlots ? 256 : 1
    table = .allocate(capacity: size)
    table.initialize(repeating: Self.unknown, count: size)
    for _ in 0..<BackwardWriter.shortLimit { texts.append(0) }
  }

  deinit { table.deallocate() }

  fileprivate mutating func removeAll() {
    for key in keys.buffer { table[Int(key)] = Self.fresh }
    keys.truncate(to: 0)
    version &+= 1
    uses = 0
    slotsOfFirst = .max
  }

  fileprivate mutating func forgetCounts() {
    uses = 0
    for key in keys.buffer { table[Int(key)] |= Self.absent }
  }

  fileprivate mutating func forgetLastSlot() {
    table[Int(keys.takeLast())] = Self.fresh
    version &+= 1
  }

  // MARK: names

  /// Where the names of a key are in `texts`: its bytes in a map or a shape, and its UTF-8 after them.
  private struct Name: BitwiseCopyable {
    var start = 0
    var middle = 0
    var end = 0
    /// The first key that was learnt of those with the same name; usually the key itself.
    var first = 0
  }

  func isLearnt(_ byte: Int) -> Bool { byte < names.count && names[byte].end > 0 }

  mutating func learn(_ key: any CodingKey, named string: String, byte: Int) {
    let same = codingKeys.indices.first { isLearnt($0) && utf8(ofKey: $0).elementsEqual(string.utf8) }
    while names.count <= byte {
      names.append(Name())
      codingKeys.append(nil)
    }
    codingKeys[byte] = key
    var name = Name(start: texts.count, first: same.map { names[$0].first } ?? byte)
    for byte in KeyText.bytes(of: string) { texts.append(byte) }
    name.middle = texts.count
    for byte in string.utf8 { texts.append(byte) }
    name.end = texts.count
    names[byte] = name
    filter |= StringPool.filterBit(utf8(ofKey: byte))
    if same == nil { table[byte] = Self.fresh }
  }

  /// Returns the key that represents all keys of the same name. Only that one has an entry; the others stay unknown.
  func firstOfSameName(_ byte: Int) -> Int {
    precondition(isLearnt(byte))
    return names[byte].first
  }

  func codingKey(ofKey byte: Int) -> (any CodingKey)? { isLearnt(byte) ? codingKeys[byte] : nil }

  /// Returns the bytes of a key in a map or a shape, valid until another key is learnt. The key has been learnt, as one
  /// with a slot has.
  @inline(__always)
  func text(ofKey byte: Int) -> UnsafeRawBufferPointer {
    let name = names.base[byte]
    return texts(name.start, name.middle)
  }

  func utf8(atSlot slot: Int) -> UnsafeRawBufferPointer { utf8(ofKey: Int(keys[slot])) }

  func name(atSlot slot: Int) -> String { String(decoding: utf8(atSlot: slot), as: UTF8.self) }

  func utf8(ofKey byte: Int) -> UnsafeRawBufferPointer { texts(names[byte].middle, names[byte].end) }

  private func texts(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: texts.base + start, count: end - start)
  }

  // MARK: slots

  var slotCount: Int { keys.count }

  func slot(ofByte byte: Int) -> Int { Int(table[byte] & ~Self.absent) }

  /// Forgets all slots, and returns their keys in order, so that they can be numbered again.
  fileprivate mutating func forgetSlots() -> [UInt8] {
    let keys = Array(keys.buffer)
    for key in keys { table[Int(key)] = Self.fresh }
    self.keys.truncate(to: 0)
    version &+= 1
    return keys
  }

  // MARK: what a complete message has

  func hasValue(atSlot slot: Int) -> Bool { table[Int(keys[slot])] & Self.absent == 0 }

  /// The bytes of the texts of the keys that are written.
  var textSize: Int { present.reduce(0) { $0 + text(ofKey: Int(keys[$1])).count } }

  /// Notes which slots have values, for a message that is complete.
  ///
  /// - Parameter all: Whether the shape has the other slots, too.
  mutating func collectPresent(all: Bool = false) {
    presentList = keep((0..<slotCount).filter { all || hasValue(atSlot: $0) })
  }

  /// Puts a list of slots after those of the matches, and returns where it is.
  private mutating func keep(_ slots: [Int]) -> Range<Int> {
    slotLists.truncate(to: matches.last?.present.upperBound ?? 0)
    let start = slotLists.count
    for slot in slots { slotLists.append(slot) }
    return start..<slotLists.count
  }

  // MARK: shapes of definitions

  /// Returns how the message used a slot: for which key, and whether that has a value.
  func state(ofSlot slot: Int) -> UInt16 { UInt16(keys[slot]) | table[Int(keys[slot])] & Self.absent }

  private func hasStates(_ states: [UInt16]) -> Bool {
    // The last keys are the likeliest to differ.
    states.count == slotCount && states.indices.reversed().allSatisfy { state(ofSlot: $0) == states[$0] }
  }

  /// The shape in some definitions for objects of messages that used certain keys.
  struct Match {
    let version: UInt64
    let states: [UInt16]
    /// The shape that has all keys with values, or −1.
    let shape: Int
    /// Where the slots of its keys are listed; −1 for a key that the messages did not use.
    var present = 0..<0
    /// How many bytes an object takes as a record of it, besides its length and values.
    let cost: Int
    let textSize: Int
  }

  private static let mostMatches = 16

  /// Returns the index of the match for the keys that the message used; nil if there is none yet. Inlined, because the
  /// table would be copied for a call.
  @inline(__always)
  func match(version: UInt64) -> Int? { matches.firstIndex { $0.version == version && hasStates($0.states) } }

  mutating func add(_ match: consuming Match, slots: [Int]) -> Int {
    if matches.count == Self.mostMatches { matches.removeAll() }
    match.present = keep(slots)
    matches.append(match)
    return matches.count - 1
  }

  /// Makes the objects records of the shape that was found.
  mutating func take(match: Int) {
    shape = matches[match].shape
    presentList = matches[match].present
    strings.truncate(to: 0)
  }

  // MARK: strings of the pool

  /// Looks the keys of the message up in its pool, and counts how often they are written.
  mutating func internKeys(_ pool: inout StringPool) {
    let written = shape >= 0 ? 1 : uses
    strings.truncate(to: 0)
    for _ in 0..<slotCount { strings.append(-1) }
    for slot in present {
      let string = pool.add(utf8(atSlot: slot))
      pool[string].keyUses &+= UInt32(truncatingIfNeeded: written)
      strings[slot] = string
    }
  }

  /// Settles the only object with keys of a message, and returns false if one of them is also a value. Otherwise the
  /// pool has no use for the keys, which are written once.
  @inline(__always)
  mutating func settle(apartFrom pool: inout StringPool) -> Bool {
    shape = -1
    strings.truncate(to: 0)
    guard pool.mayContain(filter) else { return true }
    return (0..<slotCount).allSatisfy { !hasValue(atSlot: $0) || pool.find(utf8(atSlot: $0)) < 0 }
  }

  /// Returns the string of the key at a slot; −1 if the pool has no use for it.
  func string(atSlot slot: Int) -> Int { slot < strings.count ? strings[slot] : -1 }
}
