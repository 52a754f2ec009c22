/// A hash of bytes, with a seed of the process: strings cannot be crafted to collide.
struct ByteHash {
  private static let processSeed = UInt64.random(in: .min ... .max)
  private let seed = Self.processSeed

  /// Folds the 128-bit product of two words: every bit of either reaches every bit of the result.
  @inline(__always)
  private func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  @inline(__always)
  func callAsFunction(_ start: UnsafeRawPointer, _ length: Int) -> UInt64 {
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
