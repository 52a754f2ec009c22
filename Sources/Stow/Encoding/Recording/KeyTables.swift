/// The key tables of all key types that have been met, and which of them the message uses.
struct KeyTables: ~Copyable {
  private var tables = GrowableBuffer<KeyTable.Reference>(capacity: 8)
  /// Those with objects in the message, in the order of the first of them.
  private(set) var active = GrowableBuffer<KeyTable.Reference>(capacity: 8)
  /// How many slots the message has given to keys.
  private(set) var slotCount = 0

  init() {}

  deinit {
    for table in tables.buffer {
      table.deinitialize(count: 1)
      table.deallocate()
    }
  }

  subscript(index: Int) -> KeyTable.Reference { tables[index] }

  /// Makes the table of a key type that has not been met.
  mutating func add<Key: CodingKey>(_ keyType: Key.Type) -> KeyTable.Reference {
    let table = KeyTable.Reference.allocate(capacity: 1)
    table.initialize(to: KeyTable(keyType, index: tables.count))
    tables.append(table)
    return table
  }

  /// Notes that an object of the message has the keys of `table`.
  @inline(__always)
  mutating func countUse(_ table: KeyTable.Reference, at begin: Int) {
    if table.pointee.uses == 0 {
      table.pointee.firstUse = begin
      active.append(table)
    }
    table.pointee.uses &+= 1
  }

  /// Puts the active tables into another order.
  mutating func reorder(_ order: [Int]) {
    active.truncate(to: 0)
    for index in order { active.append(tables[index]) }
  }

  mutating func removeAll() {
    for table in active.buffer { table.pointee.removeAll() }
    active.truncate(to: 0)
    slotCount = 0
  }

  /// Gives the next slot to a key of `table` whose entry is fresh.
  @inline(__always)
  mutating func takeSlot(_ table: KeyTable.Reference, ofByte byte: Int, isPresent: Bool) -> Int {
    let slot = table.pointee.takeSlot(ofByte: byte, isPresent: isPresent, number: slotCount)
    slotCount &+= 1
    return slot
  }

  /// The slot of a key of `table` that has been learnt.
  mutating func slot(_ table: KeyTable.Reference, ofByte byte: Int, isPresent: Bool) -> Int {
    let known = table.pointee.slotCount
    let slot = table.pointee.slot(ofByte: byte, isPresent: isPresent, number: slotCount)
    slotCount += table.pointee.slotCount - known
    return slot
  }

  /// Takes back the slots that were given last, and keeps the first `count`.
  mutating func forgetSlots(from count: Int) {
    for table in active.buffer { table.pointee.forgetSlots(from: count) }
    slotCount = count
  }
}

/// The keys of one key type, as an encoder meets them.
///
/// A key type that is one trivial byte, as every synthesized `CodingKeys` is, is known by that byte: it
/// indexes a table of slots. The slots of a message are numbered in the order in which its keys are first
/// asked for; what a key is called is remembered from message to message. Other key types have no slots:
/// their keys are strings, written before the values.
struct KeyTable: ~Copyable {
  /// A table is named by its address: the recording keeps it, and nobody counts references to it.
  typealias Reference = UnsafeMutablePointer<KeyTable>

  /// What is written of a key; trivial, so that looking it up costs no reference counting.
  private struct Name {
    /// Its bytes in a map or a shape; none until it is first asked for.
    var text = UnsafeRawBufferPointer(start: nil, count: 0)
    var utf8 = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The first key that is called the same; usually the key itself.
    var first: UInt8 = 0
  }

  let index: Int
  /// Whether keys are known by their byte.
  let hasSlots: Bool
  /// By the byte of a key: its slot in this message, and marks above it.
  let table: UnsafeMutablePointer<UInt16>
  /// By the byte of a key.
  private let names: UnsafeMutablePointer<Name>
  private var codingKeys: [(any CodingKey)?]
  private var hasAliases = false
  /// Bits that a string has if it may be one of the keys that have been met.
  private var keyFilter: UInt64 = 0

  /// The entry of a key that has no slot yet, and of which more must be found out.
  static let unknown = UInt16.max
  /// The entry of a key that has no slot yet and is like no other: the next slot can be its own.
  static let fresh = unknown - 1
  /// Marks the slot of a key that has been asked for and never had a value.
  static let absent: UInt16 = 0x8000
  private static let size = 256

  /// By slot: the byte of the key.
  private let keys: UnsafeMutablePointer<UInt8>
  private(set) var slotCount = 0
  /// By slot: its number among the slots that the message has given to the keys of all tables.
  private let numbers: UnsafeMutablePointer<UInt32>
  /// The slots that have a value in some object, in order; of a known shape the slots of all its keys, where `noSlot`
  /// stands for one that the message never asked for.
  private let present: UnsafeMutablePointer<UInt16>
  private(set) var presentCount = 0
  /// By slot: the string of the key in the pool; −1 if the pool has no use for it.
  private let strings: UnsafeMutablePointer<Int>
  /// A bit for each of them below 64.
  private(set) var presentMarks: UInt64 = 0
  /// Whether the pool has a use for any key; if not, `strings` says nothing.
  private var hasStrings = false
  /// How many objects have these keys, and the first of them on the tape.
  var uses = 0
  var firstUse = 0
  /// The bytes of the texts of all present keys.
  private(set) var textSize = 0
  /// The number of the shape in the message; −1 if the objects are maps.
  var shape = -1
  /// Whether the shape has keys that have no slot.
  private(set) var hasForeignKeys = false
  /// Whether the key at each place of the shape has the slot of that number, and all have a bit in an object's marks.
  private(set) var isInSlotOrder = false

  /// Stands for the slot of a key that the message never asked for.
  static let noSlot = UInt16.max

  init<Key: CodingKey>(_ keyType: Key.Type, index: Int) {
    self.index = index
    hasSlots = MemoryLayout<Key>.size <= 1 && _isPOD(Key.self)
    let size = hasSlots ? Self.size : 1
    table = .allocate(capacity: size)
    table.initialize(repeating: Self.unknown, count: size)
    names = .allocate(capacity: size)
    names.initialize(repeating: Name(), count: size)
    keys = .allocate(capacity: size)
    numbers = .allocate(capacity: size)
    present = .allocate(capacity: size)
    strings = .allocate(capacity: size)
    codingKeys = Array(repeating: nil, count: size)
  }

  deinit {
    for byte in codingKeys.indices {
      Self.free(names[byte].text)
      Self.free(names[byte].utf8)
    }
    table.deallocate()
    names.deallocate()
    keys.deallocate()
    numbers.deallocate()
    present.deallocate()
    strings.deallocate()
  }

  mutating func removeAll() {
    for slot in 0..<slotCount { forget(keys[slot]) }
    slotCount = 0
    uses = 0
  }

  /// Takes the slots back whose number is `first` or more.
  mutating func forgetSlots(from first: Int) {
    while slotCount > 0, numbers[slotCount - 1] >= first {
      slotCount -= 1
      forget(keys[slotCount])
    }
  }

  private mutating func forget(_ byte: UInt8) {
    table[Int(byte)] = Self.fresh
    if hasAliases { forgetAliases(of: byte) }
  }

  @inline(never)
  private mutating func forgetAliases(of byte: UInt8) {
    let first = names[Int(byte)].first
    for other in codingKeys.indices where codingKeys[other] != nil && names[other].first == first {
      table[other] = other == Int(first) ? Self.fresh : Self.unknown
    }
  }

  private func hasSlot(_ byte: Int) -> Bool { table[byte] < Self.fresh }

  /// The slot of a key that has been learnt, which is given one, with that number, if this message has not asked for it
  /// yet.
  mutating func slot(ofByte byte: Int, isPresent: Bool, number: Int) -> Int {
    if !hasSlot(byte) { table[byte] = newSlot(byte, number: number) }
    let slot = Int(UInt8(truncatingIfNeeded: table[byte]))
    if isPresent {
      table[byte] = UInt16(slot)
      if hasAliases {
        table[Int(keys[slot])] = UInt16(slot)
        table[Int(names[byte].first)] = UInt16(slot)
      }
    }
    return slot
  }

  /// Gives the next slot to a key whose entry is `fresh`.
  @inline(__always)
  mutating func takeSlot(ofByte byte: Int, isPresent: Bool, number: Int) -> Int {
    let slot = slotCount
    numbers[slot] = UInt32(truncatingIfNeeded: number)
    table[byte] = UInt16(truncatingIfNeeded: slot) | (isPresent ? 0 : Self.absent)
    keys[slot] = UInt8(truncatingIfNeeded: byte)
    slotCount = slot &+ 1
    return slot
  }

  private mutating func newSlot(_ byte: Int, number: Int) -> UInt16 {
    precondition(isLearnt(byte))
    let first = Int(names[byte].first)
    if first != byte, hasSlot(first) { return table[first] }
    _ = takeSlot(ofByte: byte, isPresent: false, number: number)
    table[first] = table[byte]
    return table[byte]
  }

  func isLearnt(_ byte: Int) -> Bool { names[byte].text.count > 0 }

  mutating func learn(_ key: any CodingKey, named string: String, byte: Int) {
    let same = codingKeys.indices.first {
      isLearnt($0) && names[$0].utf8.elementsEqual(string.utf8)
    }
    // Of those that are called the same, all have the same first, in whatever order they come up.
    let first = same.map { Int(names[$0].first) } ?? byte
    if first != byte { hasAliases = true }
    codingKeys[byte] = key
    names[byte] = Name(
      text: Self.copy(KeyText.bytes(of: string)), utf8: Self.copy(Array(string.utf8)),
      first: UInt8(first))
    keyFilter |= StringPool.filterBit(names[byte].utf8)
    if first == byte, !hasSlot(byte) { table[byte] = Self.fresh }
  }

  /// A copy with as many bytes before it as `BackwardWriter.shortBytes` wants.
  private static func copy(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let before = BackwardWriter.shortLimit
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: before + bytes.count, alignment: 1)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    let copy = UnsafeMutableRawBufferPointer(rebasing: memory[before..<before + bytes.count])
    copy.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(copy)
  }

  private static func free(_ copy: UnsafeRawBufferPointer) {
    guard let start = copy.baseAddress else { return }
    (start - BackwardWriter.shortLimit).deallocate()
  }

  func codingKey(atSlot slot: Int) -> (any CodingKey)? {
    slot < slotCount ? codingKeys[Int(keys[slot])] : nil
  }

  @inline(__always)
  func text(atSlot slot: Int) -> UnsafeRawBufferPointer {
    precondition(slot < slotCount)
    return names[Int(keys[slot])].text
  }

  func utf8(atSlot slot: Int) -> UnsafeRawBufferPointer {
    precondition(slot < slotCount)
    return names[Int(keys[slot])].utf8
  }

  /// Numbers the slots anew: those in `slots` have values and come first.
  func reorder(_ slots: [Int]) {
    let rest = (0..<slotCount).filter { !slots.contains($0) }
    let bytes = (slots + rest).map { keys[$0] }
    for (slot, byte) in bytes.enumerated() {
      keys[slot] = byte
      table[Int(byte)] = UInt16(slot) | (slot < slots.count ? 0 : Self.absent)
    }
  }

  // MARK: what a complete recording has

  /// Notes which slots have values, for a message whose recording is complete.
  ///
  /// - Parameter all: Whether the shape has the others too.
  mutating func collectPresent(all: Bool = false) {
    presentCount = 0
    presentMarks = 0
    textSize = 0
    hasForeignKeys = false
    for slot in 0..<slotCount where all || hasValue(atSlot: slot) {
      present[presentCount] = UInt16(slot)
      presentCount += 1
      presentMarks |= 1 << UInt64(slot)
      textSize += text(atSlot: slot).count
    }
    isInSlotOrder = presentCount == slotCount && slotCount <= 64
  }

  private func hasValue(atSlot slot: Int) -> Bool { table[Int(keys[slot])] & Self.absent == 0 }

  /// The UTF-8 of the keys that have values, in order.
  var presentNames: [UnsafeRawBufferPointer] { presentSlots.map { utf8(atSlot: Int($0)) } }

  /// What the message asked of a slot: for which key, and whether that has a value.
  private func state(ofSlot slot: Int) -> UInt16 { UInt16(keys[slot]) | table[Int(keys[slot])] & Self.absent }

  /// The state of each slot: on two messages with the same, objects have the same keys.
  var slotStates: [UInt16] { (0..<slotCount).map { state(ofSlot: $0) } }

  @inline(__always)
  func hasStates(_ states: UnsafeBufferPointer<UInt16>) -> Bool {
    guard states.count == slotCount else { return false }
    for slot in 0..<slotCount where state(ofSlot: slot) != states[slot] { return false }
    return true
  }

  /// The slot of a key of that name; `noSlot` if the message did not ask for any.
  func slot(named name: UnsafeRawBufferPointer) -> UInt16 {
    for slot in 0..<slotCount where utf8(atSlot: slot).elementsEqual(name) { return UInt16(slot) }
    return Self.noSlot
  }

  /// What is to be known of the slots of a known shape's keys, besides the slots themselves.
  struct ShapeSlots: BitwiseCopyable {
    let marks: UInt64
    let hasForeignKeys: Bool
    let isInSlotOrder: Bool

    init(_ slots: [UInt16]) {
      marks = slots.reduce(0) { $1 == noSlot ? $0 : $0 | 1 << UInt64($1) }
      hasForeignKeys = slots.contains(noSlot)
      isInSlotOrder = slots.count <= 64 && slots.elementsEqual(slots.indices.lazy.map(UInt16.init))
    }
  }

  /// Makes the objects records of a shape that the reader knows.
  ///
  /// - Parameter slots: The slot of each key of the shape.
  mutating func take(shape: Int, slots: UnsafeBufferPointer<UInt16>, _ known: ShapeSlots) {
    precondition(slots.count <= Self.size)
    self.shape = shape
    hasStrings = false
    hasForeignKeys = known.hasForeignKeys
    isInSlotOrder = known.isInSlotOrder
    presentCount = slots.count
    presentMarks = known.marks
    if let start = slots.baseAddress { present.update(from: start, count: slots.count) }
  }

  var presentSlots: UnsafeBufferPointer<UInt16> { UnsafeBufferPointer(start: present, count: presentCount) }

  /// Marks every slot as never having had a value, before values are counted anew.
  func clearPresent() {
    for slot in 0..<slotCount { table[Int(keys[slot])] |= Self.absent }
  }

  func markPresent(slot: Int) { table[Int(keys[slot])] &= ~Self.absent }

  /// Looks the keys of the message up in its pool, and counts how often they are written.
  mutating func internKeys(_ pool: inout StringPool) {
    hasStrings = true
    let written = shape >= 0 ? 1 : uses
    for slot in presentSlots {
      let string = pool.intern(utf8(atSlot: Int(slot)))
      pool.countKeyUses(string, written)
      strings[Int(slot)] = string
    }
  }

  /// The same for the only object of a message that has keys. They are written once, so that the pool has no use
  /// for those that are no value besides: of most messages that is all.
  mutating func settleSingleObject(_ pool: inout StringPool) {
    if settleApart(from: pool) { return }
    for slot in 0..<slotCount {
      let string = table[Int(keys[slot])] & Self.absent == 0 ? pool.find(utf8(atSlot: slot)) : -1
      if string >= 0 { pool.countKeyUses(string) }
      strings[slot] = string
    }
  }

  /// The same if no key can be among the strings of the pool, told by their bits; false if one can.
  @inline(__always)
  mutating func settleApart(from pool: borrowing StringPool) -> Bool {
    shape = -1
    hasStrings = pool.mayContain(keyFilter)
    return !hasStrings
  }

  /// The string of the key at a slot; −1 if the pool has no use for it.
  func string(atSlot slot: Int) -> Int {
    precondition(slot < slotCount)
    return hasStrings ? strings[slot] : -1
  }
}
