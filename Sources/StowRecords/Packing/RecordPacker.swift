import Stow

/// Packs the records of a scope: words that the window has too become copies of it.
struct RecordPacker {
  private var window = PackingWindow()
  /// By the hash of the four bytes with which a word of the window begins: where that is, counted from one.
  private var words: [UInt16] = []
  private var packed: [UInt8] = []

  private static let hashBits = 12

  /// A new scope begins.
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

  /// Packs a record and lends it to `body`; nil if it does not take fewer bytes so.
  @inline(__always)
  mutating func withPacked<Result>(
    _ record: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result? {
    // What defines symbols or shapes is read by all that follow, without a window.
    guard window.isClosed, record.count <= PackingWindow.mostUnpacked, record.first != RecordPrelude.tag
    else {
      return nil
    }
    let size = putParts(of: record)
    guard size > 0, size < record.count else { return nil }
    return packed.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<size])) }
  }

  /// Puts the parts of a record into `packed`, and returns how many bytes they take; 0 if it has nothing to copy.
  @inline(never)
  private mutating func putParts(of record: UnsafeRawBufferPointer) -> Int {
    // A copy takes fewer bytes than it stands for, with the head of the bytes after it as many at most.
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

  /// How many bytes are the same from two places on, where the shortest copy is; no more than the longest.
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
