/// Two words that tell a text from others.
///
/// Of a text of up to 16 bytes they and its length are the text itself, so that comparing them is enough; of
/// a longer one they are its hash and its length, and the bytes decide.
struct TextKey: BitwiseCopyable, Equatable {
  let first: UInt64
  let second: UInt64
  /// The length of a short text; one more than the longest for all others.
  let code: UInt8

  private static let longestWhole = 16

  @inline(__always)
  var length: Int { isWhole ? Int(code) : Int(truncatingIfNeeded: second) }

  /// Whether equal keys mean equal texts.
  @inline(__always)
  var isWhole: Bool { code <= Self.longestWhole }

  /// The key of the text at `source`, and its hash. The words of a long text are handed to `visit` with their
  /// offsets, some bytes twice.
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

  @inline(__always)
  func hash(_ hashing: ByteHash) -> UInt64 {
    isWhole ? hashing.words(first, second, length: code) : first
  }

  /// The bytes of a short text, some of them twice.
  @inline(__always)
  private static func words(_ source: UnsafeRawPointer, _ length: Int) -> (UInt64, UInt64) {
    if length >= 8 {
      return (
        source.loadUnaligned(as: UInt64.self),
        source.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
      )
    }
    if length >= 4 {
      return (
        UInt64(source.loadUnaligned(as: UInt32.self)),
        UInt64(source.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self))
      )
    }
    guard length > 0 else { return (0, 0) }
    let first = source.load(as: UInt8.self)
    let middle = source.load(fromByteOffset: length >> 1, as: UInt8.self)
    let last = source.load(fromByteOffset: length &- 1, as: UInt8.self)
    return (UInt64(first) | UInt64(middle) << 8 | UInt64(last) << 16, 0)
  }
}
