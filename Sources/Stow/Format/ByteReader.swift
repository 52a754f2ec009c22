/// What a reader of bytes found wrong, and where.
///
/// A plain value, which throwing does not allocate, because trying one type after another throws often. The
/// decoder turns it into a `DecodingError` with a coding path.
package struct FormatError: Error {
  package enum Kind: UInt8, Sendable {
    /// The bytes end before the value does.
    case truncated
    /// The bytes break a rule of the format.
    case malformed
    /// Bytes after the value of a message.
    case surplus
    /// A length, a count or a number that does not fit in an `Int` of 32 bits.
    case exceedsInt
    case reserved
    /// Bytes that are not UTF-8.
    case invalidText
    case repeatedKey
    /// A key that equals another of its object as a `String`, but has other bytes.
    case equalKeys
    /// A valid value of another kind.
    case mismatch
    /// The same for an element without a tag.
    case cellMismatch
    /// One value was asked for, but the path leads to several.
    case several
    /// A number of the right kind that the type cannot hold.
    case unrepresentable
    /// A floating-point number where an integer is asked for.
    case notAnInteger
    /// A string that is not the text of any value of the requested type.
    case wrongText
    /// More bytes of preludes than allowed.
    case tooManyDefinitions
    case tooDeep
    /// More levels than the stack has room for.
    case noRoom
    /// A reference to a context by an id that several contexts have.
    case ambiguous
  }

  package let kind: Kind
  /// The byte offset from the start of the message.
  package let offset: Int

  init(_ kind: Kind, at offset: Int) {
    self.kind = kind
    self.offset = offset
  }
}

/// Not inlined: the compiler calls a function that throws a typed error inline through its conformance, even
/// if the type is known.
@inline(never)
func fail(_ kind: FormatError.Kind, at offset: Int) throws(FormatError) -> Never { throw FormatError(kind, at: offset) }

/// Lengths, counts and indices (FORMAT.md, "Uints"): a rest that is added to the base of its lead byte.
///
///     00–DF                 0 to 223
///     E0–F7  one byte       224 to 6,367
///     F8–FB  two bytes      6,368 to 268,511
///     FC     four bytes
///     FD     eight bytes
package enum Varint {
  package static let oneByteLimit = 224
  private static let twoByteLimit = oneByteLimit + 24 * 256
  private static let threeByteLimit = twoByteLimit + 4 * 65_536
  /// The most bytes that an integer takes.
  package static let longest = 9

  /// Returns the lead byte of a value, and a rest whose lowest `width` bytes follow it.
  package static func form(_ value: Int) -> (lead: UInt8, rest: UInt64, width: Int) {
    if value < oneByteLimit { return (UInt8(value), 0, 0) }
    if value < twoByteLimit {
      let rest = value - oneByteLimit
      return (0xE0 + UInt8(rest >> 8), UInt64(rest), 1)
    }
    if value < threeByteLimit {
      let rest = value - twoByteLimit
      return (0xF8 + UInt8(rest >> 16), UInt64(rest), 2)
    }
    return UInt64(value) <= UInt64(UInt32.max) ? (0xFC, UInt64(value), 4) : (0xFD, UInt64(value), 8)
  }

  /// Returns the base of a lead byte, and the width of the rest; nil if the lead byte is reserved.
  package static func form(lead: UInt8) -> (base: Int, width: Int)? {
    switch lead {
    case ..<0xE0: (Int(lead), 0)
    case ..<0xF8: (oneByteLimit + Int(lead - 0xE0) << 8, 1)
    case ..<0xFC: (twoByteLimit + Int(lead - 0xF8) << 16, 2)
    case 0xFC: (0, 4)
    case 0xFD: (0, 8)
    default: nil
    }
  }

  package static func size(_ value: Int) -> Int { value < oneByteLimit ? 1 : 1 + form(value).width }
}

/// Bounds-checked access to the bytes of one message.
///
/// `require` compares an offset and a size with the size of the message; sums cannot overflow because every size is
/// checked against what is left. Code that reads `base`, a pointer or a buffer of the reader has required the bytes
/// first, or reads the tag of a value whose end was found. The bytes belong to whoever made the reader and must outlive
/// its use.
package struct ByteReader {
  private(set) var base: UnsafePointer<UInt8>
  package private(set) var count: Int
  /// `Tag.extents`, at hand without the check that a global is initialized.
  let extents: UnsafePointer<UInt8>

  /// A reader of no bytes.
  init(extents: UnsafePointer<UInt8>) {
    base = extents
    count = 0
    self.extents = extents
  }

  /// Reads other bytes from now on, without the globals that making another reader accesses.
  mutating func turn(to bytes: UnsafeRawBufferPointer) {
    // An empty buffer may have no address; no read of it gets past the bounds check.
    base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? extents
    count = bytes.count
  }

  // MARK: bytes that `require` has found to be there

  func pointer(at offset: Int) -> UnsafeRawPointer { UnsafeRawPointer(base + offset) }

  func buffer(at offset: Int, count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + offset, count: count)
  }

  func bit(_ number: Int, at offset: Int) -> Bool { base[offset &+ number >> 3] &>> UInt8(number & 7) & 1 == 1 }

  private func unsigned(at offset: Int, width: Int) -> UInt64 {
    if count >= 8 {
      // Near the end, a word that also has bytes before.
      let start = min(offset, count &- 8)
      let word = UInt64(littleEndian: pointer(at: start).loadUnaligned(as: UInt64.self))
      let bits = word &>> UInt64(truncatingIfNeeded: 8 &* (offset &- start))
      return width == 8 ? bits : bits & ~(.max &<< UInt64(truncatingIfNeeded: 8 &* width))
    }
    var value: UInt64 = 0
    for index in 0..<width { value |= UInt64(base[offset + index]) << UInt64(8 * index) }
    return value
  }

  // MARK: checked

  /// Checks that there are `size` bytes at `offset`, which is not negative.
  @inline(__always)
  func require(_ size: Int, at offset: Int) throws(FormatError) {
    guard offset <= count, size <= count &- offset else { try fail(.truncated, at: offset) }
  }

  @inline(__always)
  package func byte(at offset: Int) throws(FormatError) -> UInt8 {
    guard offset < count else { try fail(.truncated, at: offset) }
    return base[offset]
  }

  package func bytes(_ range: Range<Int>) throws(FormatError) -> UnsafeRawBufferPointer {
    try require(range.count, at: range.lowerBound)
    return buffer(at: range.lowerBound, count: range.count)
  }

  package func word(at offset: Int) throws(FormatError) -> UInt64 {
    try require(8, at: offset)
    return UInt64(littleEndian: pointer(at: offset).loadUnaligned(as: UInt64.self))
  }

  package func halfWord(at offset: Int) throws(FormatError) -> UInt32 {
    try require(4, at: offset)
    return UInt32(littleEndian: pointer(at: offset).loadUnaligned(as: UInt32.self))
  }

  /// Returns the signed integer of `width` bytes, 1 to 8.
  @inline(__always)
  package func signed(at offset: Int, width: Int) throws(FormatError) -> Int64 {
    let unused = Int64(truncatingIfNeeded: 64 &- 8 &* width)
    if offset <= count &- 8 {
      let word = pointer(at: offset).loadUnaligned(as: Int64.self)
      return (Int64(littleEndian: word) &<< unused) &>> unused
    }
    return (try shortSigned(at: offset, width: width) &<< unused) &>> unused
  }

  /// Reads an integer near the end of the message, byte by byte.
  @inline(never)
  private func shortSigned(at offset: Int, width: Int) throws(FormatError) -> Int64 {
    try require(width, at: offset)
    return Int64(bitPattern: unsigned(at: offset, width: width))
  }

  /// Returns up to eight bytes from `offset` on, but none from `end` on: the first is the lowest.
  func firstBytes(at offset: Int, upTo end: Int) -> UInt64 {
    unsigned(at: offset, width: max(0, min(8, min(end, count) - offset)))
  }

  /// Reads an unsigned integer and moves `offset` past it.
  @inline(__always)
  package func varint(at offset: inout Int) throws(FormatError) -> Int {
    let first = try byte(at: offset)
    if first < UInt8(Varint.oneByteLimit) {
      offset &+= 1
      return Int(first)
    }
    return try longVarint(at: &offset)
  }

  @inline(never)
  private func longVarint(at offset: inout Int) throws(FormatError) -> Int {
    let start = offset
    guard let (base, width) = Varint.form(lead: self.base[start]) else { try fail(.malformed, at: start) }
    try require(width, at: start + 1)
    let rest = unsigned(at: start + 1, width: width)
    guard rest <= UInt64(Int64.max) else { try fail(.malformed, at: start) }
    guard let rest = Int(exactly: rest) else { try fail(.exceedsInt, at: start) }
    offset = start + 1 + width
    return base + rest
  }

  /// Reads the number of a tag, as `BackwardWriter.numbered` writes it, and moves `offset` past it; nil for others.
  @inline(__always)
  func numbered(at offset: inout Int, short: UInt8, limit: Int, long: UInt8) throws(FormatError) -> Int? {
    let tag = try byte(at: offset)
    if Int(tag &- short) < limit {
      offset &+= 1
      return Int(tag &- short)
    }
    guard tag == long else { return nil }
    var next = offset &+ 1
    let number = try varint(at: &next)
    offset = next
    return number
  }

  /// Reads a byte length, checks that as many bytes follow, and moves `offset` to the first of them.
  package func length(at offset: inout Int) throws(FormatError) -> Int {
    let start = offset
    let length = try varint(at: &offset)
    guard length <= count &- offset else { try fail(.truncated, at: start) }
    return length
  }
}
