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
    while let place = scan.next() {
      words[Self.hash(Self.load(record, place))] = UInt16(start + place + 1)
    }
  }

  /// Packs a record and lends it to `body`. Returns nil if that does not make it smaller.
  @inline(__always)
  mutating func withPacked<Result>(
    _ record: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result? {
    // Definitions of symbols and shapes are read by all later records, without a window.
    guard window.isClosed, record.count <= PackingWindow.mostUnpacked, record.first != RecordPrelude.tag
    else {
      return nil
    }
    let size = putParts(of: record)
    guard size > 0, size < record.count else { return nil }
    return packed.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<size])) }
  }

  /// Writes the parts of a record into `packed`, and returns how many bytes they take; 0 if there is nothing
  /// to copy.
  @inline(never)
  private mutating func putParts(of record: UnsafeRawBufferPointer) -> Int {
    // A copy is shorter than what it covers; with the head of the bytes after it, it is as long at most.
    let most = record.count + record.count / PackedParts.mostLiterals + 2
    if packed.count < most { packed = Array(repeating: 0, count: most) }
    return packed.withUnsafeMutableBytes { packed in
      window.bytes.withUnsafeBytes { window in
        words.withUnsafeBufferPointer { words in
          var writer = PartWriter(record, packed)
          Self.putParts(of: record, window, words, &writer)
          return writer.end
        }
      }
    }
  }

  @inline(__always)
  private static func putParts(
    of record: UnsafeRawBufferPointer, _ window: UnsafeRawBufferPointer, _ words: UnsafeBufferPointer<UInt16>,
    _ writer: inout PartWriter
  ) {
    var scan = WordScan(record)
    while let place = scan.next() {
      let word = load(record, place)
      let found = Int(words[hash(word)]) - 1
      guard found >= 0, load(window, found) == word else { continue }
      let length = commonLength(window, found, record, place)
      writer.putCopy(found, length, at: place)
      scan.skip(to: place + length)
    }
    writer.finish()
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
