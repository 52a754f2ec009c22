/// The parts of a packed record, in order (Format/Logs.md, "Packed records"):
///
/// ```
///  0nnn nnnn  n + 1 bytes                    the bytes themselves
///  1lll oooo  oooo oooo                      l + 4 bytes of the window, from the offset on; l is at most 6
///  1111 oooo  oooo oooo  llll llll           l + 11 bytes of the window
/// ```
struct PackedParts: Sequence, IteratorProtocol {
  enum Part {
    /// Bytes of the packed record.
    case literals(Range<Int>)
    /// Bytes of the window.
    case copy(Range<Int>)
  }

  static let mostLiterals = 128
  static let leastCopy = 4
  /// A copy of this length or more has a byte of its own for the length.
  static let longCopy = 11
  static let mostCopied = longCopy + 255

  private let packed: UnsafeRawBufferPointer
  private let windowSize: Int
  private var offset = 0
  /// Whether the record contains something that is not a part.
  private(set) var isMalformed = false

  init(_ packed: UnsafeRawBufferPointer, windowSize: Int) {
    self.packed = packed
    self.windowSize = windowSize
  }

  /// Returns the next part; nil after the last, and at something that is not a part.
  mutating func next() -> Part? {
    guard offset < packed.count else { return nil }
    let first = Int(packed[offset])
    offset += 1
    let part = first < 0x80 ? literals(first + 1) : copy(first)
    isMalformed = part == nil
    return part
  }

  private mutating func literals(_ count: Int) -> Part? {
    guard count <= packed.count - offset else { return nil }
    offset += count
    return .literals(offset - count..<offset)
  }

  private mutating func copy(_ first: Int) -> Part? {
    let code = first >> 4 & 7
    let isLong = code == 7
    guard packed.count - offset >= (isLong ? 2 : 1) else { return nil }
    let start = (first & 0xF) << 8 | Int(packed[offset])
    let length = isLong ? Self.longCopy + Int(packed[offset + 1]) : Self.leastCopy + code
    offset += isLong ? 2 : 1
    guard start + length <= windowSize else { return nil }
    return .copy(start..<(start + length))
  }
}
