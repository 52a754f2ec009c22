/// Checks that no two keys of one shape or map are the same: that their texts differ.
///
/// The keys of structs are few and short, and are compared as words, without a string or a hash.
struct KeyCheck: ~Copyable {
  struct Key: BitwiseCopyable {
    /// Where the key stands.
    let key: TextLocation
    /// Where its text stands, which may be that of a symbol.
    let text: TextLocation
    /// The first bytes of the text, or the hash of a long one, so that hardly any two need be compared.
    let word: UInt64
  }

  private var keys = GrowableBuffer<Key>(capacity: 64)

  /// More keys than these are not compared with each other.
  static let mostCompared = 64

  mutating func removeAll() { keys.removeAll() }

  var count: Int { keys.count }

  /// Takes in the key at `offset`, and returns the offset behind it.
  @inline(__always)
  mutating func add(keyAt offset: Int, _ message: Message) throws(FormatError) -> Int {
    let reader = message.reader
    guard try reader.byte(at: offset) < KeyText.symbol else { return try addRare(keyAt: offset, message) }
    let end = try reader.endOfText(at: offset)
    let key = TextLocation(offset)
    keys.append(Key(key: key, text: key, word: reader.firstBytes(at: offset, upTo: end)))
    return end
  }

  /// Takes in a key that is a long text, or a reference to a symbol.
  @inline(never)
  private mutating func addRare(keyAt offset: Int, _ message: Message) throws(FormatError) -> Int {
    let key = TextLocation(offset)
    let found = try message.tables.text(message.reader, ofKeyAt: key)
    let word =
      found.text.count < KeyText.limit
      ? found.reader.firstBytes(at: found.text.start, upTo: found.text.end)
      : message.keyText(found).hash
    keys.append(Key(key: key, text: found.location, word: word))
    return try message.tables.endOfKey(message.reader, at: offset)
  }

  /// Checks that the keys taken in are distinct.
  func finish(_ message: Message) throws(FormatError) {
    if keys.count > Self.mostCompared {
      _ = try TextIndex(keys.buffer.map(\.key), message)
      return
    }
    for index in 0..<keys.count {
      let key = keys[index]
      for other in 0..<index where keys[other].word == key.word {
        let text = try message.tables.text(message.reader, at: key.text)
        guard try !message.tables.text(message.reader, at: keys[other].text).matches(text.bytes) else {
          try fail(.repeatedKey, at: key.key.offset)
        }
      }
    }
  }
}
