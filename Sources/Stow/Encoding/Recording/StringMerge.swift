/// Finds the entries of a pool that hold the same string.
///
/// Looking up one after another in a table of all would miss the cache each time. So they are dealt by their
/// hashes into buckets first, and each bucket is searched with a table that fits the cache. Time and memory
/// (a card) for each entry do not depend on how many there are.
enum StringMerge {
  /// The top of a hash, whose first bits chose the bucket, and the index of its entry.
  typealias Card = (hash: UInt32, index: UInt32)

  private static let bucketSize = 1 << 11
  private static let mostBucketBits = 12

  /// Marks every entry but the first with the same string with the number of that one, counted from one, and
  /// counts its uses there. The marks of all others become 0.
  ///
  /// - Parameter cards: As many as entries.
  /// - Returns: Whether there were any.
  static func run(
    _ entries: UnsafeMutableBufferPointer<StringEntry>, _ bytes: UnsafePointer<UInt8>,
    _ cards: UnsafeMutableBufferPointer<Card>, _ hashing: ByteHash
  ) -> Bool {
    precondition(cards.count == entries.count)
    var bits = 0
    while bits < mostBucketBits, entries.count >> bits > bucketSize { bits += 1 }
    var ends = [Int](repeating: 0, count: 1 << bits)
    for index in entries.indices {
      entries[index].mark = 0
      ends[bucket(hash(of: entries[index], hashing), bits)] += 1
    }
    let table = [UInt32](repeating: 0, count: tableSize(for: ends.max() ?? 0))
    deal(entries, to: cards, &ends, bits, hashing)
    return search(cards, ends, table, entries, bytes)
  }

  /// The top of the hash.
  private static func hash(of entry: StringEntry, _ hashing: ByteHash) -> UInt32 {
    UInt32(truncatingIfNeeded: entry.key.hash(hashing) >> 32)
  }

  private static func bucket(_ hash: UInt32, _ bits: Int) -> Int { Int(UInt64(hash) >> UInt64(32 - bits)) }

  /// Puts the cards of each bucket after those of the one before.
  ///
  /// - Parameter ends: How many each bucket has; where it ends, afterwards.
  private static func deal(
    _ entries: UnsafeMutableBufferPointer<StringEntry>,
    to cards: UnsafeMutableBufferPointer<Card>, _ ends: inout [Int], _ bits: Int, _ hashing: ByteHash
  ) {
    var sum = 0
    for bucket in ends.indices {
      let size = ends[bucket]
      ends[bucket] = sum
      sum += size
    }
    for (index, entry) in entries.enumerated() {
      let hash = hash(of: entry, hashing)
      let bucket = bucket(hash, bits)
      cards[ends[bucket]] = (hash, UInt32(truncatingIfNeeded: index))
      ends[bucket] += 1
    }
  }

  private static func search(
    _ cards: UnsafeMutableBufferPointer<Card>, _ ends: [Int], _ table: consuming [UInt32],
    _ entries: UnsafeMutableBufferPointer<StringEntry>, _ bytes: UnsafePointer<UInt8>
  ) -> Bool {
    var hasTwins = false
    var start = 0
    for end in ends {
      let found = search(cards, start..<end, &table, entries, bytes)
      hasTwins = hasTwins || found
      start = end
    }
    return hasTwins
  }

  private static func tableSize(for count: Int) -> Int {
    var size = 4
    while size < count * 2 { size *= 2 }
    return size
  }

  /// Searches one bucket, whose cards are in the order of their entries.
  private static func search(
    _ cards: UnsafeMutableBufferPointer<Card>, _ range: Range<Int>, _ table: inout [UInt32],
    _ entries: UnsafeMutableBufferPointer<StringEntry>, _ bytes: UnsafePointer<UInt8>
  ) -> Bool {
    let mask = tableSize(for: range.count) - 1
    for slot in 0...mask { table[slot] = 0 }
    var hasTwins = false
    for number in range {
      let card = cards[number]
      var slot = Int(truncatingIfNeeded: card.hash) & mask
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
    _ one: StringEntry, _ other: StringEntry, _ bytes: UnsafePointer<UInt8>
  ) -> Bool {
    one.key == other.key
      && (one.key.isWhole || equalBytes(bytes + one.offset, bytes + other.offset, count: one.length))
  }

  private static func join(
    _ index: Int, to first: Int, _ entries: UnsafeMutableBufferPointer<StringEntry>
  ) {
    entries[first].valueUses &+= entries[index].valueUses
    entries[first].keyUses &+= entries[index].keyUses
    entries[index].valueUses = 0
    entries[index].keyUses = 0
    entries[index].mark = UInt32(first + 1)
  }
}
