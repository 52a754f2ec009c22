// ActualKind entries of a map, whose keys stand before their values.

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
      try message.keyString(at: TextLocation(current)) == key.stringValue
    else { return nil }
    return try message.tables.endOfKey(message.reader, at: current)
  }

  func findEntry<Key: CodingKey>(_ key: Key, _ message: Message) throws(FormatError) -> Int {
    try keyTable.borrow { keyTable throws(FormatError) in
      if keyTable.hasBytes { return try findEntry(keyTable.text(of: key, byte: keyByte(key)), key, message) }
      if message.longSymbol(madeAs: key.stringValue) != nil {
        return try find(name: key.stringValue, message)
      }
      // A text for this search alone.
      let text = SearchedText(key.stringValue)
      defer { text.deallocate() }
      return try findEntry(text, key, message)
    }
  }

  private func findEntry<Key: CodingKey>(
    _ text: SearchedText, _ key: Key, _ message: Message
  ) throws(FormatError) -> Int {
    if current < end, text.stands(at: current, in: message.reader) { return current &+ text.bytes.count }
    return try findOutOfTurn(text, key, message)
  }

  /// Returns the value of an entry that is not the next, or whose key is a symbol.
  private func findOutOfTurn<Key: CodingKey>(
    _ text: SearchedText, _ key: Key, _ message: Message
  ) throws(FormatError) -> Int {
    let found = entryIndex == nil ? try scan(text.bytes, message) : nil
    if let found, !found.isTooLong {
      guard let entry = found.entry else {
        return try findOtherSpelling(of: text, key, mayExist: found.hasOtherSpellings, message)
      }
      // A key that was passed over could stand again behind this one, and be taken for the first of its name.
      if entry != current { try checkKeys(message) }
      current = entry
      return try message.tables.endOfKey(message.reader, at: entry)
    }
    try checkKeys(message)
    if entryIndex == nil { entryIndex = try EntryIndex(message, start..<end) }
    guard let index = entryIndex else { return -1 }
    if let entry = try index.entry(text.bytes, message) {
      current = entry
      return try message.tables.endOfKey(message.reader, at: entry)
    }
    return try findOtherSpelling(of: text, key, mayExist: index.hasOtherSpellings, message)
  }

  /// Returns the value of an entry whose key is an equal string of other bytes: one has characters beyond ASCII.
  private func findOtherSpelling<Key: CodingKey>(
    of text: SearchedText, _ key: Key, mayExist: Bool, _ message: Message
  ) throws(FormatError) -> Int {
    mayExist || !text.isASCII ? try find(name: key.stringValue, message) : -1
  }

  /// What a walk over the entries of a map found.
  private struct Scan {
    /// The entry with the key.
    var entry: Int?
    var hasOtherSpellings = false
    /// Whether the walk ended before the map did.
    var isTooLong = false
  }

  /// Looks for the entry whose key has the given text, from the current one on and then from the first.
  private func scan(_ text: UnsafeRawBufferPointer, _ message: Message) throws(FormatError) -> Scan {
    var result = Scan()
    var offset = current
    var stop = end
    var isSecondPart = current == start
    for _ in 0..<Self.longestScan {
      if offset >= stop {
        if isSecondPart { return result }
        isSecondPart = true
        stop = current
        offset = start
        continue
      }
      let value = try message.tables.endOfKey(message.reader, at: offset)
      if try message.hasKey(text, at: TextLocation(offset)) {
        result.entry = offset
        return result
      }
      if !result.hasOtherSpellings {
        result.hasOtherSpellings = try message.isBeyondASCII(keyAt: TextLocation(offset))
      }
      offset = try message.reader.end(of: value)
    }
    result.isTooLong = true
    return result
  }

  /// Returns where every entry stands, by its name.
  func indexEntries(_ message: Message) throws(FormatError) -> [KeyName: Int] {
    try checkKeys(message)
    var entries: [KeyName: Int] = [:]
    var offset = start
    while offset < end {
      entries[try message.name(ofKeyAt: TextLocation(offset))] = offset
      offset = try message.reader.end(of: message.tables.endOfKey(message.reader, at: offset))
    }
    return entries
  }
}
