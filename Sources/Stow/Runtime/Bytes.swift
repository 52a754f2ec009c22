// Memory for buffers, access to values in memory without copying them, and texts compared and hashed as bytes.

/// Raw memory for buffers that may become large.
///
/// On Linux a large buffer has pages of its own, of 2 MiB if the system has them, because the first touch of each page
/// traps into the kernel. From `malloc`, it would stay in the process after it is freed.
enum PageMemory {
  #if os(Linux)
    private static let hugePage = 1 << 21
    /// Smaller buffers are not worth whole pages of that size.
    private static let smallestLarge = 2 * hugePage

    private static func pages(_ byteCount: Int) -> Int { (byteCount + hugePage - 1) & ~(hugePage - 1) }
  #endif

  /// Returns memory that is aligned for every type, to be freed by `deallocate`.
  static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    #if os(Linux)
      if byteCount >= smallestLarge {
        guard let memory = CLibrary.map(pages(byteCount), inPagesOf: hugePage) else { fatalError("Out of memory") }
        return memory
      }
    #endif
    return .allocate(byteCount: byteCount, alignment: 16)
  }

  @inline(never)
  static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      if byteCount >= smallestLarge { return CLibrary.unmap(memory, pages(byteCount)) }
    #endif
    memory.deallocate()
  }

  /// Moves the `used` first bytes of `byteCount` to new memory, and frees the old.
  @inline(never)
  static func move(
    _ memory: UnsafeMutableRawPointer, _ used: Int, of byteCount: Int, to newCount: Int
  ) -> UnsafeMutableRawPointer {
    let result = allocate(newCount)
    result.copyMemory(from: memory, byteCount: used)
    deallocate(memory, byteCount: byteCount)
    return result
  }
}

/// A growable buffer of trivial elements, reused from message to message.
///
/// There is always room for one more: it grows when it becomes full, so that appending ends with the rare call to grow,
/// for which no registers are saved.
struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int
  private let initialCapacity: Int

  /// Memory up to this size is kept for the next message; larger memory only if it is not much larger and was
  /// used well: a single large message must not occupy it forever.
  private static var smallCapacity: Int { (1 << 20) / stride }

  /// Makes an empty buffer with room for `capacity` elements, at least one.
  init(capacity: Int) {
    initialCapacity = capacity
    self.capacity = capacity
    base = PageMemory.allocate(capacity * Self.stride).bindMemory(to: Element.self, capacity: capacity)
  }

  deinit { PageMemory.deallocate(base, byteCount: capacity * Self.stride) }

  private static var stride: Int { MemoryLayout<Element>.stride }

  @inline(__always)
  mutating func append(_ element: Element) {
    base[count] = element
    count &+= 1
    if count == capacity { grow(to: count &+ 1) }
  }

  @inline(__always)
  mutating func reserve(_ size: Int) { if size >= capacity &- count { grow(to: count + size + 1) } }

  /// How many more elements fit before the buffer grows.
  var room: Int { capacity &- count &- 1 }

  /// Takes in elements that were written into the reserved room.
  mutating func extend(to count: Int) {
    precondition(count >= self.count && count < capacity)
    self.count = count
  }

  @inline(never)
  private mutating func grow(to wanted: Int) {
    // Elements of a word or more are addressed by 32-bit indices; `UInt32.max` is reserved for "no index".
    let limit = Self.stride >= 8 ? Int(clamping: UInt32.max) - 1 : .max
    precondition(wanted <= limit, "A message has more than 4 billion values")
    let newCapacity = min(max(capacity * 2, wanted), limit)
    let larger = PageMemory.move(base, count * Self.stride, of: capacity * Self.stride, to: newCapacity * Self.stride)
    (base, capacity) = (larger.bindMemory(to: Element.self, capacity: newCapacity), newCapacity)
  }

  @inline(__always)
  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count)
      return base[index]
    }
    _modify {
      precondition(index >= 0 && index < count)
      yield &base[index]
    }
  }

  mutating func takeLast() -> Element {
    precondition(count > 0)
    count &-= 1
    return base[count]
  }

  mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    self.count = count
  }

  /// Forgets the elements, and the memory if it is large and unlikely to be needed soon. Afterwards there are `kept`,
  /// whatever they are: fewer than at first fit.
  @inline(__always)
  mutating func removeAll(keeping kept: Int = 0) {
    if capacity > Self.smallCapacity { trim() }
    count = kept
  }

  @inline(never)
  private mutating func trim() {
    if capacity > 8 * Self.smallCapacity || count < capacity / 32 { self = Self(capacity: initialCapacity) }
  }

  var buffer: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }
}

/// Lends the pointee in place: reading a copyable one would copy it first.
@inlinable
@inline(__always)
func borrowing<Pointee: ~Copyable, Failure: Error>(
  _ pointer: UnsafePointer<Pointee>, _ body: (borrowing Pointee) throws(Failure) -> Void
) throws(Failure) {
  try body(pointer.pointee)
}

/// Lends the elements of a buffer in place, with their indices.
@inline(__always)
func borrowingEach<Element, Failure: Error>(
  of elements: UnsafeBufferPointer<Element>, _ body: (borrowing Element, _ index: Int) throws(Failure) -> Void
) throws(Failure) {
  guard let first = elements.baseAddress else { return }
  for index in 0..<elements.count {
    try borrowing(first + index) { element throws(Failure) in try body(element, index) }
  }
}

/// Lends the value of an optional in place, and returns whether there was one: unwrapping a copyable value copies it,
/// which looks up the metadata of the optional.
@inlinable
@inline(__always)
func borrowingSome<Wrapped: ~Copyable, Failure: Error>(
  _ optional: borrowing Wrapped?, _ body: (borrowing Wrapped) throws(Failure) -> Void
) throws(Failure) -> Bool {
  switch optional {
  case .some(let value):
    try body(value)
    return true
  case .none: return false
  }
}

extension UnsafeRawPointer {
  /// Lends the value at the address in place, or the one in an optional there; nothing if that is nil.
  @inlinable
  @inline(__always)
  func lend<Value, Failure: Error>(
    _ type: Value.Type, isOptional: Bool, _ body: (borrowing Value) throws(Failure) -> Void
  ) throws(Failure) {
    if isOptional {
      try borrowing(assumingMemoryBound(to: Value?.self)) { optional throws(Failure) in
        _ = try borrowingSome(optional, body)
      }
    } else {
      try borrowing(assumingMemoryBound(to: Value.self), body)
    }
  }
}

extension Array {
  /// Returns an array of at most `count` elements, which `fill` initializes and counts. An empty one is not filled: the
  /// standard library would write its count to memory that all empty arrays share, a data race.
  @inline(__always)
  static func filled<Failure: Error>(
    count: Int, _ fill: (UnsafeMutablePointer<Element>, _ initialized: inout Int) throws(Failure) -> Void
  ) throws(Failure) -> [Element] {
    guard count > 0 else { return [] }
    var failure: Failure?
    let result = [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
      guard let start = buffer.baseAddress else { return }
      do throws(Failure) { try fill(start, &initialized) } catch { failure = error }
    }
    if let failure { throw failure }
    return result
  }
}

/// Returns indices in some order. One function for all orders: the standard library's is compiled for each element type.
@inline(never)
func sortedIndices(_ count: Int, by isBefore: (Int, Int) -> Bool) -> [Int] { (0..<count).sorted(by: isBefore) }

// MARK: - Texts as bytes

@inline(__always)
func equalBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  guard left.count == right.count else { return false }
  guard let one = left.baseAddress, let other = right.baseAddress else { return true }
  return CLibrary.areEqual(one, other, left.count)
}

/// A string that equals another if their bytes are the same, like keys of messages (FORMAT.md, "Prelude").
///
/// Which spellings are equal as `String`s depends on the version of Unicode, and comparing them takes time quadratic in
/// the number of combining characters in a row.
package struct ExactString: Hashable, Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }

  package static func == (left: ExactString, right: ExactString) -> Bool { left.string.hasSameBytes(as: right.string) }

  package func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension String {
  package func hasSameBytes(as other: String) -> Bool {
    var (left, right) = (self, other)
    return left.withUTF8 { left in
      right.withUTF8 { equalBytes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) }
    }
  }
}

/// A hash of bytes, with two random seeds per process: strings cannot be crafted to collide.
///
/// Each factor of a product has a secret of its own: whoever makes one zero makes the product zero.
struct ByteHash {
  private static let processSeeds = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
  private let seed: UInt64
  private let wordSeed: UInt64

  init() { (seed, wordSeed) = Self.processSeeds }

  /// Folds the 128-bit product of two words: every bit of either reaches every bit of the result.
  private func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  /// Returns the hash of a text of up to 16 bytes.
  func words(_ first: UInt64, _ second: UInt64, length: UInt8) -> UInt64 {
    mix(first ^ wordSeed, second ^ UInt64(truncatingIfNeeded: length) ^ seed)
  }

  /// Returns the hash of a text of more than 16 bytes.
  @inline(__always)
  func callAsFunction(_ start: UnsafeRawPointer, _ length: Int) -> UInt64 {
    func word(_ offset: Int) -> UInt64 { start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    var state = seed ^ UInt64(truncatingIfNeeded: length)
    var offset = 0
    while offset &+ 16 < length {
      state = mix(word(offset) ^ wordSeed, word(offset &+ 8) ^ state)
      offset &+= 16
    }
    return mix(word(length &- 16) ^ wordSeed, word(length &- 8) ^ state)
  }
}

/// Two words that identify a text: for up to 16 bytes, the text itself, padded with zeros, and for more, its
/// hash and its length, and the bytes decide.
struct TextKey: BitwiseCopyable, Equatable {
  let first: UInt64
  let second: UInt64
  /// The length of a short text; one more than the longest for all others.
  let code: UInt8

  private static let longestWhole = 16

  var length: Int { isWhole ? Int(code) : Int(truncatingIfNeeded: second) }

  /// Whether equal keys mean equal texts.
  var isWhole: Bool { code <= Self.longestWhole }

  @inline(__always)
  static func make(_ source: UnsafeRawPointer, _ length: Int, _ hashing: ByteHash) -> (key: TextKey, hash: UInt64) {
    guard length <= longestWhole else {
      let hash = hashing(source, length)
      return (TextKey(first: hash, second: UInt64(length), code: UInt8(longestWhole + 1)), hash)
    }
    let (first, second) = words(source, length)
    let key = TextKey(first: first, second: second, code: UInt8(truncatingIfNeeded: length))
    return (key, key.hash(hashing))
  }

  func hash(_ hashing: ByteHash) -> UInt64 { isWhole ? hashing.words(first, second, length: code) : first }

  /// Writes the bytes of a short text, and zeros up to the sixteenth.
  func store(to target: UnsafeMutableRawPointer) {
    target.storeBytes(of: first.littleEndian, as: UInt64.self)
    target.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
  }

  /// Returns the bytes of a short text, padded with zeros, the first lowest.
  @inline(__always)
  private static func words(_ source: UnsafeRawPointer, _ length: Int) -> (UInt64, UInt64) {
    func word<Word: FixedWidthInteger>(_ offset: Int, _: Word.Type) -> UInt64 {
      let word = source.loadUnaligned(fromByteOffset: offset, as: Word.self)
      return UInt64(truncatingIfNeeded: Word(littleEndian: word))
    }
    // The last bytes are read together with some before them, which overlap in place or are shifted out.
    if length >= 8 {
      let rest = word(length &- 8, UInt64.self) &>> UInt64(truncatingIfNeeded: 8 &* (16 &- length))
      return (word(0, UInt64.self), length == 8 ? 0 : rest)
    }
    let end = UInt64(truncatingIfNeeded: 8 &* length)
    if length >= 4 { return (word(0, UInt32.self) | word(length &- 4, UInt32.self) &<< (end &- 32), 0) }
    guard length > 0 else { return (0, 0) }
    let middle = word(length >> 1, UInt8.self) &<< UInt64(truncatingIfNeeded: 8 &* (length >> 1))
    return (word(0, UInt8.self) | middle | word(length &- 1, UInt8.self) &<< (end &- 8), 0)
  }
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
