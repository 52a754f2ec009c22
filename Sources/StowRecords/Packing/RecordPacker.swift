import Stow

/// Packs the records of a scope: words that are also in the window become copies.
struct RecordPacker {
  private var window = PackingWindow()
  /// A hash table of the words in the window, by their first four bytes: where each begins, counted from one.
  private var words: [UInt16] = []
  private var packed: [UInt8] = []

  private static let hashBits = 12

  /// Begins a new scope.
  mutating func removeAll() {
    window.removeAll()
    if words.isEmpty { words = Array(repeating: 0, count: 1 << Self.hashBits) }
    words.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
  }

  /// Takes in a record that is written plain.
  mutating func add(_ record: UnsafeRawBufferPointer) {
    let start = window.bytes.count
    guard window.add(record) else { return }
    var scan = WordScan(record)
    while let place = scan.next() { words[Self.hash(Self.load(record, place))] = UInt16(start + place + 1) }
  }

  /// Packs a record and lends it to `body`. Returns nil if that does not make it smaller.
  @inline(__always)
  mutating func withPacked<Result>(
    _ record: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result? {
    // Definitions of symbols and shapes are read by all later records, without a window.
    guard window.isClosed, record.count <= PackingWindow.mostUnpacked, record.first != RecordPrelude.tag else {
      return nil
    }
    window.bytes.withUnsafeBytes { putParts(of: record, $0) }
    guard !packed.isEmpty, packed.count < record.count else { return nil }
    return packed.withUnsafeBytes(body)
  }

  /// Makes `packed` the parts of a record; nothing if there is nothing to copy.
  private mutating func putParts(of record: UnsafeRawBufferPointer, _ window: UnsafeRawBufferPointer) {
    packed.removeAll(keepingCapacity: true)
    var done = 0
    var scan = WordScan(record)
    while let place = scan.next() {
      let word = Self.load(record, place)
      let found = Int(words[Self.hash(word)]) - 1
      guard found >= 0, Self.load(window, found) == word else { continue }
      let length = Self.commonLength(window, found, record, place)
      putLiterals(record[done..<place])
      putCopy(found, length)
      done = place + length
      scan.skip(to: done)
    }
    if done > 0 { putLiterals(record[done...]) }
  }

  private mutating func putLiterals(_ bytes: Slice<UnsafeRawBufferPointer>) {
    var rest = bytes
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest.prefix(PackedParts.mostLiterals))
      packed.append(UInt8(part.count - 1))
      packed.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
    }
  }

  private mutating func putCopy(_ offset: Int, _ length: Int) {
    let code = min(length, PackedParts.longCopy) - PackedParts.leastCopy
    packed.append(UInt8(truncatingIfNeeded: 0x80 | code << 4 | offset >> 8))
    packed.append(UInt8(truncatingIfNeeded: offset))
    if length >= PackedParts.longCopy { packed.append(UInt8(length - PackedParts.longCopy)) }
  }

  // MARK: - Words

  @inline(__always)
  private static func load(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
    bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
  }

  @inline(__always)
  private static func hash(_ word: UInt32) -> Int { Int((word &* 2_654_435_761) >> (32 - UInt32(hashBits))) }

  /// Returns how many bytes are equal from two places on, up to the longest copy. The shortest copy is known
  /// to be equal.
  @inline(__always)
  private static func commonLength(
    _ window: UnsafeRawBufferPointer, _ start: Int, _ record: UnsafeRawBufferPointer, _ place: Int
  ) -> Int {
    let most = min(window.count - start, record.count - place, PackedParts.mostCopied)
    var length = PackedParts.leastCopy
    while length + 8 <= most {
      let one = window.loadUnaligned(fromByteOffset: start + length, as: UInt64.self).littleEndian
      let other = record.loadUnaligned(fromByteOffset: place + length, as: UInt64.self).littleEndian
      if one != other { return length + (one ^ other).trailingZeroBitCount / 8 }
      length += 8
    }
    while length < most, window[start + length] == record[place + length] { length += 1 }
    return length
  }
}

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
