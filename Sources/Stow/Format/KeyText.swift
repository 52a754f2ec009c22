/// Keys and symbols as text of 5, 6 or 8 bits a character (FORMAT.md, "Texts").
///
/// Keys are identifiers, and half the bytes of small messages. A text is a header byte that says its form and size, and
/// the bytes. Every string has exactly one valid text, the shortest, so that two texts are the same string if their bytes
/// are equal.
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
    /// Of characters, units or bytes: what the header says.
    let count: Int
    /// The bytes of the whole, header included.
    let size: Int
  }

  static func measure(_ text: UnsafeRawBufferPointer) -> Measure {
    let codes = CharacterCodes.table
    let count = text.count
    guard count > 0, count < limit else {
      return Measure(form: .plain, count: count, size: count + (count < limit ? 1 : 1 + Varint.size(count)))
    }
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

  /// The bytes of the text of `string`, header included.
  static func bytes(of string: String) -> [UInt8] {
    var writer = BackwardWriter(capacity: string.utf8.count)
    writer.text(string)
    return [UInt8](writer.written)
  }
}

extension BackwardWriter {
  mutating func text(_ string: String) {
    var string = string
    string.withUTF8 { text(UnsafeRawBufferPointer($0)) }
  }

  /// A text in its shortest form, header included.
  mutating func text(_ utf8: UnsafeRawBufferPointer) {
    let measure = KeyText.measure(utf8)
    guard measure.form != .plain else {
      bytes(utf8)
      reserve(Self.margin)
      return numbered(measure.count, short: KeyText.plain, limit: KeyText.limit, long: KeyText.longPlain)
    }
    reserve(Self.margin)
    let isFiveBit = measure.form == .fiveBit
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: KeyText.limit) { units in
      var count = 0
      for character in utf8 {
        let code = UInt8(truncatingIfNeeded: CharacterCodes.table[Int(character)] >> (isFiveBit ? 8 : 0))
        if isFiveBit, code >= CharacterCodes.upper {
          units[count] =
            code < CharacterCodes.digit ? CharacterCodes.upperShift : CharacterCodes.digitShift
          count += 1
        }
        units[count] = isFiveBit ? code & 31 : code
        count += 1
      }
      pack(units[..<count], width: isFiveBit ? 5 : 6)
    }
    byte((isFiveBit ? KeyText.fiveBit : KeyText.sixBit) + UInt8(measure.count))
  }

  /// Writes a reference to a symbol, in the place of a text. Within a reserve.
  mutating func text(symbol: Int) {
    numbered(symbol, short: KeyText.symbol, limit: KeyText.shortSymbolLimit, long: KeyText.longSymbol)
  }

  /// Writes `width` bits for each unit. Within a reserve.
  private mutating func pack(_ units: Slice<UnsafeMutableBufferPointer<UInt8>>, width: Int) {
    // Eight units are as many bytes as the bits of one.
    for start in stride(from: (units.count - 1) & ~7, through: 0, by: -8) {
      let end = min(start + 8, units.count)
      var group: UInt64 = 0
      for index in start..<end { group |= UInt64(units[index]) << UInt64(width * (index - start)) }
      littleEndian(group, width: (width * (end - start) + 7) / 8)
    }
  }
}

extension ByteReader {
  /// The number of the symbol that the key at `offset` refers to; moves `offset` past the key. Nil for a text, which
  /// is not passed.
  package func reference(at offset: inout Int) throws(FormatError) -> Int? {
    let header = try byte(at: offset)
    guard header >= KeyText.symbol, header <= KeyText.longSymbol else { return nil }
    var next = offset &+ 1
    let symbol = header == KeyText.longSymbol ? try varint(at: &next) : Int(header - KeyText.symbol)
    offset = next
    return symbol
  }

  /// A text in its place: a header at `start`, and where its characters stand.
  package struct Text {
    let start: Int
    let content: Int
    package let end: Int
    let count: Int
    package let form: KeyText.Form
  }

  /// The text at `offset`, which is not a reference to a symbol.
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
      guard count >= KeyText.limit, content - offset == 1 + Varint.size(count) else {
        try fail(.malformed, at: offset)
      }
    default: try fail(.malformed, at: offset)
    }
    guard count > 0 || form == .plain else { try fail(.malformed, at: offset) }
    let size = form == .plain ? count : (count &* (form == .sixBit ? 6 : 5) &+ 7) / 8
    try require(size, at: content)
    return Text(start: offset, content: content, end: content &+ size, count: count, form: form)
  }

  /// The offset after the text at `offset`.
  func endOfText(at offset: Int) throws(FormatError) -> Int {
    let header = try byte(at: offset)
    // Most are short; of the others a zero counts no characters, and so is malformed.
    guard header < KeyText.symbol, header & ~KeyText.fiveBit != 0 else { return try text(at: offset).end }
    let count = Int(header & 0x3F)
    let size = header >= KeyText.plain ? count : (count &* (header >= KeyText.fiveBit ? 5 : 6) &+ 7) / 8
    try require(size, at: offset &+ 1)
    return offset &+ 1 &+ size
  }

  /// Whether `bytes` stand at `offset`.
  func matches(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    guard bytes.count <= count &- offset, let start = bytes.baseAddress else { return false }
    return equalBytes(pointer(at: offset), start, count: bytes.count)
  }

  /// The string of a text, which must be in the shortest form that the string has.
  package func string(of text: Text) throws(FormatError) -> String {
    if text.form == .plain {
      guard KeyText.measure(buffer(at: text.content, count: text.count)).form == .plain else {
        try fail(.malformed, at: text.start)
      }
      return try string(at: text.content, count: text.count)
    }
    var isValid = true
    let string = String(unsafeUninitializedCapacity: text.count) { target in
      let length = target.baseAddress.flatMap { unpack(text, into: $0) }
      isValid = length != nil
      return length ?? 0
    }
    guard isValid else { try fail(.malformed, at: text.start) }
    return string
  }

  /// The string of the text at `offset`.
  func string(ofTextAt offset: Int) throws(FormatError) -> String { try string(of: text(at: offset)) }

  /// Unpacks a packed text to `target`, which has room for as many characters as there are units.
  ///
  /// - Returns: The number of characters; nil if the text is not valid, or not the shortest of its string.
  private func unpack(_ text: Text, into target: UnsafeMutablePointer<UInt8>) -> Int? {
    let isFiveBit = text.form == .fiveBit
    let width = isFiveBit ? 5 : 6
    let characters = (isFiveBit ? CharacterCodes.fiveBitCharacters : CharacterCodes.sixBitCharacters)
      .utf8Start
    var (bits, length): (UInt64, Int) = (0, 0)
    // The shift before the next unit.
    var shift: UInt8?
    for index in 0..<text.count {
      if index & 7 == 0 {
        let start = text.content + index / 8 * width
        bits = firstBytes(at: start, upTo: min(start + width, text.end))
      }
      let unit = UInt8(truncatingIfNeeded: bits) & (isFiveBit ? 0x1F : 0x3F)
      bits >>= UInt64(width)
      if isFiveBit, shift == nil, unit >= CharacterCodes.upperShift {
        shift = unit
        continue
      }
      switch shift {
      case nil: target[length] = characters[Int(unit)]
      case CharacterCodes.upperShift where unit < 26: target[length] = UInt8(ascii: "A") + unit
      case CharacterCodes.digitShift where unit < 10: target[length] = UInt8(ascii: "0") + unit
      default: return nil
      }
      shift = nil
      length += 1
    }
    // The bits that fill the last byte are zero.
    guard bits == 0, shift == nil else { return nil }
    return KeyText.measure(UnsafeRawBufferPointer(start: target, count: length)).form == text.form
      ? length : nil
  }
}

/// What each byte is in texts of 6 and 5 bits a character (FORMAT.md, "Texts").
///
/// The lowest byte is the 6-bit code; the next is the 5-bit unit, with `upper` or `digit` if a shift stands before it.
/// Either is `none` for a byte that has no code. The upper half is the number of 5-bit units, and so the sum of all
/// entries has that of a text there.
enum CharacterCodes {
  static let none: UInt8 = 0x80
  static let upper: UInt8 = 0x20
  static let digit: UInt8 = 0x40

  static let sixBitCharacters: StaticString =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
  static let fiveBitCharacters: StaticString = "abcdefghijklmnopqrstuvwxyz_-.$"
  /// The unit before an upper-case letter, and before a digit.
  static let upperShift: UInt8 = 30
  static let digitShift: UInt8 = 31

  /// By byte. Never written after it was made, and never freed.
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
