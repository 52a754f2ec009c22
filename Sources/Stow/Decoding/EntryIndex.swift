/// Finds the entries of a map by the text of their keys.
///
/// Made when a map is read out of turn and is too long to be searched from end to end. One walk over the
/// map; 24 to 40 bytes for each entry. No strings are made.
struct EntryIndex {
  private let entries: [Int]
  /// The number of an entry counted from one, and the high half of its hash; 0 where free.
  private let slots: [UInt64]
  private let hashing = ByteHash()
  /// Whether some key has characters beyond ASCII, and so could equal a string of other bytes.
  let hasOtherSpellings: Bool

  init(_ reader: ByteReader, _ tables: borrowing MessageTables, _ map: Range<Int>) throws(FormatError) {
    var entries: [Int] = []
    var offset = map.lowerBound
    while offset < map.upperBound {
      entries.append(offset)
      let value = try tables.endOfKey(reader, at: offset)
      offset = try reader.end(of: value)
      guard offset <= map.upperBound else { throw FormatError(.malformed, at: value) }
    }
    var size = 16
    while size < entries.count * 2 { size *= 2 }
    var slots = [UInt64](repeating: 0, count: size)
    var hasOtherSpellings = false
    for index in entries.indices {
      let text = try tables.text(reader, ofKeyAt: entries[index])
      if !hasOtherSpellings { hasOtherSpellings = !reader.isASCII(text) }
      let hash = TextKey.make(reader.pointer(at: text.start), text.end - text.start, hashing).hash
      var slot = Int(truncatingIfNeeded: hash) & (size - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = hash & 0xFFFF_FFFF_0000_0000 | UInt64(index + 1)
    }
    self.entries = entries
    self.slots = slots
    self.hasOtherSpellings = hasOtherSpellings
  }

  /// Where the entry stands whose key has the given text.
  func entry(
    _ text: UnsafeRawBufferPointer, _ reader: ByteReader, _ tables: borrowing MessageTables
  ) throws(FormatError) -> Int? {
    guard let start = text.baseAddress else { return nil }
    let hash = TextKey.make(start, text.count, hashing).hash
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      if slots[slot] >> 32 == hash >> 32 {
        let entry = entries[Int(slots[slot] & 0xFFFF_FFFF) - 1]
        if reader.matches(text, at: try tables.text(reader, ofKeyAt: entry).start) { return entry }
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }
}
