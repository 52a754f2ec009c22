/// Where the entries of a pool are, by the hashes of their strings: a table with open addressing.
///
/// Some bits of each hash stand apart from the numbers of the entries: looking for a string that is not there reads
/// nothing else, two bytes for each slot, and these stay in the processor's cache. Looking strings up is most of what
/// encoding very many costs.
struct StringTable: ~Copyable {
  /// Some bits of a hash; 0 where free.
  private var tags: UnsafeMutablePointer<UInt16>
  private var indices: UnsafeMutablePointer<UInt32>
  private(set) var mask: Int

  /// An empty table of `mask + 1` slots, a power of two.
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

  @inline(__always)
  private static func tag(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash &>> 48) | 1 }

  @inline(__always)
  private func firstSlot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & mask }

  /// The entry with this hash that `isWanted`; −1 if there is none, and the free slot where it would be.
  @inline(__always)
  func find(_ hash: UInt64, _ isWanted: (Int) -> Bool) -> (index: Int, slot: Int) {
    var slot = firstSlot(hash)
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

  /// Notes the index of an entry that is not in the table.
  mutating func add(_ hash: UInt64, _ index: Int) {
    set(find(hash) { _ in false }.slot, hash, index)
  }

  mutating func removeAll() { tags.update(repeating: 0, count: mask + 1) }

  /// Frees the slots from the first for this hash up to a free one.
  mutating func removeCluster(_ hash: UInt64) {
    var slot = firstSlot(hash)
    while tags[slot] != 0 {
      tags[slot] = 0
      slot = (slot + 1) & mask
    }
  }

  /// Hands the index of every entry to `body`.
  func visit(_ body: (Int) -> Void) {
    for slot in 0...mask where tags[slot] != 0 { body(Int(indices[slot])) }
  }
}
