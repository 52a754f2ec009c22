/// Writes groups of up to 8 bits, lowest first, as bytes.
struct BitPacker {
  private var target: UnsafeMutableRawPointer
  private var pending: UInt64 = 0
  private var count: UInt64 = 0

  /// Every byte that the groups fill must be there at `target`.
  init(_ target: UnsafeMutableRawPointer) { self.target = target }

  @inline(__always)
  mutating func append(_ bits: UInt8, width: UInt64) {
    pending |= UInt64(bits) &<< count
    count &+= width
    guard count >= 32 else { return }
    target.storeBytes(of: UInt32(truncatingIfNeeded: pending).littleEndian, as: UInt32.self)
    target += 4
    pending &>>= 32
    count &-= 32
  }

  /// Writes what is left, filled up with zeros.
  mutating func finish() {
    var left = Int(count)
    while left > 0 {
      target.storeBytes(of: UInt8(truncatingIfNeeded: pending), as: UInt8.self)
      target += 1
      pending &>>= 8
      left -= 8
    }
  }
}

/// Takes groups of up to 8 bits, lowest first, out of bytes.
struct BitExtractor {
  private var next: UnsafeRawPointer
  private let end: UnsafeRawPointer
  private var pending: UInt64 = 0
  private var count: UInt64 = 0

  /// The bytes of `bitCount` bits must be there at `source`, and no more than these bits may be taken.
  init(_ source: UnsafeRawPointer, bitCount: Int) {
    next = source
    end = source + (bitCount + 7) / 8
  }

  @inline(__always)
  mutating func next(_ width: UInt64) -> UInt8 {
    if count < width { refill() }
    let result = UInt8(truncatingIfNeeded: pending & (1 &<< width &- 1))
    pending &>>= width
    count &-= width
    return result
  }

  @inline(__always)
  private mutating func refill() {
    if end - next >= 4 {
      pending |= UInt64(UInt32(littleEndian: next.loadUnaligned(as: UInt32.self))) &<< count
      next += 4
      count &+= 32
    } else {
      pending |= UInt64(next.load(as: UInt8.self)) &<< count
      next += 1
      count &+= 8
    }
  }

  /// Whether the bits that fill the last byte are zero, once all groups were taken.
  var restIsZero: Bool { pending == 0 }
}
