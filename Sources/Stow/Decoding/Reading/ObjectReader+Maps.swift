// The entries of a map, whose keys stand before their values.

extension ObjectReader {
  /// Maps with more entries are searched through an index.
  private static var longestScan: Int { 16 }
  /// Keys of more bytes are not made strings to be compared: the same one may be asked about many times.
  private static var longestNamed: Int { 64 }

  /// Returns the value of the next entry of a map, or nil unless its key has the given byte and a text that was met
  /// before.
  @inline(__always)
  func nextEntry(ofByte byte: Int) -> Int? {
    keyTable._withUnsafeGuaranteedRef { keyTable in
      guard current < end, let text = keyTable.knownText(ofByte: byte),
        withMessage({ text.stands(at: current, in: $0.reader) })
      else { return nil }
      return current &+ text.bytes.count
    }
  }

  /// Returns the value of the next entry of a map, or nil unless `key` is its key, of a type that is known by its
  /// strings.
  ///
  /// Most short keys become a string in a few steps; a `SearchedText` takes memory.
  @inline(__always)
  func nextEntry<Key: CodingKey>(named key: Key, _ message: Message) throws(FormatError) -> Int? {
    guard current < end, !keyTable._withUnsafeGuaranteedRef({ $0.hasBytes }) else { return nil }
    let text = try message.tables.text(message.reader, ofKeyAt: TextLocation(current))
    guard text.size <= Self.longestNamed,
      try message.keyString(at: TextLocation(current)).hasSameBytes(as: key.stringValue)
    else { return nil }
    return try message.tables.endOfKey(message.reader, at: current)
  }

  func findEntry<Key: CodingKey>(_ key: Key, _ message: Message) throws(FormatError) -> Int {
    try keyTable.borrow { keyTable throws(FormatError) in
      if keyTable.hasBytes { return try findEntry(keyTable.text(of: key, byte: keyByte(key)), message) }
      if message.longSymbol(madeAs: key.stringValue) != nil {
        return try find(name: key.stringValue, message)
      }
      // A text for this search alone.
      let text = SearchedText(key.stringValue)
      defer { text.deallocate() }
      return try findEntry(text, message)
    }
  }

  private func findEntry(_ text: SearchedText, _ message: Message) throws(FormatError) -> Int {
    if current < end, text.stands(at: current, in: message.reader) { return current &+ text.bytes.count }
    return try findOutOfTurn(text, message)
  }

  /// Returns the value of an entry that is not the next, or whose key is a symbol.
  private func findOutOfTurn(_ text: SearchedText, _ message: Message) throws(FormatError) -> Int {
    let found = entryIndex == nil ? try scan(text.bytes, message) : .isTooLong
    switch found {
    case .isTooLong: return try findIndexed(HashedText(text), message)
    case .none: return -1
    case .entry(let entry):
      // A key that was passed over could stand again behind this one, and be taken for the first of its name.
      if entry != current { try checkKeys(message) }
      current = entry
      return try message.tables.endOfKey(message.reader, at: entry)
    }
  }

  /// Returns the value of an entry that is found by an index, which is made at the first time.
  func findIndexed(_ text: HashedText, _ message: Message) throws(FormatError) -> Int {
    try checkKeys(message)
    if entryIndex == nil { entryIndex = try TextIndex(ofMap: start..<end, message) }
    guard let entry = try entryIndex?.key(text, message)?.offset else { return -1 }
    current = entry
    return try message.tables.endOfKey(message.reader, at: entry)
  }

  /// What a walk over the entries of a map found.
  private enum Scan {
    case entry(Int)
    case none
    /// The walk ended before the map did.
    case isTooLong
  }

  /// Looks for the entry whose key has the given text, from the current one on and then from the first.
  private func scan(_ text: UnsafeRawBufferPointer, _ message: Message) throws(FormatError) -> Scan {
    var offset = current
    var stop = end
    var isSecondPart = current == start
    for _ in 0..<Self.longestScan {
      if offset >= stop {
        if isSecondPart { return .none }
        isSecondPart = true
        stop = current
        offset = start
        continue
      }
      let value = try message.tables.endOfKey(message.reader, at: offset)
      if try message.hasKey(text, at: TextLocation(offset)) { return .entry(offset) }
      offset = try message.reader.end(of: value)
    }
    return .isTooLong
  }
}
