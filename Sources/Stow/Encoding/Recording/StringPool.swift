/// The distinct strings of one message: each is kept once, and later uses are an index.
///
/// They are looked up by a hash with a seed of the process, so that strings cannot be crafted to collide; the
/// order of the entries, and so the bytes of the message, does not depend on it.
struct StringPool: ~Copyable {
  private var entries = GrowableBuffer<StringEntry>(capacity: 32)
  private var bytes = StringPool.makeBytes()
  private var table = StringTable(mask: StringPool.smallestMask)
  /// How many entries the table knows.
  private var known = 0
  /// Whether the table knows none of the entries, because they are few or were added as new.
  private var isUnlisted = true
  /// Whether one of few entries came again. With a table nobody notes that.
  private var hasRepeats = false
  private var hasFollowers = false

  private let hashing = ByteHash()
  /// `SmallString.isKnown`, at hand without the check that a global was made.
  private let knowsSmallStrings = SmallString.isKnown
  /// The bits of all strings.
  private var filter: UInt64 = 0

  /// So many entries are compared one by one, for which a small message needs no table.
  private static let few = 8
  private static let smallestMask = 63
  /// A table of more slots is made anew for the next message.
  private static let retainedMask = 1 << 16 - 1
  /// A table of no more slots for each entry is cleared at once; in a larger one those of every entry are found.
  private static let slotsPerEntry = 256

  private static func makeBytes() -> GrowableBuffer<UInt8> {
    var bytes = GrowableBuffer<UInt8>(capacity: 1024)
    clear(&bytes)
    return bytes
  }

  /// Before the first string stand as many bytes as `BackwardWriter.shortBytes` wants.
  private static func clear(_ bytes: inout GrowableBuffer<UInt8>) {
    bytes.removeAll()
    bytes.extend(to: BackwardWriter.shortLimit)
  }

  /// Whether no string came twice, so far as that was noted.
  @inline(__always)
  var hasOnlyNew: Bool { isUnlisted && !hasRepeats }

  var count: Int { entries.count }
  var byteCount: Int { bytes.count }

  /// The index of `string`, which is added if it is new.
  @inline(__always)
  mutating func intern(_ string: borrowing String) -> Int {
    if let key = smallKey(of: string) { return intern(whole: key) }
    let index = string.utf8.withContiguousStorageIfAvailable { self.intern(UnsafeRawBufferPointer($0)) }
    return index ?? internForeign(copy string)
  }

  /// The key of a string that is kept in two words.
  @inline(__always)
  private func smallKey(of string: borrowing String) -> TextKey? {
    guard knowsSmallStrings, let text = SmallString.characters(of: string) else { return nil }
    return TextKey(whole: (text.first, text.second), count: text.count)
  }

  /// The index of a short string.
  @inline(__always)
  private mutating func intern(whole key: TextKey) -> Int {
    if hasFew() { return internAmongFew(whole: key) }
    let hash = key.hash(hashing)
    let (index, slot) = table.find(hash) { entries.base[$0].key == key }
    return index >= 0 ? index : insert(whole: key, hash: hash, slot: slot)
  }

  @inline(never)
  private mutating func internForeign(_ string: String) -> Int {
    var string = string
    return string.withUTF8 { intern(UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  mutating func intern(_ utf8: UnsafeRawBufferPointer) -> Int {
    let source = utf8.baseAddress ?? UnsafeRawPointer(bytes.base)
    let (key, hash) = TextKey.make(source, utf8.count, hashing)
    if hasFew() { return internAmongFew(source, key) }
    let (index, slot) = look(source, key, hash: hash)
    return index >= 0 ? index : insert(source, key, hash: hash, slot: slot)
  }

  /// The index of a string that is here already; −1 if it is not.
  mutating func find(_ utf8: UnsafeRawBufferPointer) -> Int {
    guard mayContain(Self.filterBit(utf8)) else { return -1 }
    let source = utf8.baseAddress ?? UnsafeRawPointer(bytes.base)
    let (key, hash) = TextKey.make(source, utf8.count, hashing)
    return hasFew() ? lookAmongFew(source, key) : look(source, key, hash: hash).index
  }

  /// Whether strings with any of these bits are here: false for most that are not.
  @inline(__always)
  func mayContain(_ bits: UInt64) -> Bool { filter & bits != 0 }

  /// One of 64 bits, by the length of a string and how it begins.
  @inline(__always)
  static func filterBit(_ utf8: UnsafeRawBufferPointer) -> UInt64 {
    filterBit(utf8.count, first: utf8.count > 0 ? utf8[0] : 0)
  }

  @inline(__always)
  private static func filterBit(_ count: Int, first: UInt8) -> UInt64 {
    1 &<< (UInt64(truncatingIfNeeded: count) &* 7 &+ UInt64(first))
  }

  /// The entry with these bytes; −1 if there is none, and the free slot where it would be.
  @inline(__always)
  private func look(_ source: UnsafeRawPointer, _ key: TextKey, hash: UInt64) -> (index: Int, slot: Int) {
    table.find(hash) { isEntry($0, source, key) }
  }

  /// Whether an entry has these bytes, of which `key` is the key.
  @inline(__always)
  private func isEntry(_ index: Int, _ source: UnsafeRawPointer, _ key: TextKey) -> Bool {
    let entry = entries.base + index
    return entry.pointee.key == key
      && (key.isWhole || equalBytes(bytes.base + entry.pointee.offset, source, count: key.length))
  }

  @inline(never)
  private mutating func insert(_ source: UnsafeRawPointer, _ key: TextKey, hash: UInt64, slot: Int) -> Int {
    let place = makePlace(key.length)
    place.copyMemory(from: source, byteCount: key.length)
    return insert(copied: key, hash: hash, slot: slot)
  }

  @inline(never)
  private mutating func insert(whole key: TextKey, hash: UInt64, slot: Int) -> Int {
    key.store(to: makePlace(key.length))
    return insert(copied: key, hash: hash, slot: slot)
  }

  /// Where the next string is to stand, after its header; with room for 16 bytes at least.
  @inline(__always)
  private mutating func makePlace(_ length: Int) -> UnsafeMutableRawPointer {
    bytes.reserve(length &+ 18)
    let start = UnsafeMutableRawPointer(bytes.base + bytes.count)
    Strings.writeHeader(length, to: start)
    return start + Strings.headerSize(length)
  }

  /// Adds the string that was copied to the place made for it.
  @inline(__always)
  private mutating func insert(copied key: TextKey, hash: UInt64, slot: Int) -> Int {
    let index = append(copied: key)
    table.set(slot, hash, index)
    known &+= 1
    if known * 2 > table.mask { grow() }
    return index
  }

  @inline(__always)
  private mutating func append(copied key: TextKey) -> Int {
    let offset = bytes.count &+ Strings.headerSize(key.length)
    bytes.extend(to: offset &+ key.length)
    entries.append(StringEntry(key, offset: offset))
    filter |= Self.filterBit(key.length, first: key.isWhole ? key.firstByte : bytes.base[offset])
    return count &- 1
  }

  /// The index of `string`, which most likely is new: it is copied while its hash is made.
  @inline(__always)
  mutating func internNew(_ string: borrowing String) -> Int {
    if let key = smallKey(of: string) { return intern(whole: key) }
    if isUnlisted { list() }
    let index = string.utf8.withContiguousStorageIfAvailable { utf8 in
      let source = UnsafeRawBufferPointer(utf8).baseAddress ?? UnsafeRawPointer(bytes.base)
      let (key, hash) = copy(source, utf8.count)
      let (index, slot) = look(source, key, hash: hash)
      return index >= 0 ? index : insert(copied: key, hash: hash, slot: slot)
    }
    return index ?? internForeign(copy string)
  }

  /// Copies a string to the place of the next one while its hash is made.
  @inline(__always)
  private mutating func copy(_ source: UnsafeRawPointer, _ length: Int) -> (key: TextKey, hash: UInt64) {
    let place = makePlace(length)
    let (key, hash) = TextKey.make(source, length, hashing) { offset, word in
      place.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
    }
    if key.isWhole { key.store(to: place) }
    return (key, hash)
  }

  // MARK: few strings

  /// Whether there are so few entries that the table need not know of them; if not, it does.
  @inline(__always)
  private mutating func hasFew() -> Bool {
    guard isUnlisted else { return false }
    if count < Self.few { return true }
    list()
    return false
  }

  /// The entry with these bytes; −1 if there is none.
  @inline(__always)
  private func lookAmongFew(_ source: UnsafeRawPointer, _ key: TextKey) -> Int {
    for index in 0..<count where isEntry(index, source, key) { return index }
    return -1
  }

  /// The same for a short string.
  @inline(never)
  private mutating func internAmongFew(whole key: TextKey) -> Int {
    // Known here, this leaves one kind of header, one way to copy.
    precondition(key.isWhole)
    for index in 0..<count where entries.base[index].key == key {
      hasRepeats = true
      return index
    }
    key.store(to: makePlace(key.length))
    return append(copied: key)
  }

  @inline(never)
  private mutating func internAmongFew(_ source: UnsafeRawPointer, _ key: TextKey) -> Int {
    let index = lookAmongFew(source, key)
    if index >= 0 {
      hasRepeats = true
      return index
    }
    let place = makePlace(key.length)
    if key.isWhole { key.store(to: place) } else { place.copyMemory(from: source, byteCount: key.length) }
    return append(copied: key)
  }

  // MARK: strings that are surely new

  /// Adds a string that is none of those in the pool, which is empty or holds others added so.
  ///
  /// It need not be looked up. If nothing else is, there is no table.
  @inline(__always)
  mutating func add(new string: borrowing String) -> Int {
    precondition(isUnlisted)
    if let key = smallKey(of: string) {
      key.store(to: makePlace(key.length))
      return append(copied: key)
    }
    let index = string.utf8.withContiguousStorageIfAvailable { add(new: UnsafeRawBufferPointer($0)) }
    return index ?? addForeign(copy string)
  }

  @inline(never)
  private mutating func addForeign(_ string: String) -> Int {
    var string = string
    return string.withUTF8 { add(new: UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  private mutating func add(new utf8: UnsafeRawBufferPointer) -> Int {
    append(copied: copy(utf8.baseAddress ?? UnsafeRawPointer(bytes.base), utf8.count).key)
  }

  // MARK: a pool that others look into, once it is listed

  /// The entry for a string of another pool; nil if it is not here.
  @inline(__always)
  func entry(like entry: StringEntry, in other: borrowing StringPool) -> StringEntry? {
    let utf8 = other.utf8(of: entry)
    guard mayContain(Self.filterBit(UnsafeRawBufferPointer(start: utf8.start, count: utf8.count))) else {
      return nil
    }
    let index = look(utf8.start, entry.key, hash: hash(of: entry)).index
    return index >= 0 ? entries[index] : nil
  }

  /// Adds the string of another pool if it is new.
  @inline(__always)
  mutating func intern(_ entry: StringEntry, of other: borrowing StringPool) {
    let (source, hash) = (other.utf8(of: entry).start, hash(of: entry))
    let (index, slot) = look(source, entry.key, hash: hash)
    if index < 0 { _ = insert(source, entry.key, hash: hash, slot: slot) }
  }

  /// The index of a string; −1 if it is not here.
  func findListed(_ utf8: UnsafeRawBufferPointer) -> Int {
    let source = utf8.baseAddress ?? UnsafeRawPointer(bytes.base)
    let (key, hash) = TextKey.make(source, utf8.count, hashing)
    return look(source, key, hash: hash).index
  }

  /// Lets the table know of all entries, and of those to come.
  @inline(never)
  mutating func list() {
    isUnlisted = false
    known = count
    if known * 2 > table.mask { grow() }
    for index in 0..<count { table.add(hash(of: entries.base[index]), index) }
  }

  /// Makes the table at least four times as large.
  @inline(never)
  private mutating func grow() {
    var mask = table.mask * 4 + 3
    while known * 2 > mask { mask = mask * 4 + 3 }
    var larger = StringTable(mask: mask)
    table.visit { larger.add(hash(of: entries.base[$0]), $0) }
    table = larger
  }

  @inline(__always)
  mutating func countValueUse(_ index: Int) {
    precondition(index >= 0 && index < count)
    entries.base[index].valueUses &+= 1
  }

  @inline(__always)
  mutating func countKeyUses(_ index: Int, _ uses: Int = 1) {
    precondition(index >= 0 && index < count)
    let entry = entries.base + index
    entry.pointee.keyUses &+= UInt32(truncatingIfNeeded: uses)
  }

  // MARK: keys that follow each other

  /// The key that came after another the last time; −1 if none is known.
  @inline(__always)
  func follower(of index: Int) -> Int {
    index >= 0 && index < count ? Int(entries.base[index].symbol) &- 1 : -1
  }

  mutating func setFollower(_ follower: Int, of index: Int) {
    // A container that escaped from its message may name a string that is no more.
    guard index < count else { return }
    entries[index].symbol = UInt32(truncatingIfNeeded: follower + 1)
    hasFollowers = true
  }

  /// Forgets which keys follow which, before strings become symbols.
  mutating func forgetFollowers() {
    guard hasFollowers else { return }
    for index in 0..<count { entries.base[index].symbol = 0 }
    hasFollowers = false
  }

  /// Whether `string` is the one at `index`.
  @inline(__always)
  func holds(_ string: borrowing String, at index: Int) -> Bool {
    let entry = entries[index]
    if let key = smallKey(of: string) { return entry.key == key }
    return string.utf8.withContiguousStorageIfAvailable { utf8 in
      guard utf8.count == entry.length, let start = utf8.baseAddress else { return false }
      return equalBytes(bytes.base + entry.offset, UnsafeRawPointer(start), count: utf8.count)
    } ?? false
  }

  /// Gives a string the number of its symbol.
  @inline(__always)
  mutating func setSymbol(_ number: Int, of index: Int) {
    precondition(index >= 0 && index < count)
    entries.base[index].symbol = UInt32(truncatingIfNeeded: number) &+ 1
  }

  @inline(__always)
  subscript(index: Int) -> StringEntry {
    get { entries[index] }
    set { entries[index] = newValue }
  }

  /// The UTF-8 of the string at `index`, until the next one is added.
  @inline(__always)
  func utf8(_ index: Int) -> UnsafeRawBufferPointer {
    let entry = entries[index]
    return UnsafeRawBufferPointer(start: bytes.base + entry.offset, count: entry.length)
  }

  /// The UTF-8 of an entry of this pool, which comes from a checked index. `BackwardWriter.shortBytes` can copy it.
  @inline(__always)
  func utf8(of entry: StringEntry) -> (start: UnsafeRawPointer, end: UnsafeRawPointer, count: Int) {
    let start = UnsafeRawPointer(bytes.base + entry.offset)
    let length = entry.length
    return (start, start + length, length)
  }

  /// The strings of some neighbours as they are written as values, until the next one is added. None may be too long
  /// for a header.
  func written(_ range: ClosedRange<Int>) -> UnsafeRawBufferPointer {
    let (first, last) = (entries[range.lowerBound], entries[range.upperBound])
    let start = first.offset - Strings.headerSize(first.length)
    return UnsafeRawBufferPointer(start: bytes.base + start, count: last.offset + last.length - start)
  }

  func string(_ index: Int) -> String { String(decoding: utf8(index), as: UTF8.self) }

  /// The entries as a buffer, for a walk over all of them.
  var all: UnsafeMutableBufferPointer<StringEntry> { entries.buffer }

  /// Forgets every string, and the memory if it was a large message.
  @inline(__always)
  mutating func removeAll() {
    if count > 0 { removeEntries() }
  }

  @inline(never)
  private mutating func removeEntries() {
    if !isUnlisted { forgetList() }
    entries.removeAll()
    Self.clear(&bytes)
    filter = 0
    hasRepeats = false
    hasFollowers = false
  }

  /// Empties the table.
  @inline(never)
  private mutating func forgetList() {
    if table.mask > Self.retainedMask {
      table = StringTable(mask: Self.smallestMask)
    } else if count * Self.slotsPerEntry < table.mask {
      for entry in entries.buffer { table.removeCluster(hash(of: entry)) }
    } else {
      table.removeAll()
    }
    known = 0
    isUnlisted = true
  }

  private func hash(of entry: StringEntry) -> UInt64 { entry.key.hash(hashing) }

}

/// A string of a pool: where it stands, and how it is used.
struct StringEntry: BitwiseCopyable {
  // The words of the string's `TextKey`, and its code and offset in one.
  private let first: UInt64
  private let second: UInt64
  private let place: UInt64
  /// How often the string is written as a value, and as a key.
  var valueUses: UInt32 = 0
  var keyUses: UInt32 = 0
  /// The number of its symbol, counted from one; 0 if it has none. While recording, its follower.
  var symbol: UInt32 = 0
  /// In a message with maps, the map in which the string was last seen as a key; among definitions, whether a reference
  /// is shorter than the text.
  var mark: UInt32 = 0

  @inline(__always)
  init(_ key: TextKey, offset: Int) {
    first = key.first
    second = key.second
    place = UInt64(key.code) | UInt64(offset) << 8
  }

  @inline(__always)
  var key: TextKey {
    TextKey(first: first, second: second, code: UInt8(truncatingIfNeeded: place))
  }

  @inline(__always)
  var offset: Int { Int(truncatingIfNeeded: place >> 8) }
  @inline(__always)
  var length: Int { key.length }
}

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
