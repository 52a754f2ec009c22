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

  /// The hash of a text of up to 16 bytes, which two words and its length say.
  @inline(__always)
  func words(_ first: UInt64, _ second: UInt64, length: UInt8) -> UInt64 {
    mix(first ^ 0xE703_7ED1_A0B4_28DB ^ seed, second ^ UInt64(truncatingIfNeeded: length) ^ (seed >> 7))
  }

  /// The hash of a text of more than 16 bytes, whose words are handed to `visit` with their offsets; some bytes twice.
  @inline(__always)
  func callAsFunction(_ start: UnsafeRawPointer, _ length: Int, visit: (Int, UInt64) -> Void) -> UInt64 {
    func word(_ offset: Int) -> UInt64 {
      let word = start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      visit(offset, word)
      return word
    }
    var state = seed ^ UInt64(truncatingIfNeeded: length)
    var offset = 0
    while offset &+ 16 < length {
      state = mix(word(offset) ^ 0xA076_1D64_78BD_642F, word(offset &+ 8) ^ state)
      offset &+= 16
    }
    return mix(word(length &- 16) ^ 0xE703_7ED1_A0B4_28DB, word(length &- 8) ^ state)
  }
}
