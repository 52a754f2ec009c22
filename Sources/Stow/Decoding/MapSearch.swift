// Finding entries of a map, whose keys stand before their values.

extension DecodingCursor {
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
    guard current < end, !schemaReference._withUnsafeGuaranteedRef({ $0.hasBytes }),
      let text = try? session.tables.text(session.reader, ofKeyAt: current),
      text.end &- text.start <= Self.longestNamed, let name = try? session.keyName(at: current),
      name == key.stringValue
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
    if entryIndex == nil {
      switch try scan(text.bytes, session) {
      case .found(let value): return value
      case .none(let hasOtherSpellings):
        // Strings that look different can be equal, if one of them has characters beyond ASCII.
        guard hasOtherSpellings || !text.isASCII else { return -1 }
        return try find(name: key.stringValue, session)
      case .tooLong: entryIndex = try EntryIndex(session, start..<end)
      }
    }
    guard let index = entryIndex else { return -1 }
    if let entry = try index.entry(text.bytes, session) {
      current = entry
      return try session.tables.endOfKey(session.reader, at: entry)
    }
    guard index.hasOtherSpellings || !text.isASCII else { return -1 }
    return try find(name: key.stringValue, session)
  }

  private enum ScanResult {
    case found(Int)
    case none(hasOtherSpellings: Bool)
    case tooLong
  }

  /// Looks for the value whose key has the given text, from the current entry on and then from the first.
  private func scan(_ text: UnsafeRawBufferPointer, _ session: DecodingSession) throws(FormatError)
    -> ScanResult
  {
    var offset = current
    var stop = end
    var isSecondPart = current == start
    var hasOtherSpellings = false
    for _ in 0..<Self.longestScan {
      if offset >= stop {
        if isSecondPart { return .none(hasOtherSpellings: hasOtherSpellings) }
        isSecondPart = true
        stop = current
        offset = start
        continue
      }
      let value = try session.tables.endOfKey(session.reader, at: offset)
      if try session.hasKey(text, at: offset) {
        current = offset
        return .found(value)
      }
      if !hasOtherSpellings { hasOtherSpellings = try session.isBeyondASCII(keyAt: offset) }
      offset = try session.reader.end(of: value)
      guard offset <= end else { try fail(.malformed, at: value) }
    }
    return .tooLong
  }

  /// Notes where every entry stands, by its name.
  func indexEntries(_ session: DecodingSession) throws(FormatError) {
    var offset = start
    var symbols: Set<Int> = []
    while offset < end {
      let name = try session.name(ofKeyAt: offset)
      // Long ones are looked at once in a map.
      let isFirst = name.symbol.map { symbols.insert($0).inserted } ?? true
      if isFirst, entries[name] == nil { entries[name] = offset }
      let value = try session.tables.endOfKey(session.reader, at: offset)
      offset = try session.reader.end(of: value)
      guard offset <= end else { try fail(.malformed, at: value) }
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
