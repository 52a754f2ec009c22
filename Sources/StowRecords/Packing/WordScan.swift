/// Finds where words begin: ASCII letters after something else. Looks at eight bytes at a time.
struct WordScan {
  private let bytes: UnsafeRawBufferPointer
  /// The position of the eight bytes being looked at.
  private var position = -8
  /// The high bits of the bytes among them that begin words and were not returned yet.
  private var starts: UInt64 = 0
  /// The high bit of the first byte, if the byte before it is a letter.
  private var before: UInt64 = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Returns where the next word begins that has room for the shortest copy, or nil. A word that begins in
  /// the last bytes may be skipped.
  @inline(__always)
  mutating func next() -> Int? {
    while starts == 0 {
      guard position + 16 <= bytes.count else { return nil }
      position += 8
      let letters = Self.letters(bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self).littleEndian)
      starts = letters & ~(letters << 8 | before)
      before = letters >> 56
    }
    let start = position + starts.trailingZeroBitCount / 8
    starts &= starts - 1
    return start + PackedParts.leastCopy <= bytes.count ? start : nil
  }

  /// Continues at a place after the last word found.
  @inline(__always)
  mutating func skip(to place: Int) {
    if place < position + 8 {
      starts &= .max << UInt64((place - position) * 8)
    } else {
      starts = 0
      position = place - 8
      before = Self.letters(UInt64(bytes[place - 1]))
    }
  }

  /// Returns the high bit of each byte that is a letter.
  @inline(__always)
  private static func letters(_ word: UInt64) -> UInt64 {
    let lowercase = (word | 0x2020_2020_2020_2020) & 0x7F7F_7F7F_7F7F_7F7F
    let fromA = lowercase &+ 0x1F1F_1F1F_1F1F_1F1F
    let afterZ = lowercase &+ 0x0505_0505_0505_0505
    return fromA & ~afterZ & ~word & 0x8080_8080_8080_8080
  }
}
