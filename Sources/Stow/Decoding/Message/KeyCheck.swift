/// Checks that no two keys of one shape or map are equal.
///
/// The keys of structs are few and short, and are compared as words, without a string or a hash.
struct KeyCheck: ~Copyable {
  struct Key: BitwiseCopyable {
    /// Where the key stands.
    let offset: Int
    /// Where its text stands, which may be that of a symbol.
    let text: TextLocation
    /// The first bytes of the text.
    let word: UInt64
  }

  private var keys = GrowableBuffer<Key>(capacity: 64)
  /// Whether a text has characters beyond ASCII, so that another spelling could equal it, or is so long that comparing
  /// it with many others would take long.
  private var needsNames = false

  /// More keys than these are not compared with each other.
  static let mostCompared = 64

  mutating func removeAll() {
    keys.removeAll()
    needsNames = false
  }

  var count: Int { keys.count }

  /// Takes in the key at `offset`, and returns the offset behind it.
  @inline(__always)
  mutating func add(
    keyAt offset: Int, _ reader: ByteReader, _ tables: borrowing MessageTables
  ) throws(FormatError) -> Int {
    let header = try reader.byte(at: offset)
    guard header < KeyText.symbol else { return try addRare(keyAt: offset, reader, tables) }
    let end = try reader.endOfText(at: offset)
    if header >= KeyText.plain, !reader.isASCII(at: offset &+ 1, count: end &- offset &- 1) {
      needsNames = true
    }
    keys.append(
      Key(offset: offset, text: TextLocation(offset), word: reader.firstBytes(at: offset, upTo: end)))
    return end
  }

  /// Takes in a key that is a long text, or a reference to a symbol.
  @inline(never)
  private mutating func addRare(
    keyAt offset: Int, _ reader: ByteReader, _ tables: borrowing MessageTables
  ) throws(FormatError) -> Int {
    let found = try tables.text(reader, ofKeyAt: TextLocation(offset))
    if found.text.count >= KeyText.limit || !found.isASCII { needsNames = true }
    let word = found.reader.firstBytes(at: found.text.start, upTo: found.text.end)
    keys.append(Key(offset: offset, text: found.location, word: word))
    return try tables.endOfKey(reader, at: offset)
  }

  /// Checks that the keys taken in are distinct; `name` returns the name of the key at an offset.
  func finish(
    _ reader: ByteReader, _ tables: borrowing MessageTables,
    name: (_ offset: Int) throws(FormatError) -> KeyName
  ) throws(FormatError) {
    if keys.count < 2 { return }
    if needsNames || keys.count > Self.mostCompared {
      try compareNames(name)
    } else {
      try compareTexts(reader, tables)
    }
  }

  private func compareTexts(
    _ reader: ByteReader, _ tables: borrowing MessageTables
  ) throws(FormatError) {
    for index in 0..<keys.count {
      let key = keys[index]
      for other in 0..<index where keys[other].word == key.word {
        let text = try tables.text(reader, at: keys[other].text)
        if text.matches(try tables.text(reader, at: key.text).bytes) {
          try fail(.repeatedKey, at: key.offset)
        }
      }
    }
  }

  /// Compares the keys as strings, as which two of different bytes may be equal.
  private func compareNames(_ name: (Int) throws(FormatError) -> KeyName) throws(FormatError) {
    var names = Set<KeyName>(minimumCapacity: keys.count)
    for index in 0..<keys.count {
      let isNew = names.insert(try name(keys[index].offset)).inserted
      guard isNew else { try fail(.repeatedKey, at: keys[index].offset) }
    }
  }
}
