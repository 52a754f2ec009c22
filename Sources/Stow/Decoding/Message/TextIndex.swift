/// Finds the keys of a map or a shape by their texts.
///
/// Made when keys are asked for out of turn that are too many to be searched from end to end: one walk over them; 24 to
/// 48 bytes for each. No strings are made. Two keys of the same text are found while it is made.
struct TextIndex {
  private let keys: [TextLocation]
  /// The number of a key counted from one, and the high half of its hash; 0 where free.
  private var slots: [UInt64]

  var count: Int { keys.count }

  init(_ keys: [TextLocation], _ message: Message) throws(FormatError) {
    self.keys = keys
    var size = 16
    while size < keys.count * 2 { size *= 2 }
    slots = [UInt64](repeating: 0, count: size)
    for index in keys.indices {
      let text = try message.keyText(at: keys[index])
      let slot = try slot(of: text, message)
      guard slots[slot] == 0 else { try fail(.repeatedKey, at: keys[index].offset) }
      slots[slot] = text.hash & 0xFFFF_FFFF_0000_0000 | UInt64(index + 1)
    }
  }

  /// The keys of a map, whose entries are walked over.
  init(ofMap map: Range<Int>, _ message: Message) throws(FormatError) {
    var keys: [TextLocation] = []
    var offset = map.lowerBound
    while offset < map.upperBound {
      keys.append(TextLocation(offset))
      let value = try message.tables.endOfKey(message.reader, at: offset)
      offset = try message.reader.end(of: value)
      guard offset <= map.upperBound else { try fail(.malformed, at: value) }
    }
    try self.init(keys, message)
  }

  /// Returns the number of the key with the given text, or nil if there is none.
  func number(of text: HashedText, _ message: Message) throws(FormatError) -> Int? {
    let slot = try slot(of: text, message)
    return slots[slot] == 0 ? nil : number(inSlot: slot)
  }

  /// Returns where the key with the given text stands, or nil if there is none.
  func key(_ text: HashedText, _ message: Message) throws(FormatError) -> TextLocation? {
    try number(of: text, message).map { keys[$0] }
  }

  private func number(inSlot slot: Int) -> Int { Int(slots[slot] & 0xFFFF_FFFF) - 1 }

  /// Returns the slot of the key with the given text, or a free one if there is none.
  private func slot(of text: HashedText, _ message: Message) throws(FormatError) -> Int {
    var slot = Int(truncatingIfNeeded: text.hash) & (slots.count - 1)
    while slots[slot] != 0 {
      if slots[slot] >> 32 == text.hash >> 32,
        try message.keyText(at: keys[number(inSlot: slot)]).isSame(as: text)
      {
        return slot
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }

  /// Checks that no two keys of a map are the same, and returns an index of them if they are many, which finds that while
  /// it is made.
  static func checkingKeys(ofMap map: Range<Int>, _ message: Message) throws(FormatError) -> TextIndex? {
    message.keyCheck.removeAll()
    var offset = map.lowerBound
    while offset < map.upperBound {
      if message.keyCheck.count == KeyCheck.mostCompared { return try TextIndex(ofMap: map, message) }
      let value = try message.keyCheck.add(keyAt: offset, message)
      offset = try message.reader.end(of: value)
      guard offset <= map.upperBound else { try fail(.malformed, at: value) }
    }
    try message.keyCheck.finish(message)
    return nil
  }
}

/// The text of a key, header included, and its hash.
struct HashedText {
  let bytes: UnsafeRawBufferPointer
  let hash: UInt64
  /// Of a long symbol: where the first stands that has these bytes.
  let symbol: TextLocation?

  init(_ bytes: UnsafeRawBufferPointer, hash: UInt64, symbol: TextLocation? = nil) {
    self.bytes = bytes
    self.hash = hash
    self.symbol = symbol
  }

  /// A text that is looked for.
  init(_ text: SearchedText) {
    let hash = text.bytes.baseAddress.map { TextKey.make($0, text.bytes.count, ByteHash()).hash }
    self.init(text.bytes, hash: hash ?? 0)
  }

  /// Whether both have the same bytes. Those of long symbols are not compared again and again.
  func isSame(as other: HashedText) -> Bool {
    guard hash == other.hash else { return false }
    if let symbol, symbol == other.symbol { return true }
    return equalBytes(bytes, other.bytes)
  }
}
