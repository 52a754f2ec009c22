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
  private let hashing = ByteHash()

  private static let smallestMask = 63
  /// The next message gets a new table if this one has more slots, or more for each entry than `slotsPerEntry`.
  private static let retainedMask = 1 << 16 - 1
  private static let slotsPerEntry = 256

  init() { bytes.extend(to: BackwardWriter.shortLimit) }

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
    let (index, slot) = look(source, key, hash: hash)
    if index >= 0 {
      hasRepeats = true
      return index
    }
    table.set(slot, hash, count)
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
    if count * 2 > table.mask { growTable() }
    return count &- 1
  }

  /// The same, not inlined, for callers that add few strings.
  @inline(never)
  mutating func add(_ utf8: UnsafeRawBufferPointer) -> Int { intern(utf8) }

  @inline(never)
  private mutating func growTable() {
    table = StringTable(mask: table.mask * 2 + 1)
    for index in 0..<count {
      let hash = entries.base[index].key.hash(hashing)
      table.set(table.find(hash) { _ in false }.slot, hash, index)
    }
  }

  /// Returns the index of a string that is here already, or −1.
  @inline(__always)
  func find(_ utf8: UnsafeRawBufferPointer) -> Int {
    guard mayContain(Self.filterBit(utf8)) else { return -1 }
    let source = utf8.baseAddress ?? UnsafeRawPointer(bytes.base)
    let (key, hash) = TextKey.make(source, utf8.count, hashing)
    return look(source, key, hash: hash).index
  }

  /// Returns whether strings with any of these bits may be here: false for most that are not.
  func mayContain(_ bits: UInt64) -> Bool { filter & bits != 0 }

  /// Returns one of 64 bits, by the length of a string and its first byte.
  static func filterBit(_ utf8: UnsafeRawBufferPointer) -> UInt64 {
    1 &<< (UInt64(truncatingIfNeeded: utf8.count) &* 7 &+ UInt64(utf8.first ?? 0))
  }

  /// Returns the entry with these bytes; if there is no such entry, −1 and the free slot where it would be.
  @inline(__always)
  private func look(_ source: UnsafeRawPointer, _ key: TextKey, hash: UInt64) -> (index: Int, slot: Int) {
    table.find(hash) {
      let entry = entries.base + $0
      return entry.pointee.key == key
        && (key.isWhole || CLibrary.areEqual(bytes.base + entry.pointee.offset, source, key.length))
    }
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
  mutating func removeAll() {
    if count == 0 { return }
    if table.mask > min(Self.retainedMask, count * Self.slotsPerEntry) {
      table = StringTable(mask: Self.smallestMask)
    } else {
      table.removeAll()
    }
    entries.removeAll()
    bytes.removeAll()
    bytes.extend(to: BackwardWriter.shortLimit)
    hasRepeats = false
    filter = 0
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

/// A hash table with open addressing: where the entries of a pool are, by the hashes of their strings.
///
/// Some bits of each hash are kept apart from the indices of the entries: looking for a missing string reads
/// nothing else, two bytes for each slot, and these stay in the processor's cache.
struct StringTable: ~Copyable {
  /// Some bits of a hash; 0 for a free slot.
  private var tags: UnsafeMutablePointer<UInt16>
  private var indices: UnsafeMutablePointer<UInt32>
  private(set) var mask: Int

  /// Makes an empty table of `mask + 1` slots, a power of two.
  init(mask: Int) {
    self.mask = mask
    tags = .allocate(capacity: mask + 1)
    tags.initialize(repeating: 0, count: mask + 1)
    indices = .allocate(capacity: mask + 1)
  }

  deinit {
    tags.deallocate()
    indices.deallocate()
  }

  private static func tag(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash &>> 48) | 1 }

  /// Returns the entry with this hash that `isWanted`; without one, −1 and the free slot where it would be.
  @inline(__always)
  func find(_ hash: UInt64, _ isWanted: (Int) -> Bool) -> (index: Int, slot: Int) {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while tags[slot] != 0 {
      if tags[slot] == Self.tag(hash) {
        let index = Int(indices[slot])
        if isWanted(index) { return (index, slot) }
      }
      slot = (slot &+ 1) & mask
    }
    return (-1, slot)
  }

  /// Notes the index of an entry in a free slot that `find` has found, with no other noted since.
  @inline(__always)
  mutating func set(_ slot: Int, _ hash: UInt64, _ index: Int) {
    tags[slot] = Self.tag(hash)
    indices[slot] = UInt32(truncatingIfNeeded: index)
  }

  mutating func removeAll() { tags.update(repeating: 0, count: mask + 1) }
}
