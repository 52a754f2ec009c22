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

  private static let seed = UInt64.random(in: .min ... .max)
  private let seed = Self.seed
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

  mutating func intern(_ utf8: UnsafeBufferPointer<UInt8>) -> Int {
    let length = utf8.count
    let source = utf8.baseAddress.map(UnsafeRawPointer.init) ?? UnsafeRawPointer(bytes)
    let hash = hash(source, length)
    var slot = Int(truncatingIfNeeded: hash) & mask
    while true {
      let found = slots[slot]
      if found == 0 { break }
      if found >> 32 == hash >> 32 {
        let index = Int(truncatingIfNeeded: found & 0xFFFF_FFFF) &- 1
        let entry = entries[index]
        if entry.length == length, equalBytes(bytes + entry.offset, source, count: length) { return index }
      }
      slot = (slot &+ 1) & mask
    }
    return insert(source, length, hash: hash, slot: slot)
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

  // MARK: hashing

  /// Folds the 128-bit product of two words: every bit of either reaches every bit of the result.
  @inline(__always)
  private func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  @inline(__always)
  private func hash(_ start: UnsafeRawPointer, _ length: Int) -> UInt64 {
    let first: UInt64
    let last: UInt64
    var state = seed ^ UInt64(truncatingIfNeeded: length)
    if length >= 8 {
      var offset = 0
      while offset &+ 16 < length {
        state = mix(
          start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ 0xA076_1D64_78BD_642F,
          start.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self) ^ state)
        offset &+= 16
      }
      first = start.loadUnaligned(fromByteOffset: max(0, length &- 16), as: UInt64.self)
      last = start.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
    } else if length >= 4 {
      first = UInt64(start.loadUnaligned(as: UInt32.self))
      last = UInt64(start.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self))
    } else {
      var word: UInt64 = 0
      for offset in 0..<length {
        word = word << 8 | UInt64(start.load(fromByteOffset: offset, as: UInt8.self))
      }
      first = word
      last = 0
    }
    return mix(first ^ 0xE703_7ED1_A0B4_28DB, last ^ state)
  }
}
