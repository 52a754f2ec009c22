/// A byte buffer that is filled from its end towards its start.
///
/// A header is written after its body, when the length that it states is known: no pass for sizes, no moving. Every write
/// either reserves its bytes or follows a `reserve` that covers it.
struct BackwardWriter: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// The first byte written, from the start of the buffer; what is free lies below.
  private var position: Int

  /// What every token may write without reserving more.
  static let margin = 96
  /// A larger buffer is not kept for the next message.
  private static let retained = 1 << 20

  init(capacity: Int) {
    self.capacity = capacity + Self.margin
    base = .allocate(capacity: self.capacity)
    position = self.capacity
  }

  deinit { base.deallocate() }

  var count: Int { capacity - position }

  var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base + position, count: count) }

  /// Forgets what was written and makes room for `wanted` bytes.
  mutating func restart(capacity wanted: Int) {
    position = capacity
    if wanted &+ Self.margin > capacity { move(to: wanted + Self.margin) }
  }

  /// Gives the buffer away, to be freed by the receiver, with the bytes that were written at its end; and starts over with
  /// a small one.
  mutating func surrender() -> (buffer: UnsafeMutablePointer<UInt8>, bytes: UnsafeMutableRawBufferPointer) {
    let result = (base, UnsafeMutableRawBufferPointer(start: base + position, count: count))
    (base, capacity, position) = (.allocate(capacity: 1024), 1024, 1024)
    return result
  }

  /// Forgets what was written, and the memory if it is large.
  mutating func trim() {
    position = capacity
    if capacity > Self.retained { move(to: 1024) }
  }

  mutating func reserve(_ size: Int) {
    if position < size { grow(size) }
  }

  @inline(never)
  private mutating func grow(_ size: Int) { move(to: max(capacity * 2, count + size + Self.margin)) }

  private mutating func move(to newCapacity: Int) {
    let used = count
    let target = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
    (target + (newCapacity - used)).update(from: base + position, count: used)
    base.deallocate()
    (base, capacity, position) = (target, newCapacity, newCapacity - used)
  }

  // MARK: within a reserve

  mutating func byte(_ value: UInt8) {
    position &-= 1
    base[position] = value
  }

  /// The lowest `width` bytes of `value`, at most 8. Writes 8 bytes, of which the lower ones are free.
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

  /// Writes a tag that a number follows, or, if the number is below `limit`, the tag that says both.
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

  /// The longest that `shortBytes` copies, and how many bytes before their end it touches on both sides.
  static let shortLimit = 32

  /// Copies the `count` bytes before `end`, at most `shortLimit`. As many as that must be readable before `end`.
  ///
  /// A call of `memmove` takes longer than all else there is to do for a short string.
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
  mutating func fill(_ count: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
    reserve(count + Self.margin)
    position &-= count
    body(UnsafeMutableRawPointer(base + position))
  }

  /// Writes a bit for each of `count` elements, the first of them lowest, filled up with zeros.
  mutating func bits(_ count: Int, _ element: (Int) -> Bool) {
    reserve(count / 8 + Self.margin)
    var end = count
    while end > 0 {
      let first = (end - 1) & ~7
      var bits: UInt8 = 0
      for index in first..<end where element(index) { bits |= 1 << UInt8(index - first) }
      byte(bits)
      end = first
    }
  }
}
