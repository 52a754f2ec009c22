/// Finds the entries of a pool that hold the same string.
///
/// Looking up one after another in a table of all would miss the cache each time. So they are dealt by their
/// hashes into buckets first, and each bucket is searched with a table that fits the cache. Time and memory
/// (eight bytes) for each entry do not depend on how many there are.
enum StringMerge {
  /// The middle of a hash, whose top chose the bucket, and the index of its entry.
  private typealias Card = (hash: UInt32, index: UInt32)

  private static let bucketSize = 1 << 11
  private static let mostBucketBits = 12

  /// Marks every entry but the first with the same string with the number of that one, counted from one, and
  /// counts its uses there.
  ///
  /// - Returns: Whether there were any.
  static func run(
    _ entries: UnsafeMutableBufferPointer<StringPool.Entry>, _ bytes: UnsafePointer<UInt8>,
    _ hashing: ByteHash
  ) -> Bool {
    var bits = 0
    while bits < mostBucketBits, entries.count >> bits > bucketSize { bits += 1 }
    var ends = [Int](repeating: 0, count: 1 << bits)
    for entry in entries { ends[bucket(entry.key.hash(hashing), bits)] += 1 }
    let largest = ends.max() ?? 0
    var sum = 0
    for bucket in ends.indices {
      let size = ends[bucket]
      ends[bucket] = sum
      sum += size
    }
    return withUnsafeTemporaryAllocation(of: Card.self, capacity: entries.count) { cards in
      for (index, entry) in entries.enumerated() {
        let hash = entry.key.hash(hashing)
        let bucket = bucket(hash, bits)
        cards[ends[bucket]] = (UInt32(truncatingIfNeeded: hash >> 16), UInt32(truncatingIfNeeded: index))
        ends[bucket] += 1
      }
      var table = [UInt32](repeating: 0, count: tableSize(for: largest))
      var hasTwins = false
      var start = 0
      for end in ends {
        let found = search(cards, start..<end, &table, entries, bytes)
        hasTwins = hasTwins || found
        start = end
      }
      return hasTwins
    }
  }

  private static func bucket(_ hash: UInt64, _ bits: Int) -> Int {
    Int((hash >> 32) >> UInt64(32 - bits))
  }

  private static func tableSize(for count: Int) -> Int {
    var size = 4
    while size < count * 2 { size *= 2 }
    return size
  }

  /// Searches one bucket, whose cards are in the order of their entries.
  private static func search(
    _ cards: UnsafeMutableBufferPointer<Card>, _ range: Range<Int>, _ table: inout [UInt32],
    _ entries: UnsafeMutableBufferPointer<StringPool.Entry>, _ bytes: UnsafePointer<UInt8>
  ) -> Bool {
    let mask = tableSize(for: range.count) - 1
    for slot in 0...mask { table[slot] = 0 }
    var hasTwins = false
    for number in range {
      let card = cards[number]
      var slot = Int(card.hash) & mask
      while table[slot] != 0 {
        let other = cards[range.lowerBound + Int(table[slot]) - 1]
        if other.hash == card.hash, areTwins(entries[Int(other.index)], entries[Int(card.index)], bytes) {
          join(Int(card.index), to: Int(other.index), entries)
          hasTwins = true
          break
        }
        slot = (slot + 1) & mask
      }
      if table[slot] == 0 { table[slot] = UInt32(number - range.lowerBound + 1) }
    }
    return hasTwins
  }

  private static func areTwins(
    _ one: StringPool.Entry, _ other: StringPool.Entry, _ bytes: UnsafePointer<UInt8>
  ) -> Bool {
    one.key == other.key
      && (one.key.isWhole || equalBytes(bytes + one.offset, bytes + other.offset, count: one.length))
  }

  private static func join(
    _ index: Int, to first: Int, _ entries: UnsafeMutableBufferPointer<StringPool.Entry>
  ) {
    entries[first].valueUses &+= entries[index].valueUses
    entries[first].keyUses &+= entries[index].keyUses
    entries[index].valueUses = 0
    entries[index].keyUses = 0
    entries[index].mark = UInt32(first + 1)
  }
}
