/// A hash of bytes, with two seeds of the process: strings cannot be crafted to collide.
///
/// Both words of a product have a secret of their own. If one of them had none, whoever made it zero would make the
/// product zero, whatever the other is.
struct ByteHash {
  private static let processSeeds = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
  private let seed: UInt64
  private let wordSeed: UInt64

  @inline(__always)
  init() { (seed, wordSeed) = Self.processSeeds }

  /// Folds the 128-bit product of two words: every bit of either reaches every bit of the result.
  @inline(__always)
  private func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  /// The hash of a text of up to 16 bytes, which two words and its length say.
  @inline(__always)
  func words(_ first: UInt64, _ second: UInt64, length: UInt8) -> UInt64 {
    mix(first ^ wordSeed, second ^ UInt64(truncatingIfNeeded: length) ^ seed)
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
      state = mix(word(offset) ^ wordSeed, word(offset &+ 8) ^ state)
      offset &+= 16
    }
    return mix(word(length &- 16) ^ wordSeed, word(length &- 8) ^ state)
  }
}
