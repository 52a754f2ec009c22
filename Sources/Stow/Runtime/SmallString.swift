/// Strings of up to 15 ASCII characters as two words: the second of the two assumptions about types of the standard
/// library (SECURITY.md names both).
///
///     low word    characters 1 to 8, the first lowest
///     high word   characters 9 to 15, and in the top byte E0 plus the count
///
/// It is assumed that such a string is these two words, as Apple's platforms have frozen it. `isKnown` checks that once,
/// for every count; where it does not hold, strings are made and read by the standard library's own calls.
enum SmallString {
  static let longest = 15
  /// The top byte of an empty one; the count is added.
  private static let mark: UInt64 = 0xE0
  /// The bits that no ASCII character has.
  static let beyondASCII: UInt64 = 0x8080_8080_8080_8080

  static let isKnown: Bool = {
    guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return false }
    let characters = "a text of 16 b.."
    guard SmallString.characters(of: characters) == nil, SmallString.characters(of: "näïve") == nil else {
      return false
    }
    return (0...longest).allSatisfy { count in
      let string = String(characters.prefix(count))
      let (low, high) = Array(characters.utf8).withUnsafeBytes { bytes in
        bytes.baseAddress.map { words($0, count: count) } ?? (0, 0)
      }
      return Self.words(of: string) == (low, high)
    }
  }()

  /// The string of `count` bytes, at most `longest`; nil if they are not ASCII.
  ///
  /// - Parameter hasSixteen: Whether 16 bytes may be read at `bytes`.
  @inline(__always)
  static func make(_ bytes: UnsafeRawPointer, count: Int, hasSixteen: Bool) -> String? {
    let (low, high) = hasSixteen ? words(bytes, count: count) : wordsNearEnd(bytes, count: count)
    guard (low | high & .max >> 8) & beyondASCII == 0 else { return nil }
    return string(ofWords: (low, high))
  }

  /// The string of `count` ASCII characters in the words, as they are in memory, and zeros after them.
  @inline(__always)
  static func make(_ characters: (UInt64, UInt64), count: Int) -> String {
    let high = UInt64(littleEndian: characters.1) | (mark &+ UInt64(truncatingIfNeeded: count)) &<< 56
    return string(ofWords: (UInt64(littleEndian: characters.0), high))
  }

  /// The ASCII characters of a string that is kept as such words, as they are in memory, and zeros after them; nil of
  /// any other string. Only if `isKnown`.
  @inline(__always)
  static func characters(of string: borrowing String) -> (first: UInt64, second: UInt64, count: Int)? {
    let (low, high) = words(of: string)
    guard high >> 60 == mark >> 4 else { return nil }
    let characters = high & (.max >> 8)
    return (low.littleEndian, characters.littleEndian, Int(truncatingIfNeeded: high &>> 56) & 15)
  }

  // The two casts that the assumption is about.

  @inline(__always)
  private static func string(ofWords words: (UInt64, UInt64)) -> String {
    unsafeBitCast(words, to: String.self)
  }

  @inline(__always)
  private static func words(of string: borrowing String) -> (UInt64, UInt64) {
    unsafeBitCast(copy string, to: (UInt64, UInt64).self)
  }

  /// The words of a string whose bytes are followed by others up to the sixteenth.
  @inline(__always)
  private static func words(_ bytes: UnsafeRawPointer, count: Int) -> (UInt64, UInt64) {
    var low = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    var high = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    let size = UInt64(truncatingIfNeeded: count)
    if count < 8 {
      low &= ~(.max &<< (8 &* size))
      high = 0
    } else {
      high &= ~(.max &<< (8 &* (size &- 8)))
    }
    return (low, high | (mark &+ size) &<< 56)
  }

  @inline(never)
  private static func wordsNearEnd(_ bytes: UnsafeRawPointer, count: Int) -> (UInt64, UInt64) {
    withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { buffer in
      buffer.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count))
      return words(UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped), count: count)
    }
  }
}
