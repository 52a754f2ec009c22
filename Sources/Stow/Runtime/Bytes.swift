// Texts as bytes: whether two are the same, and their hashes.

/// Returns whether `count` bytes at two places are the same.
@inline(__always)
func equalBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int) -> Bool {
  if count >= 8 {
    var offset = 0
    while offset <= count &- 8 {
      let one = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if one != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
      offset &+= 8
    }
    let last = count &- 8
    return left.loadUnaligned(fromByteOffset: last, as: UInt64.self)
      == right.loadUnaligned(fromByteOffset: last, as: UInt64.self)
  }
  for offset in 0..<count
  where left.load(fromByteOffset: offset, as: UInt8.self)
    != right.load(fromByteOffset: offset, as: UInt8.self)
  {
    return false
  }
  return true
}

@inline(__always)
func equalBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  guard left.count == right.count else { return false }
  guard let one = left.baseAddress, let other = right.baseAddress else { return true }
  return equalBytes(one, other, count: left.count)
}

/// A string that equals another if their bytes are the same, like keys of messages (FORMAT.md, "Prelude").
///
/// `String` treats two spellings of the same characters as equal. Which spellings these are depends on the
/// version of Unicode, and comparing takes time quadratic in the number of combining characters in a row.
package struct ExactString: Hashable, Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }

  package static func == (left: ExactString, right: ExactString) -> Bool {
    left.string.hasSameBytes(as: right.string)
  }

  package func hash(into hasher: inout Hasher) {
    let isHashed: Void? = string.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if isHashed == nil { for byte in string.utf8 { hasher.combine(byte) } }
  }
}

extension String {
  package func hasSameBytes(as other: String) -> Bool {
    let result: Bool?? = utf8.withContiguousStorageIfAvailable { bytes in
      other.utf8.withContiguousStorageIfAvailable {
        equalBytes(UnsafeRawBufferPointer(bytes), UnsafeRawBufferPointer($0))
      }
    }
    if case .some(.some(let areSame)) = result { return areSame }
    return utf8.elementsEqual(other.utf8)
  }
}

/// A hash of bytes, with two random seeds per process: strings cannot be crafted to collide.
///
/// Each factor of a product has a secret of its own. Otherwise an attacker who makes one factor zero would
/// make the product zero, whatever the other is.
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

  /// Returns the hash of a text of up to 16 bytes, given as two words and its length.
  func words(_ first: UInt64, _ second: UInt64, length: UInt8) -> UInt64 {
    mix(first ^ wordSeed, second ^ UInt64(truncatingIfNeeded: length) ^ seed)
  }

  /// Returns the hash of a text of more than 16 bytes, and passes its words to `visit` with their offsets;
  /// some bytes twice.
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

/// Two words that identify a text.
///
/// For a text of up to 16 bytes they are the text itself, padded with zeros, so that comparing them and the
/// lengths is enough. For a longer one they are its hash and its length, and the bytes decide.
struct TextKey: BitwiseCopyable, Equatable {
  let first: UInt64
  let second: UInt64
  /// The length of a short text; one more than the longest for all others.
  let code: UInt8

  private static let longestWhole = 16

  var length: Int { isWhole ? Int(code) : Int(truncatingIfNeeded: second) }

  /// Whether equal keys mean equal texts.
  var isWhole: Bool { code <= Self.longestWhole }

  /// Returns the key of the text at `source`, and its hash. Passes the words of a long text to `visit` with
  /// their offsets, some bytes twice.
  @inline(__always)
  static func make(
    _ source: UnsafeRawPointer, _ length: Int, _ hashing: ByteHash, visit: (Int, UInt64) -> Void = { _, _ in }
  ) -> (key: TextKey, hash: UInt64) {
    guard length <= longestWhole else {
      let hash = hashing(source, length, visit: visit)
      return (TextKey(first: hash, second: UInt64(length), code: UInt8(longestWhole + 1)), hash)
    }
    let (first, second) = words(source, length)
    let key = TextKey(first: first, second: second, code: UInt8(truncatingIfNeeded: length))
    return (key, key.hash(hashing))
  }

  func hash(_ hashing: ByteHash) -> UInt64 {
    isWhole ? hashing.words(first, second, length: code) : first
  }

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
