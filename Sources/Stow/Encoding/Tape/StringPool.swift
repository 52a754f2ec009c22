/// The distinct strings of one message: each is kept once, and later uses are an index.
///
/// They are looked up by a hash with a seed of the process, so that strings cannot be crafted to collide; the
/// order of the entries, and so the bytes of the message, does not depend on it.
struct StringPool: ~Copyable {
  private var entries = GrowableBuffer<StringEntry>(capacity: 32)
  /// The strings, each after its header. Before the first are as many bytes as `BackwardWriter.shortBytes` reads there.
  private var bytes = GrowableBuffer<UInt8>(capacity: 1024)
  private var table = StringTable(mask: StringPool.smallestMask)
  private(set) var hasRepeats = false
  /// A Bloom filter of all strings.
  private var filter: UInt64 = 0
  /// Fewer strings than these are not in the table: the filter finds most that are new.
  private static let fewest = 8
  /// The number of strings at which the table grows.
  private var limit = StringPool.fewest
  private let hashing = ByteHash()

  private static let smallestMask = 63
  /// The next message gets a new table if this one has more slots, or more for each entry than `slotsPerEntry`.
  private static let retainedMask = 1 << 16 - 1
  private static let slotsPerEntry = 256

  init() { bytes.removeAll(keeping: BackwardWriter.shortLimit) }

  var count: Int { entries.count }
  var byteCount: Int { bytes.count }

  /// Returns the index of `string`, which is added if it is new.
  @inline(__always)
  mutating func intern(_ string: borrowing String) -> Int {
    string.utf8.withContiguousStorageIfAvailable { self.intern(UnsafeRawBufferPointer($0)) }
      ?? internForeign(copy string)
  }

  @inline(never)
  private mutating func internForeign(_ string: String) -> Int {
    var string = string
    return string.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  mutating func intern(_ utf8: UnsafeRawBufferPointer) -> Int {
    let source = utf8.baseAddress ?? UnsafeRawPointer(bytes.base)
    let (key, hash) = TextKey.make(source, utf8.count, hashing)
    if count >= Self.fewest {
      let (index, slot) = table.find(hash) { isEntry($0, source, key) }
      if index >= 0 {
        hasRepeats = true
        return index
      }
      table.set(slot, hash, count)
    } else if mayContain(Self.filterBit(utf8)), case let index = lookAmongFew(source, key), index >= 0 {
      hasRepeats = true
      return index
    }
    let length = key.length
    bytes.reserve(length &+ 18)
    let start = UnsafeMutableRawPointer(bytes.base + bytes.count)
    let place = start + Strings.headerSize(length)
    Strings.writeHeader(length, to: start)
    // A short string is stored as two words.
    if key.isWhole { key.store(to: place) } else { place.copyMemory(from: source, byteCount: length) }
    let offset = bytes.count &+ Strings.headerSize(length)
    bytes.extend(to: offset &+ length)
    entries.append(StringEntry(key: key, offset: offset))
    filter |= Self.filterBit(UnsafeRawBufferPointer(start: place, count: length))
    if count == limit { growTable() }
    return count &- 1
  }

  /// The same, not inlined, for callers that add few strings.
  @inline(never)
  mutating func add(_ utf8: UnsafeRawBufferPointer) -> Int { intern(utf8) }

  @inline(never)
  private mutating func growTable() {
    if count > Self.fewest { table = StringTable(mask: table.mask * 2 + 1) }
    for index in 0..<count {
      let hash = entries.base[index].key.hash(hashing)
      table.set(table.find(hash) { _ in false }.slot, hash, index)
    }
    limit = (table.mask + 1) / 2
  }

  /// Returns the index of a string that is here already, or −1.
  @inline(__always)
  func find(_ utf8: UnsafeRawBufferPointer) -> Int {
    guard mayContain(Self.filterBit(utf8)) else { return -1 }
    let source = utf8.baseAddress ?? UnsafeRawPointer(bytes.base)
    let (key, hash) = TextKey.make(source, utf8.count, hashing)
    if count < Self.fewest { return lookAmongFew(source, key) }
    return table.find(hash) { isEntry($0, source, key) }.index
  }

  /// Returns whether strings with any of these bits may be here: false for most that are not.
  func mayContain(_ bits: UInt64) -> Bool { filter & bits != 0 }

  /// Returns one of 64 bits, by the length of a string and its first byte.
  static func filterBit(_ utf8: UnsafeRawBufferPointer) -> UInt64 {
    1 &<< (UInt64(truncatingIfNeeded: utf8.count) &* 7 &+ UInt64(utf8.first ?? 0))
  }

  @inline(never)
  private func lookAmongFew(_ source: UnsafeRawPointer, _ key: TextKey) -> Int {
    (0..<count).first { isEntry($0, source, key) } ?? -1
  }

  @inline(__always)
  private func isEntry(_ index: Int, _ source: UnsafeRawPointer, _ key: TextKey) -> Bool {
    entries.base[index].key == key
      && (key.isWhole || CLibrary.areEqual(bytes.base + entries.base[index].offset, source, key.length))
  }

  subscript(index: Int) -> StringEntry {
    get { entries[index] }
    @inline(__always) _modify { yield &entries[index] }
  }

  /// Returns the UTF-8 of the string at `index`, valid until the next one is added.
  func utf8(_ index: Int) -> UnsafeRawBufferPointer { utf8(of: entries[index]) }

  /// Returns the UTF-8 of an entry of this pool, which comes from a checked index. `BackwardWriter.shortBytes` can copy
  /// it.
  @inline(__always)
  func utf8(of entry: StringEntry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.base + entry.offset, count: entry.length)
  }

  func string(_ index: Int) -> String { String(decoding: utf8(index), as: UTF8.self) }

  /// Forgets every string, and the memory if it was a large message.
  @inline(__always)
  mutating func removeAll() {
    if count >= Self.fewest { removeTable() }
    entries.removeAll()
    bytes.removeAll(keeping: BackwardWriter.shortLimit)
    hasRepeats = false
    filter = 0
  }

  @inline(never)
  private mutating func removeTable() {
    limit = Self.fewest
    if table.mask > min(Self.retainedMask, count * Self.slotsPerEntry) {
      table = StringTable(mask: Self.smallestMask)
    } else {
      table.removeAll()
    }
  }
}

/// A string of a pool: where it is, and how it is used.
struct StringEntry: BitwiseCopyable {
  let key: TextKey
  let offset: Int
  /// How often the string is written as a value, and as a key.
  var valueUses: UInt32 = 0
  var keyUses: UInt32 = 0
  /// The number of its symbol, counted from one; 0 if it has no symbol.
  var symbol: UInt32 = 0
  /// In a message with maps, the map in which the string was last seen as a key; among definitions, whether a reference
  /// is shorter than the text.
  var mark: UInt32 = 0

  var length: Int { key.length }
}
