/// A byte buffer of a fixed size that is filled from its start towards its end, for values that follow each other and
/// state no length of what comes later.
struct ForwardWriter: ~Copyable {
  private let base: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private(set) var count = 0

  /// What is written behind the bytes for which room was asked: a number, or the header of a string and a short text;
  /// with what `shortBytes` touches.
  private static let margin = 64
  /// The longest that `shortBytes` copies, and how many bytes from their start on it reads.
  static let shortLimit = 32

  /// - Parameter capacity: How many bytes there is room for.
  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(capacity: capacity + Self.margin)
  }

  deinit { base.deallocate() }

  /// Whether `size` bytes fit, and a number or a short string behind them.
  @inline(__always)
  func hasRoom(for size: Int) -> Bool { size <= capacity &- count }

  /// Forgets what was written, and leaves `count` bytes free.
  @inline(__always)
  mutating func restart(at count: Int) {
    precondition(count >= 0 && count <= capacity)
    self.count = count
  }

  /// Some of what was written.
  @inline(__always)
  func written(at start: Int, count: Int) -> UnsafeRawBufferPointer {
    precondition(start >= 0 && count >= 0 && count <= self.count &- start)
    return UnsafeRawBufferPointer(start: base + start, count: count)
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
    (base[start - 2], base[start - 1]) = Varint.twoBytes(length)
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
    let form = IntegerForm(value)
    byte(form.tag)
    littleEndian(UInt64(bitPattern: value), width: form.width)
  }

  /// A floating-point number in its shortest form.
  @inline(__always)
  mutating func double(_ bits: UInt64) {
    let form = DoubleForm(bits)
    byte(form.tag)
    if let scale = form.scale { byte(scale) }
    littleEndian(form.body, width: form.width)
  }

  /// The header of a string that is shorter than `StringHeader.limit`.
  @inline(__always)
  mutating func stringHeader(length: Int) {
    StringHeader.write(length, to: UnsafeMutableRawPointer(base + count))
    count &+= StringHeader.size(length)
  }

  /// A text of up to 16 bytes.
  @inline(__always)
  mutating func text(_ key: TextKey) {
    key.store(to: UnsafeMutableRawPointer(base + count))
    count &+= key.length
  }

  /// Copies bytes, for which there must be room.
  @inline(__always)
  mutating func bytes(_ source: UnsafeRawBufferPointer) {
    precondition(hasRoom(for: source.count))
    UnsafeMutableRawBufferPointer(start: base + count, count: source.count).copyMemory(from: source)
    count &+= source.count
  }
}
