/// The words of a text in diagnostic notation, one after the other.
struct NotationScanner {
  let text: [UInt8]
  private(set) var offset = 0

  init(_ text: String) { self.text = Array(text.utf8) }

  func error(_ reason: String, at offset: Int? = nil) -> StowNotationError {
    StowNotationError(reason, at: offset ?? self.offset, in: text)
  }

  var isAtEnd: Bool { offset == text.count }

  /// The next byte; nil at the end.
  var next: UInt8? { isAtEnd ? nil : text[offset] }

  mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  /// Passes a character if it is the next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  mutating func require(_ character: Unicode.Scalar) throws(StowNotationError) {
    guard take(character) else { throw error("expected \"\(character)\"") }
  }

  /// Goes back to where something began.
  mutating func go(back start: Int) { offset = start }

  /// The bytes up to the first for which `isPart` is false.
  mutating func take(while isPart: (UInt8) -> Bool) -> String {
    let start = offset
    while let byte = next, isPart(byte) { offset += 1 }
    return String(decoding: text[start..<offset], as: UTF8.self)
  }

  /// The name of a kind or a constant.
  mutating func takeWord() -> String { take { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") } }

  // MARK: numbers

  /// A number as JSON writes it, and whether it has a point or an exponent.
  mutating func takeNumber() throws(StowNotationError) -> (text: String, isInteger: Bool) {
    let start = offset
    _ = take("-")
    let first = offset
    try takeDigits()
    guard text[first] != UInt8(ascii: "0") || offset == first + 1 else {
      throw error("a number that begins with 0", at: first)
    }
    var isInteger = true
    if take(".") {
      isInteger = false
      try takeDigits()
    }
    if take("e") || take("E") {
      isInteger = false
      if !take("+") { _ = take("-") }
      try takeDigits()
    }
    return (String(decoding: text[start..<offset], as: UTF8.self), isInteger)
  }

  private mutating func takeDigits() throws(StowNotationError) {
    let digits = take(while: NotationNumber.isDigit)
    if digits.isEmpty { throw error("expected a digit") }
  }

  // MARK: strings

  /// A string in quotes.
  mutating func takeString() throws(StowNotationError) -> String {
    try require("\"")
    var content: [UInt8] = []
    var start = offset
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        defer { offset += 1 }
        return content.isEmpty
          ? String(decoding: text[start..<offset], as: UTF8.self)
          : String(decoding: content + text[start..<offset], as: UTF8.self)
      case UInt8(ascii: "\\"):
        content += text[start..<offset]
        offset += 1
        content += Array(String(try takeEscape()).utf8)
        start = offset
      case ..<0x20: throw error("a control character in a string")
      default: offset += 1
      }
    }
    throw error("a string without its end")
  }

  /// What a backslash, which was passed, says with what follows it.
  private mutating func takeEscape() throws(StowNotationError) -> Unicode.Scalar {
    let start = offset - 1
    guard let byte = next else { throw error("a string without its end") }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let unit = try takeUnit()
      if let scalar = Unicode.Scalar(unit) { return scalar }
      if UTF16.isLeadSurrogate(unit), take("\\"), take("u") {
        let second = try takeUnit()
        if UTF16.isTrailSurrogate(second) { return UTF16.decode(UTF16.EncodedScalar([unit, second])) }
      }
      throw error("half of a surrogate pair", at: start)
    default: throw error("an unknown escape", at: start)
    }
  }

  /// Four hexadecimal digits.
  private mutating func takeUnit() throws(StowNotationError) -> UInt16 {
    let end = min(offset + 4, text.count)
    let digits = text[offset..<end]
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw error("expected four hexadecimal digits") }
    offset = end
    return unit
  }
}
