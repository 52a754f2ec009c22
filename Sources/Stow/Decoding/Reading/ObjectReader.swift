/// Which object a keyed container reads, and how far it got.
///
/// Keys are nearly always asked for in the order in which they stand: the next value is at hand, and only
/// another key than the next searches. A container refers to this by way of the standard library's own object, so that
/// both can be used again.
final class ObjectReader {
  // Both outlive every use: they belong to the session, which outlives every container.
  private let sessionReference: Unmanaged<DecodingSession>
  let schemaReference: Unmanaged<KeyTable>

  @exclusivity(unchecked) private(set) var node = PathNode.top
  /// The table of the shape, by the byte of a key.
  @exclusivity(unchecked) private var table: UnsafeMutablePointer<UInt16>
  /// The value that is next, and its slot; `noSlot` where slots do not count, or none is left.
  @exclusivity(unchecked) var current = 0
  @exclusivity(unchecked) private var nextSlot = ObjectReader.noSlot
  @exclusivity(unchecked) private(set) var start = 0
  @exclusivity(unchecked) private(set) var end = 0
  /// The shape; −1 for a map.
  @exclusivity(unchecked) private var shape = -1
  @exclusivity(unchecked) private var keyCount = 0
  /// The names of the shape's keys, once one was asked for by its string. The session keeps them.
  @exclusivity(unchecked) private var shapeNames: Unmanaged<ShapeNames>?
  /// A partial record: where its bits stand. −1 if every key has a value.
  @exclusivity(unchecked) private var presence = -1
  /// The bits themselves, if there are no more than 64.
  @exclusivity(unchecked) private var marks: UInt64 = 0
  /// The values by slot, by text or by name, once they were asked for out of order.
  @exclusivity(unchecked) private var offsets: [Int] = []
  @exclusivity(unchecked) var entryIndex: EntryIndex?
  /// Whether all keys of the map are known to be distinct.
  @exclusivity(unchecked) private var keysAreChecked = false
  @exclusivity(unchecked) var entries: [KeyName: Int] = [:]
  /// The table that the object is a row of; what is found then is a column.
  @exclusivity(unchecked) private(set) var source: ElementSource?
  /// The same, to be compared without counting a reference.
  @exclusivity(unchecked) private var sourceIdentity: ObjectIdentifier?
  /// Where that row stands.
  var row: Int { start }

  /// No table has it, however many keys a shape has.
  private static let noSlot = -1

  init(session: DecodingSession, schema: KeyTable) {
    sessionReference = Unmanaged.passUnretained(session)
    schemaReference = Unmanaged.passUnretained(schema)
    table = schema.emptyTable
  }

  @inline(__always)
  func withSession<Result>(_ body: (DecodingSession) throws -> Result) rethrows -> Result {
    try sessionReference._withUnsafeGuaranteedRef { try body($0) }
  }

  // MARK: objects

  /// Makes this the cursor of the object with the given header.
  @inline(__always)
  func open(_ object: ObjectHeader, _ session: DecodingSession, _ node: PathNode) throws(FormatError) {
    forget(node)
    end = object.body.upperBound
    start = object.body.lowerBound
    current = start
    guard let shape = object.shape else {
      self.shape = -1
      keysAreChecked = false
      table = schemaReference._withUnsafeGuaranteedRef { $0.emptyTable }
      nextSlot = Self.noSlot
      return
    }
    guard shape < session.tables.shapeCount else { try fail(.malformed, at: start) }
    self.shape = shape
    keyCount = session.tables.keyCount(ofShape: shape)
    table = schemaReference._withUnsafeGuaranteedRef { $0.table(forShape: shape, message: session.message) }
    presence = -1
    nextSlot = 0
    if object.isPartial {
      try openPartial(session)
    } else if keyCount > end &- start {
      // Every value takes a byte; without this, few bytes could stand for many keys.
      try fail(.malformed, at: start)
    }
  }

  private func openPartial(_ session: DecodingSession) throws(FormatError) {
    presence = start
    start = try session.reader.endOfPresence(in: start..<end, keyCount: keyCount)
    if keyCount <= 64 {
      let bits = UInt64(bitPattern: try session.reader.signed(at: presence, width: start - presence))
      marks = bits & .max >> UInt64(64 - keyCount)
    }
    current = start
    nextSlot = slot(after: -1, session)
    if nextSlot == Self.noSlot { try checkEnd(start) }
  }

  /// Makes this the cursor of a row of a table.
  func open(
    row offset: Int, of source: ElementSource, shape: Int, _ session: DecodingSession,
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
    keyCount = session.tables.keyCount(ofShape: shape)
    table = schemaReference._withUnsafeGuaranteedRef { $0.table(forShape: shape, message: session.message) }
    start = offset
    presence = -1
    nextSlot = Self.noSlot
  }

  /// Lets go of what keeps the session, and of memory, when nobody holds the container any more.
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
  private func slot(after slot: Int, _ session: DecodingSession) -> Int {
    if presence < 0 {
      return slot &+ 1 < keyCount ? slot &+ 1 : Self.noSlot
    }
    return presentSlot(after: slot, session)
  }

  @inline(__always)
  private func presentSlot(after slot: Int, _ session: DecodingSession) -> Int {
    guard keyCount <= 64 else { return presentSlot(ofMany: slot + 1, session) }
    let rest = slot < 63 ? marks & .max &<< UInt64(truncatingIfNeeded: slot &+ 1) : 0
    return rest == 0 ? Self.noSlot : rest.trailingZeroBitCount
  }

  /// The first slot from `first` on that has a value, among more than 64.
  @inline(never)
  private func presentSlot(ofMany first: Int, _ session: DecodingSession) -> Int {
    var slot = first
    while slot < keyCount {
      let bits = session.reader.base[presence + slot >> 3] >> UInt8(slot & 7)
      if bits != 0 {
        slot += bits.trailingZeroBitCount
        return slot < keyCount ? slot : Self.noSlot
      }
      slot = (slot | 7) + 1
    }
    return Self.noSlot
  }

  @inline(__always)
  private func isPresent(_ slot: Int, _ session: DecodingSession) -> Bool {
    if presence < 0 { return true }
    if keyCount <= 64 { return marks &>> UInt64(truncatingIfNeeded: slot) & 1 == 1 }
    return session.reader.bit(slot, at: presence)
  }

  /// The path of the object. The byte before its values is none of theirs, and a row has none before it.
  func codingPath(_ session: DecodingSession) -> [any CodingKey] {
    session.codingPath(node, at: source == nil ? start - 1 : start)
  }

  // MARK: finding

  /// Where the value for `key` stands; −1 if the object has none. Makes it the next.
  @inline(__always)
  func find<Key: CodingKey>(_ key: Key) throws(FormatError) -> Int {
    let byte = keyByte(key)
    let slot = table[byte]
    // A shape may have so many keys that a slot looks like a mark.
    if Int(slot) == nextSlot, slot < KeyTable.missing { return current }
    if shape < 0 {
      if let value = nextEntry(ofByte: byte) { return value }
    } else if slot < KeyTable.missing {
      if source != nil { return Int(slot) }
      if withSession({ !isPresent(Int(slot), $0) }) { return -1 }
    }
    return try findOutOfLine(key, byte: byte)
  }

  /// The value for `key` in a column of `Double` or `Float` as they are; nil for all others.
  @inline(__always)
  func wholeDouble<Key: CodingKey>(_ key: Key) throws(FormatError) -> Double? {
    guard let source else { return nil }
    let slot = table[keyByte(key)]
    guard slot < KeyTable.missing else { return nil }
    return try source.wholeDouble(row: start, slot: Int(slot))
  }

  @inline(never)
  private func findOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) throws(FormatError) -> Int {
    try sessionReference.borrow { session throws(FormatError) in
      if shape < 0 {
        if let value = try nextEntry(named: key, session) { return value }
        return try findEntry(key, session)
      }
      if try isNext(key, session) { return current }
      return try findSlot(key, byte: byte, session)
    }
  }

  /// Whether a key that is known by its string is that of the next value.
  @inline(__always)
  private func isNext<Key: CodingKey>(_ key: Key, _ session: DecodingSession) throws(FormatError) -> Bool {
    guard nextSlot != Self.noSlot, !schemaReference._withUnsafeGuaranteedRef({ $0.hasBytes }) else {
      return false
    }
    if shapeNames == nil { shapeNames = try session.names(ofShape: shape) }
    return shapeNames?._withUnsafeGuaranteedRef { shape in
      // Comparing long names may take long.
      shape.areShort && nextSlot < shape.names.count && shape.names[nextSlot] == key.stringValue
    } ?? false
  }

  private func findSlot<Key: CodingKey>(
    _ key: Key, byte: Int, _ session: DecodingSession
  ) throws(FormatError) -> Int {
    guard let slot = try slot(of: key, byte: byte, session), isPresent(slot, session) else { return -1 }
    if source != nil { return slot }
    try seek(slot, session)
    return current
  }

  /// The slot of `key` in the shape.
  func slot<Key: CodingKey>(of key: Key, byte: Int, _ session: DecodingSession) throws(FormatError) -> Int? {
    try schemaReference.borrow { schema throws(FormatError) in
      try self.slot(of: key, byte: byte, schema, session)
    }
  }

  private func slot<Key: CodingKey>(
    of key: Key, byte: Int, _ schema: KeyTable, _ session: DecodingSession
  ) throws(FormatError) -> Int? {
    guard schema.hasBytes else {
      return try slot(of: key.stringValue, session)
    }
    let known = table[byte]
    if known < KeyTable.missing { return Int(known) }
    if known == KeyTable.missing, keyCount < Int(KeyTable.missing) { return nil }
    let found = try lookUp(key, text: schema.text(of: key, byte: byte).bytes, session)
    if table != schema.emptyTable {
      table[byte] = found.flatMap { UInt16(exactly: $0) } ?? KeyTable.missing
    }
    return found
  }

  private func slot(of name: String, _ session: DecodingSession) throws(FormatError) -> Int? {
    let names = try session.names(ofShape: shape).takeUnretainedValue()
    // Comparing long ones may take long.
    if names.areShort, names.names.indices.contains(nextSlot), names.names[nextSlot] == name {
      return nextSlot
    }
    return try session.slot(of: name, inShape: shape)
  }

  private func lookUp<Key: CodingKey>(
    _ key: Key, text: UnsafeRawBufferPointer, _ session: DecodingSession
  ) throws(FormatError) -> Int? {
    if nextSlot != Self.noSlot, nextSlot < keyCount,
      try session.hasKey(text, at: session.tables.key(nextSlot, ofShape: shape))
    {
      return nextSlot
    }
    // Packed texts are ASCII, which only a text that is not packed can equal in another spelling.
    var isPacked = text.first.map { $0 < KeyText.plain } ?? false
    for slot in 0..<keyCount {
      let key = session.tables.key(slot, ofShape: shape)
      if try session.hasKey(text, at: key) { return slot }
      if try session.reader.byte(at: key) >= KeyText.plain { isPacked = false }
    }
    if isPacked { return nil }
    return try session.slot(of: key.stringValue, inShape: shape)
  }

  /// Moves to a slot that has a value.
  private func seek(_ slot: Int, _ session: DecodingSession) throws(FormatError) {
    if offsets.isEmpty {
      if slot >= nextSlot, nextSlot != Self.noSlot {
        while nextSlot != slot { try advance(to: session.reader.end(of: current), session) }
        return
      }
      try index(session)
    }
    current = offsets[slot]
    nextSlot = slot
  }

  /// Notes where every value of the record stands.
  private func index(_ session: DecodingSession) throws(FormatError) {
    offsets = Array(repeating: -1, count: keyCount)
    var offset = start
    var slot = slot(after: -1, session)
    while slot != Self.noSlot {
      offsets[slot] = offset
      offset = try session.reader.end(of: offset)
      guard offset <= end else { try fail(.malformed, at: offset) }
      slot = self.slot(after: slot, session)
    }
    try checkEnd(offset)
  }

  /// Goes on behind the value that was next.
  @inline(__always)
  func advance(to offset: Int, _ session: DecodingSession) throws(FormatError) {
    guard offset <= end else { try fail(.malformed, at: current) }
    current = offset
    if nextSlot != Self.noSlot {
      nextSlot = slot(after: nextSlot, session)
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
  func find(name: String, _ session: DecodingSession) throws(FormatError) -> Int {
    if shape >= 0 {
      let slot = try session.slot(of: name, inShape: shape)
      guard let slot, isPresent(slot, session) else { return -1 }
      if source != nil { return slot }
      try seek(slot, session)
      return current
    }
    if entries.isEmpty { try indexEntries(session) }
    guard let entry = entries[session.keyName(name)] else { return -1 }
    current = entry
    return try session.tables.endOfKey(session.reader, at: entry)
  }

  /// All keys that have a value, in order.
  func keys(_ session: DecodingSession) throws(FormatError) -> AnyKeyList {
    guard shape >= 0 else { return keyList(try mapNames(session)) }
    let shapeNames = try session.names(ofShape: shape)
    if presence < 0 { return shapeNames._withUnsafeGuaranteedRef { $0.keys(schemaReference) } }
    let names = shapeNames._withUnsafeGuaranteedRef { $0.names }
    return keyList(names.indices.filter { isPresent($0, session) }.map { names[$0] })
  }

  private func keyList(_ names: [String]) -> AnyKeyList {
    schemaReference._withUnsafeGuaranteedRef { $0.makeKeyList(names) }
  }

  /// Checks that the keys of the map are distinct, if that was not done before.
  func checkKeys(_ session: DecodingSession) throws(FormatError) {
    if keysAreChecked { return }
    entryIndex = try session.checkKeys(ofMap: start..<end)
    keysAreChecked = true
  }

  private func mapNames(_ session: DecodingSession) throws(FormatError) -> [String] {
    try checkKeys(session)
    var result: [String] = []
    var offset = start
    while offset < end {
      result.append(try session.keyName(at: offset))
      offset = try session.reader.end(of: session.tables.endOfKey(session.reader, at: offset))
    }
    return result
  }
}
