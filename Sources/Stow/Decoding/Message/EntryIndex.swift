/// Finds the entries of a map by the text of their keys.
///
/// Made when a map is read out of turn and is too long to be searched from end to end. One walk over the
/// map; 24 to 48 bytes for each entry. No strings are made. Two keys of the same text are found while it is made.
struct EntryIndex {
  private let entries: [Int]
  /// The number of an entry counted from one, and the high half of its hash; 0 where free.
  private var slots: [UInt64]
  /// Whether some key has characters beyond ASCII, and so could equal a string of other bytes.
  private(set) var hasOtherSpellings = false

  var count: Int { entries.count }

  init(_ message: Message, _ map: Range<Int>) throws(FormatError) {
    let reader = message.reader
    var entries: [Int] = []
    var offset = map.lowerBound
    while offset < map.upperBound {
      entries.append(offset)
      let value = try message.tables.endOfKey(reader, at: offset)
      offset = try reader.end(of: value)
      guard offset <= map.upperBound else { try fail(.malformed, at: value) }
    }
    self.entries = entries
    var size = 16
    while size < entries.count * 2 { size *= 2 }
    slots = [UInt64](repeating: 0, count: size)
    try fill(message)
  }

  private mutating func fill(_ message: Message) throws(FormatError) {
    let reader = message.reader
    for index in entries.indices {
      let key = entries[index]
      if try reader.byte(at: key) < KeyText.symbol {
        let text = try reader.text(at: key)
        if !hasOtherSpellings { hasOtherSpellings = !reader.isASCII(text) }
        try note(index, reader.bytes(of: text), hash: reader.hash(of: text), message)
      } else {
        let text = try message.tables.text(reader, ofKeyAt: TextLocation(key))
        let symbol = message.longSymbol(text)
        if !hasOtherSpellings { hasOtherSpellings = !(symbol?.isASCII ?? text.isASCII) }
        try note(index, text.bytes, hash: symbol?.hash ?? text.hash, message)
      }
    }
  }

  @inline(__always)
  private mutating func note(
    _ index: Int, _ text: UnsafeRawBufferPointer, hash: UInt64, _ message: Message
  ) throws(FormatError) {
    let slot = try slot(of: text, hash: hash, message)
    guard slots[slot] == 0 else { try fail(.repeatedKey, at: entries[index]) }
    slots[slot] = hash & 0xFFFF_FFFF_0000_0000 | UInt64(index + 1)
  }

  /// Returns where the entry stands whose key has the given text, or nil if there is none.
  func entry(_ text: UnsafeRawBufferPointer, _ message: Message) throws(FormatError) -> Int? {
    guard let start = text.baseAddress else { return nil }
    let hash = TextKey.make(start, text.count, ByteHash()).hash
    let slot = try slot(of: text, hash: hash, message)
    return slots[slot] == 0 ? nil : entry(inSlot: slot)
  }

  private func entry(inSlot slot: Int) -> Int { entries[Int(slots[slot] & 0xFFFF_FFFF) - 1] }

  /// Returns the slot of the entry whose key has the given text, or a free one if there is none.
  private func slot(
    of text: UnsafeRawBufferPointer, hash: UInt64, _ message: Message
  ) throws(FormatError) -> Int {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      if slots[slot] >> 32 == hash >> 32 {
        if try message.hasKey(text, at: TextLocation(entry(inSlot: slot))) { return slot }
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }

  /// Checks that no two keys of a map are equal, and returns an index of the entries if they are many, which finds
  /// equal keys while it is made.
  static func checkingKeys(ofMap map: Range<Int>, _ message: Message) throws(FormatError) -> EntryIndex? {
    message.keyCheck.removeAll()
    var index: EntryIndex?
    var offset = map.lowerBound
    while offset < map.upperBound {
      if message.keyCheck.count == KeyCheck.mostCompared, index == nil {
        let all = try EntryIndex(message, map)
        if !all.hasOtherSpellings { return all }
        index = all
      }
      let value = try message.keyCheck.add(keyAt: offset, message.reader, message.tables)
      offset = try message.reader.end(of: value)
      guard offset <= map.upperBound else { try fail(.malformed, at: value) }
    }
    try message.finishKeyCheck()
    return index
  }
}
