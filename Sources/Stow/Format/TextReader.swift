/// Texts and strings: where they end, whether they are equal, and what they say.
extension ByteReader {
  /// A text in its place: a header at `start`, and where its characters stand.
  struct Text {
    let start: Int
    let content: Int
    let end: Int
    let count: Int
    let form: KeyText.Form
  }

  /// The text at `offset`, which is not a reference to a symbol.
  func text(at offset: Int) throws(FormatError) -> Text {
    let header = try byte(at: offset)
    switch header {
    case ..<KeyText.fiveBit: return try packedText(at: offset, count: Int(header), form: .sixBit)
    case ..<KeyText.plain:
      return try packedText(at: offset, count: Int(header - KeyText.fiveBit), form: .fiveBit)
    case ..<KeyText.symbol:
      let count = Int(header - KeyText.plain)
      try require(count, at: offset + 1)
      return Text(start: offset, content: offset + 1, end: offset + 1 + count, count: count, form: .plain)
    case KeyText.longPlain:
      var content = offset + 1
      let count = try length(at: &content)
      guard count >= KeyText.limit, content - offset == 1 + Varint.size(count) else {
        try fail(.malformed, at: offset)
      }
      return Text(start: offset, content: content, end: content + count, count: count, form: .plain)
    default: try fail(.malformed, at: offset)
    }
  }

  /// The offset behind the text at `offset`.
  @inline(__always)
  func endOfText(at offset: Int) throws(FormatError) -> Int {
    let header = try byte(at: offset)
    // Most are short; of the others a zero counts no characters, and so is malformed.
    guard header < KeyText.symbol, header & ~KeyText.fiveBit != 0 else { return try text(at: offset).end }
    let count = Int(header & 0x3F)
    let size =
      header >= KeyText.plain ? count : (count &* (header >= KeyText.fiveBit ? 5 : 6) &+ 7) / 8
    try require(size, at: offset &+ 1)
    return offset &+ 1 &+ size
  }

  /// Checks the text at `offset`: its form is the shortest that its string has, and plain bytes are UTF-8.
  ///
  /// - Returns: The offset behind it.
  func checkText(at offset: Int) throws(FormatError) -> Int {
    let text = try text(at: offset)
    if text.form == .plain {
      try checkPlain(text)
      if !isASCII(text) { _ = try string(at: text.content, count: text.count) }
    } else {
      var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
      _ = try withUnsafeMutableBytes(of: &words) { buffer throws(FormatError) in
        try unpack(text, into: buffer.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
      }
    }
    return text.end
  }

  /// Checks that no other form of the string of a plain text is shorter.
  @inline(__always)
  private func checkPlain(_ text: Text) throws(FormatError) {
    guard KeyText.isShortestPlain(buffer(at: text.content, count: text.count)) else {
      try fail(.malformed, at: text.start)
    }
  }

  private func packedText(at offset: Int, count: Int, form: KeyText.Form) throws(FormatError) -> Text {
    let size = (count * (form == .sixBit ? 6 : 5) + 7) / 8
    guard count > 0 else { try fail(.malformed, at: offset) }
    try require(size, at: offset + 1)
    return Text(start: offset, content: offset + 1, end: offset + 1 + size, count: count, form: form)
  }

  /// Returns the bytes of a text, header included.
  func bytes(of text: Text) -> UnsafeRawBufferPointer {
    buffer(at: text.start, count: text.end - text.start)
  }

  func hash(of text: Text) -> UInt64 {
    TextKey.make(pointer(at: text.start), text.end - text.start, ByteHash()).hash
  }

  /// Whether a text has no characters beyond ASCII.
  func isASCII(_ text: Text) -> Bool {
    text.form != .plain || isASCII(at: text.content, count: text.count)
  }

  /// Whether the bytes of `text`, header included, are `bytes`.
  @inline(__always)
  func matches(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    guard bytes.count <= count &- offset, let start = bytes.baseAddress else { return false }
    return equalBytes(pointer(at: offset), start, count: bytes.count)
  }

  /// The string of a text, which must be in the shortest form that the string has.
  func string(of text: Text) throws(FormatError) -> String {
    if text.form == .plain {
      try checkPlain(text)
      return try string(at: text.content, count: text.count)
    }
    // No text is longer unpacked than its count says.
    if text.count <= SmallString.longest, makesSmallStrings {
      var words: (UInt64, UInt64) = (0, 0)
      let length = try withUnsafeMutableBytes(of: &words) { buffer throws(FormatError) in
        try unpack(text, into: buffer.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
      }
      return SmallString.make(words, count: length)
    }
    var failure: FormatError?
    let string = String(unsafeUninitializedCapacity: text.count) { buffer in
      guard let target = buffer.baseAddress else { return 0 }
      do throws(FormatError) { return try unpack(text, into: target) } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return string
  }

  /// Unpacks a packed text to `target`, which has room for as many characters as its count says, and checks that no
  /// other form of its string is shorter.
  ///
  /// - Returns: The number of characters.
  @inline(__always)
  private func unpack(_ text: Text, into target: UnsafeMutablePointer<UInt8>) throws(FormatError) -> Int {
    let length =
      text.form == .sixBit
      ? KeyText.unpackSixBit(pointer(at: text.content), count: text.count, into: target)
      : KeyText.unpackFiveBit(pointer(at: text.content), count: text.count, into: target)
    guard let length,
      KeyText.measure(UnsafeRawBufferPointer(start: target, count: length)).form == text.form
    else {
      try fail(.malformed, at: text.start)
    }
    return length
  }

  /// Where the bytes of the string at `offset` stand, if it is one whose header is its tag, or its tag and one byte.
  ///
  /// Which of the two it is takes no branch: among strings of many lengths nothing foretells it.
  @inline(__always)
  func shortHeaderString(at offset: Int) -> (start: Int, count: Int)? {
    guard offset < count &- 1 else { return nil }
    let (tag, second) = (Int(base[offset]), Int(base[offset &+ 1]))
    let isLong = tag == Int(Tag.string)
    let size = isLong ? second : tag &- Int(Tag.shortString)
    let limit = isLong ? Varint.oneByteLimit : Tag.shortStringLimit
    let start = offset &+ (isLong ? 2 : 1)
    guard size >= 0, size < limit, size <= count &- start else { return nil }
    return (start, size)
  }

  /// The string of `count` bytes of UTF-8 at `offset`, which `require` has found to be there.
  @inline(__always)
  func string(at offset: Int, count: Int) throws(FormatError) -> String {
    if let string = smallString(at: offset, count: count) { return string }
    return try longString(at: offset, count: count)
  }

  /// Decoding repairs what is not UTF-8, and then has other bytes; finding that out is faster than validating
  /// first. ASCII needs no repair.
  private func longString(at offset: Int, count: Int) throws(FormatError) -> String {
    let bytes = buffer(at: offset, count: count)
    let string = String(decoding: bytes, as: UTF8.self)
    guard isASCII(at: offset, count: count) || Self.hasBytes(string, bytes) else {
      try fail(.invalidText, at: offset)
    }
    return string
  }

  /// Whether `count` bytes at `offset`, which `require` has found to be there, are all ASCII.
  @inline(__always)
  func isASCII(at offset: Int, count: Int) -> Bool {
    var bits: UInt64 = 0
    if count >= 8 {
      for index in stride(from: 0, to: count &- 8, by: 8) {
        bits |= pointer(at: offset &+ index).loadUnaligned(as: UInt64.self)
      }
      // Some of the last eight bytes were among those before.
      bits |= pointer(at: offset &+ count &- 8).loadUnaligned(as: UInt64.self)
    } else {
      for index in 0..<count { bits |= UInt64(base[offset &+ index]) }
    }
    return bits & SmallString.beyondASCII == 0
  }

  private static func hasBytes(_ string: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard string.utf8.count == bytes.count else { return false }
    guard let start = bytes.baseAddress, bytes.count > 0 else { return true }
    return string.utf8.withContiguousStorageIfAvailable {
      guard let copy = $0.baseAddress else { return false }
      return equalBytes(UnsafeRawPointer(copy), start, count: bytes.count)
    } ?? false
  }
}

/// Whether `count` bytes at two places are the same.
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

/// Whether two buffers hold the same bytes.
@inline(__always)
func equalBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  guard left.count == right.count else { return false }
  guard let one = left.baseAddress, let other = right.baseAddress else { return true }
  return equalBytes(one, other, count: left.count)
}
