/// Keys and symbols as text of 5, 6 or 8 bits a character (FORMAT.md, "Texts").
///
/// Keys are identifiers, and half the bytes of small messages. Every string has exactly one valid text, the
/// shortest, so that two texts are the same string if their bytes are.
package enum KeyText {
  /// 6-bit characters: `sixBit + count`.
  static let sixBit: UInt8 = 0x00
  /// 5-bit units: `fiveBit + count`.
  static let fiveBit: UInt8 = 0x40
  /// UTF-8: `plain + length`.
  static let plain: UInt8 = 0x80
  /// One of the first 32 symbols, where a reference may stand: `symbol + index`.
  static let symbol: UInt8 = 0xC0
  static let shortSymbolLimit = 32
  static let longSymbol: UInt8 = 0xE0
  static let longPlain: UInt8 = 0xE1
  /// Counts up to 63 fit a header.
  static let limit = 64

  package enum Form: Sendable { case plain, sixBit, fiveBit }

  /// The form in which a text is shortest.
  struct Measure {
    let form: Form
    /// The number of characters, units or bytes, as in the header.
    let count: Int
    /// The size with the header.
    let size: Int
  }

  static func measure(_ text: UnsafeRawBufferPointer) -> Measure { measure(text, CharacterCodes.table) }

  /// - Parameter codes: `CharacterCodes.table`.
  @inline(__always)
  fileprivate static func measure(_ text: UnsafeRawBufferPointer, _ codes: UnsafePointer<UInt64>) -> Measure {
    let count = text.count
    guard count < limit else { return Measure(form: .plain, count: count, size: count + 1 + Varint.size(count)) }
    var all: UInt64 = 0
    var sum: UInt64 = 0
    for byte in text {
      all |= codes[Int(byte)]
      sum &+= codes[Int(byte)]
    }
    let units = Int(truncatingIfNeeded: sum >> 32)
    let (sixBit, fiveBit) = (UInt8(truncatingIfNeeded: all), UInt8(truncatingIfNeeded: all >> 8))
    var best = Measure(form: .plain, count: count, size: 1 + count)
    let sixBitSize = 1 + (count * 6 + 7) / 8
    if sixBit & CharacterCodes.none == 0, sixBitSize < best.size {
      best = Measure(form: .sixBit, count: count, size: sixBitSize)
    }
    let fiveBitSize = 1 + (units * 5 + 7) / 8
    if fiveBit & CharacterCodes.none == 0, units < limit, fiveBitSize < best.size {
      best = Measure(form: .fiveBit, count: units, size: fiveBitSize)
    }
    return best
  }

  static func bytes(of string: String) -> [UInt8] {
    var writer = BackwardWriter(capacity: string.utf8.count)
    writer.text(string)
    return [UInt8](writer.written)
  }
}

extension BackwardWriter {
  /// Writes a text in its shortest form, header included.
  mutating func text(_ utf8: UnsafeRawBufferPointer) {
    let codes = codes
    let measure = KeyText.measure(utf8, codes)
    switch measure.form {
    case .sixBit:
      pack(utf8, width: 6) { codes[Int($0)] & 0x3F }
      byte(KeyText.sixBit + UInt8(measure.count))
    case .fiveBit:
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: KeyText.limit) { units in
        var count = 0
        for character in utf8 {
          let code = UInt8(truncatingIfNeeded: codes[Int(character)] >> 8)
          if code & (CharacterCodes.upper | CharacterCodes.digit) != 0 {
            units[count] = code & CharacterCodes.upper != 0 ? CharacterCodes.upperShift : CharacterCodes.digitShift
            count += 1
          }
          units[count] = code & 31
          count += 1
        }
        pack(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(units)[..<count]), width: 5) { UInt64($0) }
      }
      byte(KeyText.fiveBit + UInt8(measure.count))
    case .plain:
      bytes(utf8)
      reserve(Self.margin)
      numbered(measure.count, short: KeyText.plain, limit: KeyText.limit, long: KeyText.longPlain)
    }
  }

  mutating func text(_ string: String) {
    var string = string
    string.withUTF8 { text(UnsafeRawBufferPointer($0)) }
  }

  /// Writes a reference to a symbol, in the place of a text. Within a reserve.
  mutating func text(symbol: Int) {
    numbered(symbol, short: KeyText.symbol, limit: KeyText.shortSymbolLimit, long: KeyText.longSymbol)
  }

  /// Writes `width` bits for each byte of a short text: eight take `width` bytes.
  private mutating func pack(_ text: UnsafeRawBufferPointer, width: Int, _ bits: (UInt8) -> UInt64) {
    reserve(text.count &+ Self.margin)
    let whole = text.count & ~7
    var last: UInt64 = 0
    for index in whole..<text.count {
      last |= bits(text[index]) &<< UInt64(truncatingIfNeeded: width &* (index &- whole))
    }
    littleEndian(last, width: (width &* (text.count &- whole) &+ 7) >> 3)
    var start = whole
    while start > 0 {
      start &-= 8
      var group: UInt64 = 0
      for index in 0..<8 { group |= bits(text[start &+ index]) << UInt64(truncatingIfNeeded: width &* index) }
      littleEndian(group, width: width)
    }
  }
}

extension ByteReader {
  /// Returns the symbol that the key at `offset` refers to, and moves `offset` past it; nil for a text.
  package func reference(at offset: inout Int) throws(FormatError) -> Int? {
    try numbered(at: &offset, short: KeyText.symbol, limit: KeyText.shortSymbolLimit, long: KeyText.longSymbol)
  }

  /// Where a text is: its header at `start`, and its characters.
  package struct Text {
    let start: Int
    let content: Int
    package let end: Int
    let count: Int
    package let form: KeyText.Form
  }

  /// Reads the text at `offset`, which is not a reference to a symbol.
  package func text(at offset: Int) throws(FormatError) -> Text {
    let header = try byte(at: offset)
    var content = offset &+ 1
    var count = Int(header & 0x3F)
    let form: KeyText.Form
    switch header {
    case ..<KeyText.fiveBit: form = .sixBit
    case ..<KeyText.plain: form = .fiveBit
    case ..<KeyText.symbol: form = .plain
    case KeyText.longPlain:
      form = .plain
      count = try length(at: &content)
      guard count >= KeyText.limit, content - offset == 1 + Varint.size(count) else { try fail(.malformed, at: offset) }
    default: try fail(.malformed, at: offset)
    }
    guard count > 0 || form == .plain else { try fail(.malformed, at: offset) }
    let size = form == .plain ? count : (count &* (form == .sixBit ? 6 : 5) &+ 7) / 8
    try require(size, at: content)
    return Text(start: offset, content: content, end: content &+ size, count: count, form: form)
  }

  func endOfText(at offset: Int) throws(FormatError) -> Int {
    let header = try byte(at: offset)
    // Most texts are short. A packed text without characters is malformed.
    guard header < KeyText.symbol, header & ~KeyText.fiveBit != 0 else { return try text(at: offset).end }
    let count = Int(header & 0x3F)
    let size = header >= KeyText.plain ? count : (count &* (header >= KeyText.fiveBit ? 5 : 6) &+ 7) / 8
    try require(size, at: offset &+ 1)
    return offset &+ 1 &+ size
  }

  /// Checks the text at `offset`, as `string(of:)` does, and returns the offset after it.
  func checkText(at offset: Int) throws(FormatError) -> Int {
    let text = try text(at: offset)
    _ = try string(of: text)
    return text.end
  }

  /// Returns whether the bytes of the text at `offset`, header included, are `bytes`.
  func matches(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    guard bytes.count <= count &- offset, let start = bytes.baseAddress else { return false }
    return CLibrary.areEqual(pointer(at: offset), start, bytes.count)
  }

  /// Returns the string of a text, which must be in the shortest form, and UTF-8 in the plain one.
  package func string(of text: Text) throws(FormatError) -> String {
    if text.form == .plain {
      guard KeyText.measure(buffer(at: text.content, count: text.count)).form == .plain else {
        try fail(.malformed, at: text.start)
      }
      return try string(at: text.content, count: text.count)
    }
    // Unpacked, no text is longer than its count.
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

  func string(ofTextAt offset: Int) throws(FormatError) -> String { try string(of: text(at: offset)) }

  /// Unpacks a packed text to `target`, which has room for `text.count` characters, and returns how many there are.
  private func unpack(_ text: Text, into target: UnsafeMutablePointer<UInt8>) throws(FormatError) -> Int {
    let isSixBit = text.form == .sixBit
    var bits = BitExtractor(pointer(at: text.content), bitCount: text.count * (isSixBit ? 6 : 5))
    var length = 0
    if isSixBit {
      let characters = CharacterCodes.sixBitCharacters.utf8Start
      while length < text.count {
        target[length] = characters[Int(bits.next(6))]
        length += 1
      }
    } else {
      let characters = CharacterCodes.fiveBitCharacters.utf8Start
      var left = text.count
      while left > 0 {
        let unit = bits.next(5)
        left -= 1
        if unit < CharacterCodes.upperShift {
          target[length] = characters[Int(unit)]
        } else {
          guard left > 0 else { try fail(.malformed, at: text.start) }
          let isUpper = unit == CharacterCodes.upperShift
          let shifted = bits.next(5)
          left -= 1
          guard shifted < (isUpper ? 26 : 10) else { try fail(.malformed, at: text.start) }
          target[length] = shifted + (isUpper ? UInt8(ascii: "A") : UInt8(ascii: "0"))
        }
        length += 1
      }
    }
    let measure = KeyText.measure(UnsafeRawBufferPointer(start: target, count: length))
    guard bits.restIsZero, measure.form == text.form else { try fail(.malformed, at: text.start) }
    return length
  }
}

/// The codes of each byte in texts of 6 and 5 bits a character (FORMAT.md, "Texts").
///
/// The lowest byte is the 6-bit code; the next is the 5-bit unit, with `upper` or `digit` if a shift precedes
/// it; either may be `none`. The upper half counts the 5-bit units, and so does that of a sum of entries.
enum CharacterCodes {
  static let none: UInt8 = 0x80
  static let upper: UInt8 = 0x20
  static let digit: UInt8 = 0x40

  static let sixBitCharacters: StaticString = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
  static let fiveBitCharacters: StaticString = "abcdefghijklmnopqrstuvwxyz_-.$"
  static let upperShift: UInt8 = 30
  static let digitShift: UInt8 = 31

  /// Never written after it was made, and never freed.
  nonisolated(unsafe) static let table: UnsafePointer<UInt64> = {
    var (sixBit, fiveBit) = ([UInt8](repeating: none, count: 256), [UInt8](repeating: none, count: 256))
    for code in 0..<64 { sixBit[Int(sixBitCharacters.utf8Start[code])] = UInt8(code) }
    for unit in 0..<30 { fiveBit[Int(fiveBitCharacters.utf8Start[unit])] = UInt8(unit) }
    for unit in 0..<26 { fiveBit[Int(UInt8(ascii: "A")) + unit] = upper | UInt8(unit) }
    for unit in 0..<10 { fiveBit[Int(UInt8(ascii: "0")) + unit] = digit | UInt8(unit) }
    let table = UnsafeMutablePointer<UInt64>.allocate(capacity: 256)
    for byte in 0..<256 {
      let units: UInt64 = fiveBit[byte] & (upper | digit) == 0 ? 1 : 2
      (table + byte).initialize(to: UInt64(sixBit[byte]) | UInt64(fiveBit[byte]) << 8 | units << 32)
    }
    return UnsafePointer(table)
  }()
}

/// Takes groups of up to 8 bits, lowest first, out of bytes.
struct BitExtractor {
  private var next: UnsafeRawPointer
  private let end: UnsafeRawPointer
  private var pending: UInt64 = 0
  private var count: UInt64 = 0

  /// `source` must have the bytes of `bitCount` bits, and no more than these bits may be taken.
  init(_ source: UnsafeRawPointer, bitCount: Int) {
    next = source
    end = source + (bitCount + 7) / 8
  }

  @inline(__always)
  mutating func next(_ width: UInt64) -> UInt8 {
    if count < width { refill() }
    let result = UInt8(truncatingIfNeeded: pending & (1 &<< width &- 1))
    pending &>>= width
    count &-= width
    return result
  }

  private mutating func refill() {
    if end - next >= 4 {
      pending |= UInt64(UInt32(littleEndian: next.loadUnaligned(as: UInt32.self))) &<< count
      next += 4
      count &+= 32
    } else {
      pending |= UInt64(next.load(as: UInt8.self)) &<< count
      next += 1
      count &+= 8
    }
  }

  /// Whether the bits that fill the last byte are zero, once all groups were taken.
  var restIsZero: Bool { pending == 0 }
}
