#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The distinct strings of one message: each is kept once, and later uses are an index.
///
/// A table of hashes with open addressing. The hash has a seed of the process, so that strings cannot be
/// crafted to collide; the order of the entries, and so the bytes of the message, does not depend on it.
struct StringPool: ~Copyable {
  struct Entry {
    var hash: UInt64
    var offset: Int
    var length: Int
    /// How often the string is written as a value, and as a key.
    var valueUses: UInt32
    var keyUses: UInt32
    /// The number of its symbol, counted from one; 0 if it has none.
    var symbol: UInt32
    /// The map in which the string was last seen as a key.
    var lastMap: UInt32
  }

  private var entries: UnsafeMutablePointer<Entry>
  private(set) var count = 0
  private var entryCapacity = 32
  /// The high half of a hash and the number of its entry, counted from one; 0 where free.
  private var slots: UnsafeMutablePointer<UInt64>
  private var mask = 63
  private var bytes: UnsafeMutablePointer<UInt8>
  private(set) var byteCount = 0
  private var byteCapacity = 1024

  private let byteHash = ByteHash()
  /// A bit for every length, modulo 64, that some string has.
  private var lengths: UInt64 = 0
  private static let retainedBytes = 1 << 18

  init() {
    entries = .allocate(capacity: entryCapacity)
    slots = .allocate(capacity: mask + 1)
    slots.initialize(repeating: 0, count: mask + 1)
    bytes = .allocate(capacity: byteCapacity)
  }

  deinit {
    entries.deallocate()
    slots.deallocate()
    bytes.deallocate()
  }

  /// The index of `string`, which is added if it is new.
  @inline(__always)
  mutating func intern(_ string: borrowing String) -> Int {
    let index = string.utf8.withContiguousStorageIfAvailable { self.intern($0) }
    return index ?? internForeign(copy string)
  }

  @inline(never)
  private mutating func internForeign(_ string: String) -> Int {
    var string = string
    return string.withUTF8 { intern($0) }
  }

  @inline(__always)
  mutating func intern(_ utf8: UnsafeBufferPointer<UInt8>) -> Int { intern(UnsafeRawBufferPointer(utf8)) }

  mutating func intern(_ utf8: UnsafeRawBufferPointer) -> Int {
    let source = utf8.baseAddress ?? UnsafeRawPointer(bytes)
    let hash = byteHash(source, utf8.count)
    let (index, slot) = look(source, utf8.count, hash: hash)
    return index >= 0 ? index : insert(source, utf8.count, hash: hash, slot: slot)
  }

  /// The index of a string that is here already; −1 if it is not.
  func find(_ utf8: UnsafeRawBufferPointer) -> Int {
    // Most strings that are not here have a length that is not here.
    guard lengths &>> UInt64(truncatingIfNeeded: utf8.count) & 1 == 1 else { return -1 }
    let source = utf8.baseAddress ?? UnsafeRawPointer(bytes)
    return look(source, utf8.count, hash: byteHash(source, utf8.count)).index
  }

  /// The entry with these bytes; −1 if there is none, and the free slot where it would be.
  @inline(__always)
  private func look(_ source: UnsafeRawPointer, _ length: Int, hash: UInt64) -> (index: Int, slot: Int) {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while true {
      let found = slots[slot]
      if found == 0 { return (-1, slot) }
      if found >> 32 == hash >> 32 {
        let index = Int(truncatingIfNeeded: found & 0xFFFF_FFFF) &- 1
        let entry = entries + index
        if entry.pointee.length == length, equalBytes(bytes + entry.pointee.offset, source, count: length) {
          return (index, slot)
        }
      }
      slot = (slot &+ 1) & mask
    }
  }

  @inline(never)
  private mutating func insert(_ source: UnsafeRawPointer, _ length: Int, hash: UInt64, slot: Int) -> Int {
    if length > byteCapacity - byteCount { growBytes(length) }
    UnsafeMutableRawPointer(bytes + byteCount).copyMemory(from: source, byteCount: length)
    if count == entryCapacity { growEntries() }
    (entries + count).initialize(
      to: Entry(
        hash: hash, offset: byteCount, length: length, valueUses: 0, keyUses: 0, symbol: 0, lastMap: 0))
    byteCount += length
    count += 1
    lengths |= 1 &<< UInt64(truncatingIfNeeded: length)
    slots[slot] = hash & 0xFFFF_FFFF_0000_0000 | UInt64(count)
    if count * 2 > mask { growSlots() }
    return count - 1
  }

  @inline(__always)
  mutating func countValueUse(_ index: Int) {
    precondition(index >= 0 && index < count)
    entries[index].valueUses &+= 1
  }

  @inline(__always)
  mutating func countKeyUses(_ index: Int, _ uses: Int = 1) {
    precondition(index >= 0 && index < count)
    entries[index].keyUses = UInt32(truncatingIfNeeded: Int(entries[index].keyUses) &+ uses)
  }

  @inline(__always)
  subscript(index: Int) -> Entry {
    get {
      precondition(index >= 0 && index < count)
      return entries[index]
    }
    set {
      precondition(index >= 0 && index < count)
      entries[index] = newValue
    }
  }

  /// The UTF-8 of the string at `index`, until the next one is added.
  @inline(__always)
  func utf8(_ index: Int) -> UnsafeRawBufferPointer {
    let entry = self[index]
    return UnsafeRawBufferPointer(start: bytes + entry.offset, count: entry.length)
  }

  func string(_ index: Int) -> String { String(decoding: utf8(index), as: UTF8.self) }

  /// The entries as a buffer, for a walk over all of them.
  var all: UnsafeMutableBufferPointer<Entry> { UnsafeMutableBufferPointer(start: entries, count: count) }

  /// Forgets every string, and the memory if it was a large message.
  mutating func removeAll() {
    if count == 0 { return }
    if byteCapacity > Self.retainedBytes || mask > Self.retainedBytes / 8 {
      self = StringPool()
      return
    }
    if count * 8 < mask { clearSlots() } else { slots.update(repeating: 0, count: mask + 1) }
    count = 0
    byteCount = 0
    lengths = 0
  }

  /// Frees the slots of the entries alone: they are few, and the table is large.
  private func clearSlots() {
    for index in 0..<count {
      var slot = Int(truncatingIfNeeded: entries[index].hash) & mask
      while slots[slot] != 0 {
        slots[slot] = 0
        slot = (slot + 1) & mask
      }
    }
  }

  // MARK: growth

  private mutating func growBytes(_ length: Int) {
    let capacity = max(byteCapacity * 2, byteCount + length)
    let newBytes = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    newBytes.update(from: bytes, count: byteCount)
    bytes.deallocate()
    bytes = newBytes
    byteCapacity = capacity
  }

  private mutating func growEntries() {
    let newEntries = UnsafeMutablePointer<Entry>.allocate(capacity: entryCapacity * 2)
    newEntries.moveInitialize(from: entries, count: count)
    entries.deallocate()
    entries = newEntries
    entryCapacity *= 2
  }

  private mutating func growSlots() {
    let size = (mask + 1) * 4
    slots.deallocate()
    slots = .allocate(capacity: size)
    slots.initialize(repeating: 0, count: size)
    mask = size - 1
    for index in 0..<count {
      let hash = entries[index].hash
      var slot = Int(truncatingIfNeeded: hash) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = hash & 0xFFFF_FFFF_0000_0000 | UInt64(index + 1)
    }
  }
}
