/// A byte buffer of a fixed size that is filled from its start towards its end, for values that follow each other and
/// state no length of what comes later.
struct ForwardWriter: ~Copyable {
  private let base: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private(set) var count = 0

  /// What every write may touch without asking for room.
  private static let margin = 64
  /// The longest that `shortBytes` copies, and how many bytes from their start on it reads.
  static let shortLimit = 32

  /// - Parameter capacity: How many bytes there is room for.
  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(capacity: capacity + Self.margin)
  }

  deinit { base.deallocate() }

  /// Whether `size` bytes fit, and any number behind them.
  @inline(__always)
  func hasRoom(for size: Int) -> Bool { size <= capacity &- count }

  /// Forgets what was written, and leaves `count` bytes free.
  @inline(__always)
  mutating func restart(at count: Int) {
    precondition(count >= 0 && count <= capacity)
    self.count = count
  }

  /// What was written from `start` on.
  @inline(__always)
  func written(from start: Int) -> UnsafeRawBufferPointer {
    precondition(start >= 0 && start <= count)
    return UnsafeRawBufferPointer(start: base + start, count: count &- start)
  }

  /// Writes the header of a container, to which all bytes from `start` on belong, before them.
  ///
  /// - Returns: Where the header begins: at most three bytes before, which must have been left free.
  mutating func putHeader(before start: Int, short: UInt8, limit: Int, long: UInt8) -> Int {
    precondition(start >= 3 && start <= count)
    let length = count &- start
    if length < limit {
      base[start &- 1] = short &+ UInt8(truncatingIfNeeded: length)
      return start &- 1
    }
    if length < Varint.oneByteLimit {
      base[start &- 1] = UInt8(truncatingIfNeeded: length)
      base[start &- 2] = long
      return start &- 2
    }
    precondition(length < Varint.twoByteLimit)
    let rest = length - Varint.oneByteLimit
    base[start - 1] = UInt8(truncatingIfNeeded: rest)
    base[start - 2] = UInt8(Varint.twoByteLead + rest >> 8)
    base[start - 3] = long
    return start - 3
  }

  // MARK: where there is room

  @inline(__always)
  mutating func byte(_ value: UInt8) {
    base[count] = value
    count &+= 1
  }

  /// The lowest `width` bytes of `value`, at most 8. Writes 8 bytes.
  @inline(__always)
  private mutating func littleEndian(_ value: UInt64, width: Int) {
    UnsafeMutableRawPointer(base + count).storeBytes(of: value.littleEndian, as: UInt64.self)
    count &+= width
  }

  /// Copies `count` bytes, at most `shortLimit`. As many as that must be readable from `start` on.
  @inline(__always)
  mutating func shortBytes(_ start: UnsafeRawPointer, count: Int) {
    let bytes = start.loadUnaligned(as: SIMD4<UInt64>.self)
    UnsafeMutableRawPointer(base + self.count).storeBytes(of: bytes, as: SIMD4<UInt64>.self)
    self.count &+= count
  }

  /// An integer in its shortest form.
  @inline(__always)
  mutating func integer(_ value: Int64) {
    if Tag.smallIntegers.contains(value) {
      byte(UInt8(truncatingIfNeeded: Int64(Tag.smallInteger) &+ 16 &+ value))
      return
    }
    let width = DecimalFraction.width(value)
    byte(Tag.integer &+ UInt8(truncatingIfNeeded: width &- 1))
    littleEndian(UInt64(bitPattern: value), width: width)
  }

  /// A floating-point number in its shortest form.
  @inline(__always)
  mutating func double(_ bits: UInt64) {
    let form = DoubleForm(bits)
    byte(form.tag)
    if let scale = form.scale { byte(scale) }
    littleEndian(form.body, width: form.width)
  }

  /// The header of a string of fewer than `Varint.oneByteLimit` bytes.
  @inline(__always)
  mutating func stringHeader(length: Int) {
    if length < Tag.shortStringLimit {
      byte(Tag.shortString &+ UInt8(truncatingIfNeeded: length))
    } else {
      byte(Tag.string)
      byte(UInt8(truncatingIfNeeded: length))
    }
  }

  /// A text of up to 16 bytes.
  @inline(__always)
  mutating func text(_ key: TextKey) {
    key.store(to: UnsafeMutableRawPointer(base + count))
    count &+= key.length
  }

  /// Copies bytes, for which room was asked.
  @inline(__always)
  mutating func bytes(_ source: UnsafeRawBufferPointer) {
    precondition(hasRoom(for: source.count))
    UnsafeMutableRawBufferPointer(start: base + count, count: source.count).copyMemory(from: source)
    count &+= source.count
  }
}
