// ActualKind entries of a map, whose keys stand before their values.

extension ObjectReader {
  /// Maps with more entries are searched through an index.
  private static var longestScan: Int { 16 }
  /// Keys of more bytes are not made strings to be compared: the same one may be asked about many times.
  private static var longestNamed: Int { 64 }

  /// The value of the next entry of a map, if its key has the given byte and a text that was met before.
  @inline(__always)
  func nextEntry(ofByte byte: Int) -> Int? {
    schemaReference._withUnsafeGuaranteedRef { schema in
      guard current < end, let text = schema.knownText(ofByte: byte),
        withSession({ text.stands(at: current, in: $0.reader) })
      else { return nil }
      return current &+ text.bytes.count
    }
  }

  /// The value of the next entry of a map, if its key is the one asked for, of a type that is known by its strings.
  ///
  /// Most short keys become a string in a few steps; a `SearchedText` takes memory.
  @inline(__always)
  func nextEntry<Key: CodingKey>(named key: Key, _ session: DecodingSession) throws(FormatError) -> Int? {
    guard current < end, !schemaReference._withUnsafeGuaranteedRef({ $0.hasBytes }) else { return nil }
    let text = try session.tables.text(session.reader, ofKeyAt: current)
    guard text.end &- text.start <= Self.longestNamed,
      try session.keyName(at: current) == key.stringValue
    else { return nil }
    return try session.tables.endOfKey(session.reader, at: current)
  }

  func findEntry<Key: CodingKey>(_ key: Key, _ session: DecodingSession) throws(FormatError) -> Int {
    try schemaReference.borrow { schema throws(FormatError) in
      if schema.hasBytes { return try findEntry(schema.text(of: key, byte: keyByte(key)), key, session) }
      if session.longSymbol(madeAs: key.stringValue) != nil {
        return try find(name: key.stringValue, session)
      }
      // A text that is not kept.
      let text = SearchedText(key.stringValue)
      defer { text.deallocate() }
      return try findEntry(text, key, session)
    }
  }

  private func findEntry<Key: CodingKey>(
    _ text: SearchedText, _ key: Key, _ session: DecodingSession
  ) throws(FormatError) -> Int {
    if current < end, text.stands(at: current, in: session.reader) { return current &+ text.bytes.count }
    return try findOutOfTurn(text, key, session)
  }

  /// An entry that is not the next, or whose key is a symbol.
  private func findOutOfTurn<Key: CodingKey>(
    _ text: SearchedText, _ key: Key, _ session: DecodingSession
  ) throws(FormatError) -> Int {
    let found = entryIndex == nil ? try scan(text.bytes, session) : nil
    if let found, !found.isTooLong {
      guard let entry = found.entry else {
        return try findOtherSpelling(of: text, key, mayExist: found.hasOtherSpellings, session)
      }
      // A key that was passed over could stand again behind this one, and be taken for the first of its name.
      if entry != current { try checkKeys(session) }
      current = entry
      return try session.tables.endOfKey(session.reader, at: entry)
    }
    try checkKeys(session)
    if entryIndex == nil { entryIndex = try EntryIndex(session, start..<end) }
    guard let index = entryIndex else { return -1 }
    if let entry = try index.entry(text.bytes, session) {
      current = entry
      return try session.tables.endOfKey(session.reader, at: entry)
    }
    return try findOtherSpelling(of: text, key, mayExist: index.hasOtherSpellings, session)
  }

  /// Strings that look different can be equal, if one of them has characters beyond ASCII.
  private func findOtherSpelling<Key: CodingKey>(
    of text: SearchedText, _ key: Key, mayExist: Bool, _ session: DecodingSession
  ) throws(FormatError) -> Int {
    mayExist || !text.isASCII ? try find(name: key.stringValue, session) : -1
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
  private func scan(_ text: UnsafeRawBufferPointer, _ session: DecodingSession) throws(FormatError) -> Scan {
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
      let value = try session.tables.endOfKey(session.reader, at: offset)
      if try session.hasKey(text, at: offset) {
        result.entry = offset
        return result
      }
      if !result.hasOtherSpellings { result.hasOtherSpellings = try session.isBeyondASCII(keyAt: offset) }
      offset = try session.reader.end(of: value)
    }
    result.isTooLong = true
    return result
  }

  /// Notes where every entry stands, by its name.
  func indexEntries(_ session: DecodingSession) throws(FormatError) {
    try checkKeys(session)
    var offset = start
    while offset < end {
      entries[try session.name(ofKeyAt: offset)] = offset
      offset = try session.reader.end(of: session.tables.endOfKey(session.reader, at: offset))
    }
  }
}

extension DecodingSession {
  /// Whether the key at `offset`, a text or a symbol, has the given text.
  @inline(__always)
  func hasKey(_ text: UnsafeRawBufferPointer, at offset: Int) throws(FormatError) -> Bool {
    if reader.matches(text, at: offset) { return true }
    guard try reader.byte(at: offset) >= KeyText.symbol else { return false }
    return try isSymbol(text, at: offset)
  }

  @inline(never)
  private func isSymbol(_ text: UnsafeRawBufferPointer, at offset: Int) throws(FormatError) -> Bool {
    var next = offset
    guard let symbol = try tables.symbol(reader, ofKeyAt: &next) else { return false }
    return reader.matches(text, at: tables.symbol(symbol))
  }

  /// Whether the key at `offset` has characters beyond ASCII, so that a string of other bytes could equal it.
  @inline(__always)
  fileprivate func isBeyondASCII(keyAt offset: Int) throws(FormatError) -> Bool {
    guard try reader.byte(at: offset) >= KeyText.plain else { return false }
    let text = try tables.text(reader, ofKeyAt: offset)
    return !(longSymbol(text)?.isASCII ?? reader.isASCII(text))
  }
}
