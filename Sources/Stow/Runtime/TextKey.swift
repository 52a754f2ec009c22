/// Two words that tell a text from others.
///
/// Of a text of up to 16 bytes they are the text itself, with zeros behind it, so that comparing them and the lengths
/// is enough; of a longer one they are its hash and its length, and the bytes decide.
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

  /// The first byte of a short text; 0 if it is empty.
  @inline(__always)
  var firstByte: UInt8 { UInt8(truncatingIfNeeded: first) }

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

  /// Writes the bytes of a short text, and zeros up to the sixteenth.
  @inline(__always)
  func store(to target: UnsafeMutableRawPointer) {
    target.storeBytes(of: first.littleEndian, as: UInt64.self)
    target.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
  }

  /// The bytes of a short text, with zeros behind them, the first lowest.
  @inline(__always)
  private static func words(_ source: UnsafeRawPointer, _ length: Int) -> (UInt64, UInt64) {
    func word<Word: FixedWidthInteger>(_ offset: Int, _: Word.Type) -> UInt64 {
      let word = source.loadUnaligned(fromByteOffset: offset, as: Word.self)
      return UInt64(truncatingIfNeeded: Word(littleEndian: word))
    }
    // The last bytes are read with some of those before them, which stay where they are or are shifted out.
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

extension TextKey {
  /// The key of a text of up to 16 bytes, with zeros behind them, as they are in memory.
  @inline(__always)
  init(whole bytes: (UInt64, UInt64), count: Int) {
    self.init(
      first: UInt64(littleEndian: bytes.0), second: UInt64(littleEndian: bytes.1),
      code: UInt8(truncatingIfNeeded: count))
  }
}
