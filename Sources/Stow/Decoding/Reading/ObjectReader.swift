/// Reads the values of one object by their keys: a map, a record, or a row of a table.
///
/// Keys are nearly always requested in the order in which they are stored: then the next value is at hand,
/// and only a request for another key searches. A reader is reused for other objects.
final class ObjectReader {
  let message: Message
  /// The session of whoever reads, which they keep alive.
  let owner: UnsafeMutableRawPointer
  let keyTable: DecodingKeyTable

  private(set) var node = PathNode.top
  private(set) var offset = 0
  private var form = Form.map
  /// The indices of the keys of the last shape, by their bytes; `unknown` if not looked up, or without bytes.
  private let indices: UnsafeMutablePointer<UInt16>
  private var indexedShape = -1
  /// The source of that shape; see `Message.source(ofShape:)`.
  private var indexedSource = 0
  /// In a record, the next value, and the index of its key; nil after the last. In a map, the next entry, key first.
  private var current = 0
  private var nextIndex: Int?
  private var start = 0
  private var end = 0
  /// The shape of a record or a row, and how many keys it has.
  private var shape = 0
  private var keyCount = 0
  /// Where the bits of a partial record are; nil if every key has a value.
  private var presence: Int?
  /// The values by the indices of their keys, or the entries of a map, once some were requested out of order.
  private var offsets: [Int] = []
  private var entryIndex: TextIndex?
  /// Whether all keys of the map are known to be distinct.
  private var keysAreChecked = false
  /// The keys that were found as the next entry of the map, as bits of their bytes; and where the last of them was.
  /// Keys may share a bit, and then all keys are checked.
  private var takenKeys: UInt64 = 0
  private var lastTaken: Int?
  /// Whether each entry before the next one was found so.
  private var areTaken = true
  /// The index, in its shape, of the last key that was found by its name.
  private var lastNamed: Int?
  /// The table that the object is a row of.
  private var table: Elements?
  /// Its identity, to be compared without counting a reference.
  private var tableIdentity: ObjectIdentifier?

  private enum Form { case map, record, row }

  /// Where a value was found.
  enum Found: BitwiseCopyable {
    case value(at: Int)
    /// In the row, in the column with an index.
    case cell(Int)
  }

  /// The entry of a key whose index has not been looked up.
  private static let unknown = UInt16.max
  /// The entry of a key that the shape does not have, or has at an index that is too large for an entry.
  private static let missing = UInt16.max - 1

  init(_ message: Message, _ keyTable: DecodingKeyTable, owner: UnsafeMutableRawPointer) {
    self.message = message
    self.keyTable = keyTable
    self.owner = owner
    indices = .allocate(capacity: DecodingKeyTable.size)
    indices.initialize(repeating: Self.unknown, count: DecodingKeyTable.size)
  }

  deinit { indices.deallocate() }

  // MARK: objects

  @inline(__always)
  func open(_ object: ObjectHeader, at offset: Int, _ node: PathNode) throws(FormatError) {
    forget(node)
    self.offset = offset
    end = object.body.upperBound
    start = object.body.lowerBound
    current = start
    guard let shape = object.shape else {
      form = .map
      keysAreChecked = false
      (takenKeys, lastTaken, areTaken) = (0, nil, true)
      nextIndex = nil
      return
    }
    guard shape < message.tables.shapeCount else { try fail(.malformed, at: start) }
    form = .record
    turn(to: shape)
    nextIndex = 0
    if object.isPartial {
      try openPartial()
    } else if keyCount > end &- start {
      // Every value takes a byte; without this check, few bytes could claim many keys.
      try fail(.malformed, at: start)
    }
  }

  func open(objectAt offset: Int, _ node: PathNode) throws(FormatError) {
    guard let object = try ObjectHeader.read(message.reader, at: offset) else { try fail(.mismatch, at: offset) }
    try open(object, at: offset, node)
  }

  func open(_ number: ElementNumber, of table: Elements, _ node: PathNode) throws(FormatError) {
    guard let shape = table.shape, let row = table.layout.row(number) else { try table.failAsRow(number) }
    // Rows are mostly read one after the other.
    if tableIdentity == ObjectIdentifier(table) {
      self.node = node
      (offset, start) = (row, row)
      return
    }
    forget(node)
    self.table = table
    tableIdentity = ObjectIdentifier(table)
    form = .row
    turn(to: shape)
    (offset, start) = (row, row)
    nextIndex = nil
  }

  private func openPartial() throws(FormatError) {
    presence = start
    start = try Records.endOfPresence(message.reader, in: start..<end, keyCount: keyCount)
    current = start
    nextIndex = firstKeyIndex(from: 0)
    if nextIndex == nil { try checkEnd(start) }
  }

  @inline(__always)
  private func turn(to shape: Int) {
    self.shape = shape
    presence = nil
    let source = message.source(ofShape: shape)
    if shape == indexedShape, source == indexedSource { return }
    (indexedShape, indexedSource) = (shape, source)
    keyCount = message.tables.keyCount(ofShape: shape)
    indices.update(repeating: Self.unknown, count: DecodingKeyTable.size)
  }

  /// Releases the table, which keeps the message, and memory, once nobody holds the container any more.
  @inline(__always)
  func finish() {
    if tableIdentity != nil {
      table = nil
      tableIdentity = nil
    }
    if !offsets.isEmpty { offsets = [] }
    if entryIndex != nil { entryIndex = nil }
  }

  private func forget(_ node: PathNode) {
    self.node = node
    finish()
  }

  /// Returns the index of the first key from `keyIndex` on that has a value; nil if none has.
  @inline(__always)
  private func firstKeyIndex(from keyIndex: Int) -> Int? {
    var next = keyIndex
    while next < keyCount, !isPresent(next) { next &+= 1 }
    return next < keyCount ? next : nil
  }

  private func isPresent(_ keyIndex: Int) -> Bool { presence.map { message.reader.bit(keyIndex, at: $0) } ?? true }

  // MARK: finding

  /// Returns where the value for `key` is, and makes it the next; nil if the object lacks the key.
  @inline(__always)
  func find<Key: CodingKey>(_ key: Key) throws(FormatError) -> Found? {
    let byte = keyByte(key)
    if let found = expected(ofByte: byte) { return found }
    if form == .map {
      if let value = nextEntry(ofByte: byte) { return .value(at: value) }
    } else if indices[byte] < Self.missing, !isPresent(Int(indices[byte])) {
      return nil
    }
    return try findOutOfLine(key, byte: byte)
  }

  /// Returns where the value for the key of a byte is, if it is the next one or in a row.
  @inline(__always)
  func expected(ofByte byte: Int) -> Found? {
    let keyIndex = indices[byte]
    // The indices of a shape with very many keys reach the numbers that stand for missing and unknown keys.
    guard keyIndex < Self.missing else { return nil }
    if Int(keyIndex) == nextIndex { return .value(at: current) }
    return form == .row ? .cell(Int(keyIndex)) : nil
  }

  /// Returns the value for `key` in a column of `Double` or `Float` as they are, or nil in other columns and objects.
  @inline(__always)
  func wholeDouble<Key: CodingKey>(_ key: Key) throws(FormatError) -> Double? {
    guard let table else { return nil }
    let keyIndex = indices[keyByte(key)]
    guard keyIndex < Self.missing else { return nil }
    let column = try table.column(Int(keyIndex))
    guard column.type == ElementType.double || column.type == ElementType.float else { return nil }
    return try Cell.readDouble(message.reader, at: start &+ Int(column.offset), type: column.type)
  }

  @inline(never)
  private func findOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) throws(FormatError) -> Found? {
    if form != .map { return try value(at: keyIndex(of: key, byte: byte)) }
    if keyTable.hasBytes { return try findEntry(keyTable.text(of: key, byte: byte), ofByte: byte) }
    return try find(name: key.stringValue)
  }

  private func value(at keyIndex: Int?) throws(FormatError) -> Found? {
    guard let keyIndex, isPresent(keyIndex) else { return nil }
    if form == .row { return .cell(keyIndex) }
    try seek(keyIndex)
    return .value(at: current)
  }

  private func keyIndex<Key: CodingKey>(of key: Key, byte: Int) throws(FormatError) -> Int? {
    guard keyTable.hasBytes else { return try message.keyIndex(of: key.stringValue, inShape: shape, likely: nextIndex) }
    let known = indices[byte]
    if known < Self.missing { return Int(known) }
    if known == Self.missing, keyCount < Int(Self.missing) { return nil }
    let text = keyTable.text(of: key, byte: byte).bytes
    for keyIndex in 0..<keyCount
    where try message.hasKey(text, at: message.tables.key(keyIndex, ofShape: shape)) {
      indices[byte] = UInt16(exactly: keyIndex) ?? Self.missing
      return keyIndex
    }
    indices[byte] = Self.missing
    return nil
  }

  private func seek(_ keyIndex: Int) throws(FormatError) {
    if offsets.isEmpty {
      if let nextIndex, keyIndex >= nextIndex {
        while self.nextIndex != keyIndex { try advance(to: message.reader.end(of: current)) }
        return
      }
      try index()
    }
    current = offsets[keyIndex]
    nextIndex = keyIndex
  }

  /// Notes where every value of the record is: after a fault, at the end of the message, where every read fails.
  private func index() throws(FormatError) {
    var offsets = Array(repeating: message.reader.count, count: keyCount)
    defer { self.offsets = offsets }
    let object = ObjectHeader(shape: shape, isPartial: presence != nil, body: (presence ?? start)..<end)
    var values = try Children(object, message)
    while let value = try values.peek(message) {
      offsets[value.number] = value.value
      try values.pass(value, to: message.reader.end(of: value.value))
    }
    try values.checkEnd(message)
  }

  /// Moves past the value that was next, which ends at `offset`.
  @inline(__always)
  func advance(to offset: Int) throws(FormatError) {
    guard offset <= end else { try fail(.malformed, at: current) }
    current = offset
    if let passed = nextIndex {
      nextIndex = firstKeyIndex(from: passed &+ 1)
      if nextIndex == nil { try checkEnd(offset) }
    }
  }

  /// Checks that the record ends where its last value does.
  private func checkEnd(_ offset: Int) throws(FormatError) {
    guard offset == end else { try fail(.malformed, at: offset) }
  }

  // MARK: names

  func find(name: String) throws(FormatError) -> Found? {
    if form != .map {
      let found = try message.keyIndex(of: name, inShape: shape, likely: lastNamed)
      if let found { lastNamed = found }
      return try value(at: found)
    }
    if let value = try nextEntry(named: name) { return .value(at: value) }
    return try message.withText(of: name) { text throws(FormatError) in try findIndexed(text) }
  }

  /// Returns where the value for the first of some names is that the object has; nil if it has none of them.
  func find(anyOf names: [String]) throws(FormatError) -> Found? {
    for name in names { if let found = try find(name: name) { return found } }
    return nil
  }

  func names() throws(FormatError) -> [String] {
    guard form != .map else {
      try checkKeys()
      return try Children(ofMap: start..<end).names(message)
    }
    let names = try message.names(ofShape: shape).names
    return presence == nil ? names : names.indices.filter { isPresent($0) }.map { names[$0] }
  }

  /// Checks that the keys of the map are distinct, if that was not done before.
  private func checkKeys() throws(FormatError) {
    if keysAreChecked { return }
    entryIndex = try message.checkKeys(ofMap: start..<end).index
    keysAreChecked = true
  }

  // MARK: reading what was found

  /// Returns the scalar that was found, which has a tag unless it is in a row, and moves past it.
  @inline(__always)
  func read<Value: ReadableScalar>(_ type: Value.Type, _ found: Found) throws(FormatError) -> Value {
    switch found {
    case .value(let offset):
      var next = offset
      let result = try Value.read(message, at: offset, next: &next)
      try advance(to: next)
      return result
    case .cell(let column): return try Value.readCell(message, rows.column(column), inRowAt: start)
    }
  }

  @inline(never)
  func readOutOfLine<Value: ReadableScalar>(_ type: Value.Type, _ found: Found) throws(FormatError) -> Value {
    try read(type, found)
  }

  /// Moves past the value that was found if it is nil, and returns whether it is.
  @inline(never)
  func passNil(_ found: Found) throws(FormatError) -> Bool {
    let offset =
      switch found {
      case .value(let offset): offset
      // A nil in all rows of a table is stored before them.
      case .cell(let column): try rows.column(column).constant
      }
    guard let offset, Nils.isNil(message.reader, at: offset) else { return false }
    try pass(found)
    return true
  }

  /// Moves past the value that was found. The values of a row have no order.
  @inline(__always)
  func pass(_ found: Found) throws(FormatError) {
    if case .value(let offset) = found { try advance(to: message.reader.end(of: offset)) }
  }

  /// The same for a value that ends at `offset`.
  @inline(never)
  func pass(_ found: Found, to offset: Int) throws(FormatError) { if case .value = found { try advance(to: offset) } }

  func place(_ found: Found) -> OpenPlace {
    switch found {
    case .value(let offset): OpenPlace(at: offset)
    case .cell(let column): OpenPlace(rows.layout.cell(column, ofRowAt: start), of: rows)
    }
  }

  private var rows: Elements {
    guard let table else { preconditionFailure("a cell of no table") }
    return table
  }

  // MARK: the entries of a map

  /// The most entries of a map that are searched without an index.
  private static var longestScan: Int { 16 }
  /// The most bytes of a key that is made a string to be compared: the same key may be looked at many times.
  private static var longestNamed: Int { 64 }

  /// Returns the value of the next entry of a map, or nil unless its key has the byte and a known text.
  @inline(__always)
  func nextEntry(ofByte byte: Int) -> Int? {
    guard current < end, let text = keyTable.knownText(ofByte: byte),
      text.stands(at: current, in: message.reader), takeKey(ofByte: byte)
    else { return nil }
    return current &+ text.bytes.count
  }

  /// Takes the next entry for the key with a byte. Returns false if one before it may have been taken for that key,
  /// too: a type that asks for a key again must not get the other value that a malformed map has for it.
  @inline(__always)
  private func takeKey(ofByte byte: Int) -> Bool {
    if current == lastTaken { return true }
    let bit = Self.bit(ofByte: byte)
    guard takenKeys & bit == 0 else { return false }
    takenKeys |= bit
    lastTaken = current
    return true
  }

  private static func bit(ofByte byte: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: byte & 63) }

  /// Returns the value of the next entry of a map, or nil unless its key has the name.
  ///
  /// Most short keys become a string in a few steps; a `SearchedText` takes memory.
  private func nextEntry(named name: String) throws(FormatError) -> Int? {
    guard current < end,
      try message.tables.text(message.reader, ofKeyAt: TextLocation(current)).size <= Self.longestNamed,
      try message.keyString(at: TextLocation(current)).hasSameBytes(as: name)
    else { return nil }
    // An entry before it may have the same key, and was taken for it then.
    if current != start { try checkKeys() }
    areTaken = false
    return try message.tables.endOfKey(message.reader, at: current)
  }

  private func findEntry(_ text: SearchedText, ofByte byte: Int) throws(FormatError) -> Found? {
    if current < end, text.stands(at: current, in: message.reader) {
      if !takeKey(ofByte: byte) { try checkKeys() }
      return .value(at: current &+ text.bytes.count)
    }
    // Each entry has the key of another byte.
    if current == end, areTaken, takenKeys & Self.bit(ofByte: byte) == 0, !keyTable.hasEqualTexts { return nil }
    if entryIndex != nil { return try findIndexed(HashedText(text)) }
    // The entries from the next one on are looked at, and then those before it.
    var (offset, stop) = (current, end)
    var areLast = current == start
    for _ in 0..<Self.longestScan {
      if offset >= stop {
        if areLast { return nil }
        (offset, stop, areLast) = (start, current, true)
        continue
      }
      let value = try message.tables.endOfKey(message.reader, at: offset)
      let next = try message.reader.end(of: value)
      guard next <= end else { try fail(.malformed, at: value) }
      if try message.hasKey(text.bytes, at: TextLocation(offset)) {
        // A key that was skipped could occur again after this one, and be taken for the first of its name.
        if offset != current || !takeKey(ofByte: byte) { try checkKeys() }
        if offset != current { areTaken = false }
        current = offset
        return .value(at: value)
      }
      offset = next
    }
    return try findIndexed(HashedText(text))
  }

  /// Returns the value of an entry that is found by an index, which is built the first time.
  private func findIndexed(_ text: HashedText) throws(FormatError) -> Found? {
    if entryIndex == nil { entryIndex = try message.index(ofMap: start..<end) }
    guard let entry = try entryIndex?.key(text, message) else { return nil }
    (current, areTaken) = (entry.offset, false)
    return .value(at: try message.tables.endOfKey(message.reader, at: entry.offset))
  }
}
