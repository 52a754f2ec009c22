/// The key tables of all key types that have been met, and which of them the message uses.
struct KeyTables: ~Copyable {
  /// Those of all messages, by their indices.
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

  @inline(__always)
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

  /// Forgets the message.
  @inline(__always)
  mutating func removeAll() {
    for table in active.buffer { table.pointee.removeAll() }
    active.truncate(to: 0)
    slotCount = 0
  }

  // MARK: slots

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

  /// Takes back the slots that were given last, but the first `count`.
  mutating func forgetSlots(from count: Int) {
    for table in active.buffer { table.pointee.forgetSlots(from: count) }
    slotCount = count
  }
}
