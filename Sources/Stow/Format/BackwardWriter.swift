/// A byte buffer that is filled from its end towards its start.
///
/// A header is written after its body, when the length that it states is known: no pass for sizes, no moving. Every
/// write either reserves its bytes or follows a `reserve` that covers it.
struct BackwardWriter: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// The offset of the first byte written; everything below it is free.
  private var position: Int
  /// `CharacterCodes.table`, at hand without the check that a global is initialized.
  let codes = CharacterCodes.table

  /// How many bytes every token may write without reserving more.
  static let margin = 96
  /// A larger buffer is not kept for the next message.
  private static let largestKept = 1 << 20

  @inline(never)
  init(capacity: Int) {
    self.capacity = capacity + Self.margin
    base = Self.allocate(self.capacity)
    position = self.capacity
  }

  deinit { PageMemory.deallocate(base, byteCount: capacity) }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<UInt8> {
    PageMemory.allocate(capacity).bindMemory(to: UInt8.self, capacity: capacity)
  }

  var count: Int { capacity - position }

  var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base + position, count: count) }

  /// Forgets what was written and makes room for `wanted` bytes.
  mutating func restart(capacity wanted: Int) {
    if wanted &+ Self.margin > capacity { self = BackwardWriter(capacity: wanted) }
    position = capacity
  }

  /// Hands over the whole buffer, to be freed by `PageMemory`, with the part that was written, and starts over.
  mutating func surrender() -> (buffer: UnsafeMutableRawBufferPointer, bytes: UnsafeMutableRawBufferPointer) {
    let buffer = UnsafeMutableRawBufferPointer(start: base, count: capacity)
    let bytes = UnsafeMutableRawBufferPointer(start: base + position, count: count)
    capacity = 1024
    base = Self.allocate(capacity)
    position = capacity
    return (buffer, bytes)
  }

  mutating func trim() { if capacity > Self.largestKept { self = BackwardWriter(capacity: 1024) } }

  @inline(__always)
  mutating func reserve(_ size: Int) { if position < size { grow(size) } }

  @inline(never)
  private mutating func grow(_ size: Int) {
    let used = count
    let newCapacity = max(capacity * 2, used + size + Self.margin)
    let newBase = Self.allocate(newCapacity)
    (newBase + (newCapacity - used)).update(from: base + position, count: used)
    PageMemory.deallocate(base, byteCount: capacity)
    base = newBase
    capacity = newCapacity
    position = newCapacity - used
  }

  // MARK: within a reserve

  mutating func byte(_ value: UInt8) {
    position &-= 1
    base[position] = value
  }

  /// Writes the lowest `width` bytes of `value`, at most 8. Stores 8 bytes; the lower ones are still free.
  @inline(__always)
  mutating func littleEndian(_ value: UInt64, width: Int) {
    let shifted = value &<< UInt64(truncatingIfNeeded: 64 &- 8 &* width)
    UnsafeMutableRawPointer(base + (position &- 8)).storeBytes(of: shifted.littleEndian, as: UInt64.self)
    position &-= width
  }

  @inline(__always)
  mutating func varint(_ value: Int) {
    if value < Varint.oneByteLimit { byte(UInt8(truncatingIfNeeded: value)) } else { longVarint(value) }
  }

  /// Writes a tag followed by a number, or, if the number is below `limit`, a tag that includes it.
  mutating func numbered(_ number: Int, short: UInt8, limit: Int, long: UInt8) {
    if number < limit {
      byte(short &+ UInt8(truncatingIfNeeded: number))
    } else {
      varint(number)
      byte(long)
    }
  }

  @inline(never)
  private mutating func longVarint(_ value: Int) {
    let (lead, rest, width) = Varint.form(value)
    littleEndian(rest, width: width)
    byte(lead)
  }

  /// The most bytes that `shortBytes` copies, and how many bytes before the end it touches on both sides.
  static let shortLimit = 32

  /// Copies the `count` bytes before `end`, where `shortLimit` bytes must be readable: for a short string, a
  /// call of `memmove` takes longer than everything else.
  @inline(__always)
  mutating func shortBytes(endingAt end: UnsafeRawPointer, count: Int) {
    let target = UnsafeMutableRawPointer(base + (position &- Self.shortLimit))
    let bytes = (end - Self.shortLimit).loadUnaligned(as: SIMD4<UInt64>.self)
    target.storeBytes(of: bytes, as: SIMD4<UInt64>.self)
    position &-= count
  }

  // MARK: reserving by themselves

  mutating func bytes(_ source: UnsafeRawBufferPointer) {
    guard let start = source.baseAddress else { return }
    fill(source.count) { $0.copyMemory(from: start, byteCount: source.count) }
  }

  /// Opens `count` bytes to be filled in place by `body`.
  @inline(__always)
  mutating func fill(_ count: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
    reserve(count + Self.margin)
    position &-= count
    body(UnsafeMutableRawPointer(base + position))
  }

  /// Writes how many symbols, shapes or keys follow.
  mutating func count(_ count: Int) {
    reserve(Self.margin)
    varint(count)
  }

  /// Writes a bit for each of `count` elements, the first of them lowest, filled up with zeros.
  mutating func bits(_ count: Int, _ element: (Int) -> Bool) {
    reserve(count / 8 + Self.margin)
    var end = count
    while end > 0 {
      let first = (end - 1) & ~7
      var bits: UInt8 = 0
      // Without a branch, which could not be predicted.
      for index in first..<end { bits |= (element(index) ? 1 : 0) << UInt8(index - first) }
      byte(bits)
      end = first
    }
  }
}
