/// Reads the values of one object by their keys: a map, a record, or a row of a table.
///
/// Keys are nearly always asked for in the order in which they stand: the next value is at hand, and only
/// another key than the next searches. A reader is used again for other objects.
final class ObjectReader {
  // Both belong to whoever owns the reader.
  let messageReference: Unmanaged<Message>
  let keyTable: Unmanaged<DecodingKeyTable>

  private(set) var node = PathNode.top
  /// The indices of the keys of the shape, by their bytes.
  private var indices: UnsafeMutablePointer<UInt16>
  /// The value that is next, and the index of its key; `noKey` in a map, in a row, and behind the last.
  var current = 0
  private var nextSlot = ObjectReader.noSlot
  private(set) var start = 0
  private(set) var end = 0
  /// The shape; −1 for a map.
  private var shape = -1
  private var keyCount = 0
  /// The names of the shape's keys, once one was asked for by its string. The message keeps them.
  private var shapeNames: Unmanaged<ShapeNames>?
  /// A partial record: where its bits stand. −1 if every key has a value.
  private var presence = -1
  /// The bits themselves, if there are no more than 64.
  private var marks: UInt64 = 0
  /// The values by slot, by text or by name, once they were asked for out of order.
  private var offsets: [Int] = []
  var entryIndex: EntryIndex?
  /// Whether all keys of the map are known to be distinct.
  private var keysAreChecked = false
  var entries: [KeyName: Int] = [:]
  /// The table that the object is a row of; what is found then is a column.
  private(set) var source: ElementSource?
  /// The same, to be compared without counting a reference.
  private var sourceIdentity: ObjectIdentifier?
  /// Where that row stands.
  var row: Int { start }

  /// No table has it, however many keys a shape has.
  private static let noSlot = -1

  init(_ message: Message, _ keyTable: DecodingKeyTable) {
    messageReference = Unmanaged.passUnretained(message)
    self.keyTable = Unmanaged.passUnretained(keyTable)
    indices = keyTable.emptyTable
  }

  @inline(__always)
  func withMessage<Result, Failure: Error>(
    _ body: (Message) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try messageReference.borrow(body)
  }

  // MARK: objects

  /// Goes to the object with the given header.
  @inline(__always)
  func open(_ object: ObjectHeader, _ message: Message, _ node: PathNode) throws(FormatError) {
    forget(node)
    end = object.body.upperBound
    start = object.body.lowerBound
    current = start
    guard let shape = object.shape else {
      self.shape = -1
      keysAreChecked = false
      indices = keyTable._withUnsafeGuaranteedRef { $0.emptyTable }
      nextSlot = Self.noSlot
      return
    }
    guard shape < message.tables.shapeCount else { try fail(.malformed, at: start) }
    self.shape = shape
    keyCount = message.tables.keyCount(ofShape: shape)
    indices = keyTable._withUnsafeGuaranteedRef { $0.table(forShape: shape, message: message.number) }
    presence = -1
    nextSlot = 0
    if object.isPartial {
      try openPartial(message)
    } else if keyCount > end &- start {
      // Every value takes a byte; without this, few bytes could stand for many keys.
      try fail(.malformed, at: start)
    }
  }

  private func openPartial(_ message: Message) throws(FormatError) {
    presence = start
    start = try message.reader.endOfPresence(in: start..<end, keyCount: keyCount)
    if keyCount <= 64 {
      let bits = UInt64(bitPattern: try message.reader.signed(at: presence, width: start - presence))
      marks = bits & .max >> UInt64(64 - keyCount)
    }
    current = start
    nextSlot = slot(after: -1, message)
    if nextSlot == Self.noSlot { try checkEnd(start) }
  }

  /// Goes to a row of a table.
  func open(
    row offset: Int, of source: ElementSource, shape: Int, _ message: Message,
    _ node: PathNode
  ) {
    // Rows mostly come after each other.
    if sourceIdentity == ObjectIdentifier(source) {
      self.node = node
      start = offset
      return
    }
    forget(node)
    self.source = source
    sourceIdentity = ObjectIdentifier(source)
    self.shape = shape
    keyCount = message.tables.keyCount(ofShape: shape)
    indices = keyTable._withUnsafeGuaranteedRef { $0.table(forShape: shape, message: message.number) }
    start = offset
    presence = -1
    nextSlot = Self.noSlot
  }

  /// Lets go of what keeps the message, and of memory, when nobody holds the container any more.
  @inline(__always)
  func finish() {
    if sourceIdentity != nil {
      source = nil
      sourceIdentity = nil
    }
    if !offsets.isEmpty { offsets.removeAll(keepingCapacity: offsets.count < 1024) }
    if !entries.isEmpty { entries = [:] }
    if entryIndex != nil { entryIndex = nil }
  }

  @inline(__always)
  private func forget(_ node: PathNode) {
    self.node = node
    shapeNames = nil
    finish()
  }

  /// The first slot after `slot` that has a value.
  @inline(__always)
  private func slot(after slot: Int, _ message: Message) -> Int {
    if presence < 0 {
      return slot &+ 1 < keyCount ? slot &+ 1 : Self.noSlot
    }
    return presentSlot(after: slot, message)
  }

  @inline(__always)
  private func presentSlot(after slot: Int, _ message: Message) -> Int {
    guard keyCount <= 64 else { return presentSlot(ofMany: slot + 1, message) }
    let rest = slot < 63 ? marks & .max &<< UInt64(truncatingIfNeeded: slot &+ 1) : 0
    return rest == 0 ? Self.noSlot : rest.trailingZeroBitCount
  }

  /// The first slot from `first` on that has a value, among more than 64.
  @inline(never)
  private func presentSlot(ofMany first: Int, _ message: Message) -> Int {
    var slot = first
    while slot < keyCount {
      let bits = message.reader.base[presence + slot >> 3] >> UInt8(slot & 7)
      if bits != 0 {
        slot += bits.trailingZeroBitCount
        return slot < keyCount ? slot : Self.noSlot
      }
      slot = (slot | 7) + 1
    }
    return Self.noSlot
  }

  @inline(__always)
  private func isPresent(_ slot: Int, _ message: Message) -> Bool {
    if presence < 0 { return true }
    if keyCount <= 64 { return marks &>> UInt64(truncatingIfNeeded: slot) & 1 == 1 }
    return message.reader.bit(slot, at: presence)
  }

  /// An offset that no value within the object has. The byte before its values is none of theirs, and a row has none
  /// before it.
  var offset: Int { source == nil ? start - 1 : start }

  // MARK: finding

  /// Where the value for `key` stands; −1 if the object has none. Makes it the next.
  @inline(__always)
  func find<Key: CodingKey>(_ key: Key) throws(FormatError) -> Int {
    let byte = keyByte(key)
    let slot = indices[byte]
    // A shape may have so many keys that a slot looks like a mark.
    if Int(slot) == nextSlot, slot < DecodingKeyTable.missing { return current }
    if shape < 0 {
      if let value = nextEntry(ofByte: byte) { return value }
    } else if slot < DecodingKeyTable.missing {
      if source != nil { return Int(slot) }
      if withMessage({ !isPresent(Int(slot), $0) }) { return -1 }
    }
    return try findOutOfLine(key, byte: byte)
  }

  /// The value for `key` in a column of `Double` or `Float` as they are; nil for all others.
  @inline(__always)
  func wholeDouble<Key: CodingKey>(_ key: Key) throws(FormatError) -> Double? {
    guard let source else { return nil }
    let slot = indices[keyByte(key)]
    guard slot < DecodingKeyTable.missing else { return nil }
    return try withMessage { message throws(FormatError) in
      try source.wholeDouble(row: start, slot: Int(slot), message.reader)
    }
  }

  @inline(never)
  private func findOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) throws(FormatError) -> Int {
    try withMessage { message throws(FormatError) in
      if shape < 0 {
        if let value = try nextEntry(named: key, message) { return value }
        return try findEntry(key, message)
      }
      if try isNext(key, message) { return current }
      return try findSlot(key, byte: byte, message)
    }
  }

  /// Whether a key that is known by its string is that of the next value.
  @inline(__always)
  private func isNext<Key: CodingKey>(_ key: Key, _ message: Message) throws(FormatError) -> Bool {
    guard nextSlot != Self.noSlot, !keyTable._withUnsafeGuaranteedRef({ $0.hasBytes }) else {
      return false
    }
    if shapeNames == nil { shapeNames = try message.names(ofShape: shape) }
    return shapeNames?._withUnsafeGuaranteedRef { shape in
      // Comparing long names may take long.
      shape.areShort && nextSlot < shape.names.count && shape.names[nextSlot] == key.stringValue
    } ?? false
  }

  private func findSlot<Key: CodingKey>(
    _ key: Key, byte: Int, _ message: Message
  ) throws(FormatError) -> Int {
    guard let slot = try slot(of: key, byte: byte, message), isPresent(slot, message) else { return -1 }
    if source != nil { return slot }
    try seek(slot, message)
    return current
  }

  /// The slot of `key` in the shape.
  func slot<Key: CodingKey>(of key: Key, byte: Int, _ message: Message) throws(FormatError) -> Int? {
    try keyTable.borrow { keyTable throws(FormatError) in
      try self.slot(of: key, byte: byte, keyTable, message)
    }
  }

  private func slot<Key: CodingKey>(
    of key: Key, byte: Int, _ keyTable: DecodingKeyTable, _ message: Message
  ) throws(FormatError) -> Int? {
    guard keyTable.hasBytes else {
      return try slot(of: key.stringValue, message)
    }
    let known = indices[byte]
    if known < DecodingKeyTable.missing { return Int(known) }
    if known == DecodingKeyTable.missing, keyCount < Int(DecodingKeyTable.missing) { return nil }
    let found = try lookUp(key, text: keyTable.text(of: key, byte: byte).bytes, message)
    if indices != keyTable.emptyTable {
      indices[byte] = found.flatMap { UInt16(exactly: $0) } ?? DecodingKeyTable.missing
    }
    return found
  }

  private func slot(of name: String, _ message: Message) throws(FormatError) -> Int? {
    let names = try message.names(ofShape: shape).takeUnretainedValue()
    // Comparing long ones may take long.
    if names.areShort, names.names.indices.contains(nextSlot), names.names[nextSlot] == name {
      return nextSlot
    }
    return try message.keyIndex(of: name, inShape: shape)
  }

  private func lookUp<Key: CodingKey>(
    _ key: Key, text: UnsafeRawBufferPointer, _ message: Message
  ) throws(FormatError) -> Int? {
    if nextSlot != Self.noSlot, nextSlot < keyCount,
      try message.hasKey(text, at: message.tables.key(nextSlot, ofShape: shape))
    {
      return nextSlot
    }
    // Packed texts are ASCII, which only a text that is not packed can equal in another spelling.
    var isPacked = text.first.map { $0 < KeyText.plain } ?? false
    for slot in 0..<keyCount {
      let key = message.tables.key(slot, ofShape: shape)
      if try message.hasKey(text, at: key) { return slot }
      if try message.reader.byte(at: key) >= KeyText.plain { isPacked = false }
    }
    if isPacked { return nil }
    return try message.keyIndex(of: key.stringValue, inShape: shape)
  }

  /// Moves to a slot that has a value.
  private func seek(_ slot: Int, _ message: Message) throws(FormatError) {
    if offsets.isEmpty {
      if slot >= nextSlot, nextSlot != Self.noSlot {
        while nextSlot != slot { try advance(to: message.reader.end(of: current), message) }
        return
      }
      try index(message)
    }
    current = offsets[slot]
    nextSlot = slot
  }

  /// Notes where every value of the record stands.
  private func index(_ message: Message) throws(FormatError) {
    offsets = Array(repeating: -1, count: keyCount)
    var offset = start
    var slot = slot(after: -1, message)
    while slot != Self.noSlot {
      offsets[slot] = offset
      offset = try message.reader.end(of: offset)
      guard offset <= end else { try fail(.malformed, at: offset) }
      slot = self.slot(after: slot, message)
    }
    try checkEnd(offset)
  }

  /// Goes on behind the value that was next.
  @inline(__always)
  func advance(to offset: Int, _ message: Message) throws(FormatError) {
    guard offset <= end else { try fail(.malformed, at: current) }
    current = offset
    if nextSlot != Self.noSlot {
      nextSlot = slot(after: nextSlot, message)
      if nextSlot == Self.noSlot { try checkEnd(offset) }
    }
  }

  /// Checks that the record ends where its last value does.
  @inline(__always)
  private func checkEnd(_ offset: Int) throws(FormatError) {
    guard offset == end else { try fail(.malformed, at: offset) }
  }

  // MARK: names

  /// Where the value for the key called `name` stands; −1 if the object has none.
  func find(name: String, _ message: Message) throws(FormatError) -> Int {
    if shape >= 0 {
      let slot = try message.keyIndex(of: name, inShape: shape)
      guard let slot, isPresent(slot, message) else { return -1 }
      if source != nil { return slot }
      try seek(slot, message)
      return current
    }
    if entries.isEmpty { try indexEntries(message) }
    guard let entry = entries[message.name(name)] else { return -1 }
    current = entry
    return try message.tables.endOfKey(message.reader, at: entry)
  }

  /// All keys that have a value, in order.
  func keys(_ message: Message) throws(FormatError) -> AnyKeyList {
    guard shape >= 0 else { return keyList(try mapNames(message)) }
    let shapeNames = try message.names(ofShape: shape)
    if presence < 0 { return shapeNames._withUnsafeGuaranteedRef { $0.keys(keyTable) } }
    let names = shapeNames._withUnsafeGuaranteedRef { $0.names }
    return keyList(names.indices.filter { isPresent($0, message) }.map { names[$0] })
  }

  private func keyList(_ names: [String]) -> AnyKeyList {
    keyTable._withUnsafeGuaranteedRef { $0.makeKeyList(names) }
  }

  /// Checks that the keys of the map are distinct, if that was not done before.
  func checkKeys(_ message: Message) throws(FormatError) {
    if keysAreChecked { return }
    entryIndex = try EntryIndex.checkingKeys(ofMap: start..<end, message)
    keysAreChecked = true
  }

  private func mapNames(_ message: Message) throws(FormatError) -> [String] {
    try checkKeys(message)
    var result: [String] = []
    var offset = start
    while offset < end {
      result.append(try message.keyString(at: offset))
      offset = try message.reader.end(of: message.tables.endOfKey(message.reader, at: offset))
    }
    return result
  }
}
