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
  private var nextIndex = ObjectReader.noKey
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
  /// The values by the indices of their keys, or the entries of a map, once they were asked for out of order.
  private var offsets: [Int] = []
  var entryIndex: TextIndex?
  /// Whether all keys of the map are known to be distinct.
  private var keysAreChecked = false
  /// The table that the object is a row of; what is found then is a column.
  private(set) var source: ElementSource?
  /// The same, to be compared without counting a reference.
  private var sourceIdentity: ObjectIdentifier?
  /// Where that row stands.
  var row: Int { start }

  /// No table has it, however many keys a shape has.
  private static let noKey = -1

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
      nextIndex = Self.noKey
      return
    }
    guard shape < message.tables.shapeCount else { try fail(.malformed, at: start) }
    self.shape = shape
    keyCount = message.tables.keyCount(ofShape: shape)
    indices = keyTable._withUnsafeGuaranteedRef { $0.table(forShape: shape, message) }
    presence = -1
    nextIndex = 0
    if object.isPartial {
      try openPartial(message)
    } else if keyCount > end &- start {
      // Every value takes a byte; without this, few bytes could stand for many keys.
      try fail(.malformed, at: start)
    }
  }

  private func openPartial(_ message: Message) throws(FormatError) {
    presence = start
    start = try Records.endOfPresence(message.reader, in: start..<end, keyCount: keyCount)
    if keyCount <= 64 {
      let bits = UInt64(bitPattern: try message.reader.signed(at: presence, width: start - presence))
      marks = bits & .max >> UInt64(64 - keyCount)
    }
    current = start
    nextIndex = keyIndex(after: -1, message)
    if nextIndex == Self.noKey { try checkEnd(start) }
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
    indices = keyTable._withUnsafeGuaranteedRef { $0.table(forShape: shape, message) }
    start = offset
    presence = -1
    nextIndex = Self.noKey
  }

  /// Lets go of what keeps the message, and of memory, when nobody holds the container any more.
  @inline(__always)
  func finish() {
    if sourceIdentity != nil {
      source = nil
      sourceIdentity = nil
    }
    if !offsets.isEmpty { offsets = [] }
    if entryIndex != nil { entryIndex = nil }
  }

  @inline(__always)
  private func forget(_ node: PathNode) {
    self.node = node
    shapeNames = nil
    finish()
  }

  /// Returns the index of the first key after `keyIndex` that has a value.
  @inline(__always)
  private func keyIndex(after keyIndex: Int, _ message: Message) -> Int {
    if presence < 0 {
      return keyIndex &+ 1 < keyCount ? keyIndex &+ 1 : Self.noKey
    }
    return presentIndex(after: keyIndex, message)
  }

  @inline(__always)
  private func presentIndex(after keyIndex: Int, _ message: Message) -> Int {
    guard keyCount <= 64 else { return presentIndex(ofMany: keyIndex + 1, message) }
    let rest = keyIndex < 63 ? marks & .max &<< UInt64(truncatingIfNeeded: keyIndex &+ 1) : 0
    return rest == 0 ? Self.noKey : rest.trailingZeroBitCount
  }

  /// Returns the index of the first key from `first` on that has a value, among more than 64.
  @inline(never)
  private func presentIndex(ofMany first: Int, _ message: Message) -> Int {
    var keyIndex = first
    while keyIndex < keyCount {
      let bits = message.reader.base[presence + keyIndex >> 3] >> UInt8(keyIndex & 7)
      if bits != 0 {
        keyIndex += bits.trailingZeroBitCount
        return keyIndex < keyCount ? keyIndex : Self.noKey
      }
      keyIndex = (keyIndex | 7) + 1
    }
    return Self.noKey
  }

  @inline(__always)
  private func isPresent(_ keyIndex: Int, _ message: Message) -> Bool {
    if presence < 0 { return true }
    if keyCount <= 64 { return marks &>> UInt64(truncatingIfNeeded: keyIndex) & 1 == 1 }
    return message.reader.bit(keyIndex, at: presence)
  }

  /// An offset that no value within the object has. The byte before its values is none of theirs, and a row has none
  /// before it.
  var offset: Int { source == nil ? start - 1 : start }

  // MARK: finding

  /// Returns where the value for `key` stands, or −1 if the object has none, and makes it the next. In a row this is
  /// the index of the key.
  @inline(__always)
  func find<Key: CodingKey>(_ key: Key) throws(FormatError) -> Int {
    let byte = keyByte(key)
    let keyIndex = indices[byte]
    // A shape may have so many keys that an index looks like a mark.
    if Int(keyIndex) == nextIndex, keyIndex < DecodingKeyTable.missing { return current }
    if shape < 0 {
      if let value = nextEntry(ofByte: byte) { return value }
    } else if keyIndex < DecodingKeyTable.missing {
      if source != nil { return Int(keyIndex) }
      if withMessage({ !isPresent(Int(keyIndex), $0) }) { return -1 }
    }
    return try findOutOfLine(key, byte: byte)
  }

  /// Returns the value for `key` in a column of `Double` or `Float` as they are, or nil in other columns and objects.
  @inline(__always)
  func wholeDouble<Key: CodingKey>(_ key: Key) throws(FormatError) -> Double? {
    guard let source else { return nil }
    let keyIndex = indices[keyByte(key)]
    guard keyIndex < DecodingKeyTable.missing else { return nil }
    return try withMessage { message throws(FormatError) in
      try source.wholeDouble(row: start, keyIndex: Int(keyIndex), message.reader)
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
      return try findIndex(key, byte: byte, message)
    }
  }

  /// Returns whether a key that is known by its string is that of the next value.
  @inline(__always)
  private func isNext<Key: CodingKey>(_ key: Key, _ message: Message) throws(FormatError) -> Bool {
    guard nextIndex != Self.noKey, !keyTable._withUnsafeGuaranteedRef({ $0.hasBytes }) else {
      return false
    }
    if shapeNames == nil { shapeNames = try message.names(ofShape: shape) }
    return shapeNames?._withUnsafeGuaranteedRef { shape in
      // Comparing long names may take long.
      shape.areShort && nextIndex < shape.names.count
        && shape.names[nextIndex].hasSameBytes(as: key.stringValue)
    } ?? false
  }

  private func findIndex<Key: CodingKey>(
    _ key: Key, byte: Int, _ message: Message
  ) throws(FormatError) -> Int {
    guard let keyIndex = try keyIndex(of: key, byte: byte, message), isPresent(keyIndex, message) else {
      return -1
    }
    if source != nil { return keyIndex }
    try seek(keyIndex, message)
    return current
  }

  /// Returns the index of `key` in the shape, or nil if it has none.
  func keyIndex<Key: CodingKey>(of key: Key, byte: Int, _ message: Message) throws(FormatError) -> Int? {
    try keyTable.borrow { keyTable throws(FormatError) in
      try self.keyIndex(of: key, byte: byte, keyTable, message)
    }
  }

  private func keyIndex<Key: CodingKey>(
    of key: Key, byte: Int, _ keyTable: DecodingKeyTable, _ message: Message
  ) throws(FormatError) -> Int? {
    guard keyTable.hasBytes else {
      return try keyIndex(of: key.stringValue, message)
    }
    let known = indices[byte]
    if known < DecodingKeyTable.missing { return Int(known) }
    if known == DecodingKeyTable.missing, keyCount < Int(DecodingKeyTable.missing) { return nil }
    let found = try lookUp(keyTable.text(of: key, byte: byte).bytes, message)
    if indices != keyTable.emptyTable {
      indices[byte] = found.flatMap { UInt16(exactly: $0) } ?? DecodingKeyTable.missing
    }
    return found
  }

  private func keyIndex(of name: String, _ message: Message) throws(FormatError) -> Int? {
    let names = try message.names(ofShape: shape).takeUnretainedValue()
    // Comparing long ones may take long.
    if names.areShort, names.names.indices.contains(nextIndex),
      names.names[nextIndex].hasSameBytes(as: name)
    {
      return nextIndex
    }
    return try message.keyIndex(of: name, inShape: shape)
  }

  private func lookUp(_ text: UnsafeRawBufferPointer, _ message: Message) throws(FormatError) -> Int? {
    if nextIndex != Self.noKey, nextIndex < keyCount,
      try message.hasKey(text, at: message.tables.key(nextIndex, ofShape: shape))
    {
      return nextIndex
    }
    for keyIndex in 0..<keyCount
    where try message.hasKey(text, at: message.tables.key(keyIndex, ofShape: shape)) {
      return keyIndex
    }
    return nil
  }

  /// Moves to the value of a key, which must have one.
  private func seek(_ keyIndex: Int, _ message: Message) throws(FormatError) {
    if offsets.isEmpty {
      if keyIndex >= nextIndex, nextIndex != Self.noKey {
        while nextIndex != keyIndex { try advance(to: message.reader.end(of: current), message) }
        return
      }
      try index(message)
    }
    current = offsets[keyIndex]
    nextIndex = keyIndex
  }

  /// Notes where every value of the record stands. Those behind a fault stand behind the message, where every read
  /// finds one.
  private func index(_ message: Message) throws(FormatError) {
    var offsets = Array(repeating: message.reader.count, count: keyCount)
    defer { self.offsets = offsets }
    var offset = start
    var keyIndex = keyIndex(after: -1, message)
    while keyIndex != Self.noKey {
      offsets[keyIndex] = offset
      offset = try message.reader.end(of: offset)
      guard offset <= end else { try fail(.malformed, at: offset) }
      keyIndex = self.keyIndex(after: keyIndex, message)
    }
    try checkEnd(offset)
  }

  /// Goes on behind the value that was next.
  @inline(__always)
  func advance(to offset: Int, _ message: Message) throws(FormatError) {
    guard offset <= end else { try fail(.malformed, at: current) }
    current = offset
    if nextIndex != Self.noKey {
      nextIndex = keyIndex(after: nextIndex, message)
      if nextIndex == Self.noKey { try checkEnd(offset) }
    }
  }

  /// Checks that the record ends where its last value does.
  @inline(__always)
  private func checkEnd(_ offset: Int) throws(FormatError) {
    guard offset == end else { try fail(.malformed, at: offset) }
  }

  // MARK: names

  /// Returns where the value for the key called `name` stands, or −1 if the object has none.
  func find(name: String, _ message: Message) throws(FormatError) -> Int {
    if shape >= 0 {
      let keyIndex = try message.keyIndex(of: name, inShape: shape)
      guard let keyIndex, isPresent(keyIndex, message) else { return -1 }
      if source != nil { return keyIndex }
      try seek(keyIndex, message)
      return current
    }
    return try message.withText(of: name) { text throws(FormatError) in try findIndexed(text, message) }
  }

  /// Returns all keys that have a value, in order.
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
    entryIndex = try TextIndex.checkingKeys(ofMap: start..<end, message)
    keysAreChecked = true
  }

  private func mapNames(_ message: Message) throws(FormatError) -> [String] {
    try checkKeys(message)
    var result: [String] = []
    var offset = start
    while offset < end {
      result.append(try message.keyString(at: TextLocation(offset)))
      offset = try message.reader.end(of: message.tables.endOfKey(message.reader, at: offset))
    }
    return result
  }
}
