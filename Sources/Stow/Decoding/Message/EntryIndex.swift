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

  init(_ session: DecodingSession, _ map: Range<Int>) throws(FormatError) {
    let reader = session.reader
    var entries: [Int] = []
    var offset = map.lowerBound
    while offset < map.upperBound {
      entries.append(offset)
      let value = try session.tables.endOfKey(reader, at: offset)
      offset = try reader.end(of: value)
      guard offset <= map.upperBound else { try fail(.malformed, at: value) }
    }
    self.entries = entries
    var size = 16
    while size < entries.count * 2 { size *= 2 }
    slots = [UInt64](repeating: 0, count: size)
    try fill(session)
  }

  private mutating func fill(_ session: DecodingSession) throws(FormatError) {
    let reader = session.reader
    for index in entries.indices {
      let text = try session.tables.text(reader, ofKeyAt: entries[index])
      let symbol = session.longSymbol(text)
      if !hasOtherSpellings { hasOtherSpellings = !(symbol?.isASCII ?? reader.isASCII(text)) }
      let hash = symbol?.hash ?? reader.hash(of: text)
      let slot = try slot(of: reader.bytes(of: text), hash: hash, session)
      guard slots[slot] == 0 else { try fail(.repeatedKey, at: entries[index]) }
      slots[slot] = hash & 0xFFFF_FFFF_0000_0000 | UInt64(index + 1)
    }
  }

  /// Where the entry stands whose key has the given text.
  func entry(_ text: UnsafeRawBufferPointer, _ session: DecodingSession) throws(FormatError) -> Int? {
    guard let start = text.baseAddress else { return nil }
    let hash = TextKey.make(start, text.count, ByteHash()).hash
    let slot = try slot(of: text, hash: hash, session)
    return slots[slot] == 0 ? nil : entry(inSlot: slot)
  }

  private func entry(inSlot slot: Int) -> Int { entries[Int(slots[slot] & 0xFFFF_FFFF) - 1] }

  /// The slot of the entry whose key has the given text; a free one if there is none.
  private func slot(
    of text: UnsafeRawBufferPointer, hash: UInt64, _ session: DecodingSession
  ) throws(FormatError) -> Int {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      if slots[slot] >> 32 == hash >> 32 {
        let key = try session.tables.text(session.reader, ofKeyAt: entry(inSlot: slot))
        if session.reader.matches(text, at: key.start) { return slot }
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }
}
