import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads a text in diagnostic notation (Format/Notation.md), one item after the other, in time in proportion to it.
///
/// Open arrays and objects are kept in a list, so that no text takes more of the stack than another.
struct NotationParser {
  /// An item of a text.
  enum Item {
    case scalar(StowValue)
    /// The beginning of an array or an object.
    case array, object
    /// The key of the value that comes next.
    case key(String)
    /// The end of the innermost array or object; of an object, with its keys.
    case end(ObjectKeys?)
  }

  /// What may come next.
  private enum Place {
    case value
    /// The first value of the innermost container or its end.
    case start
    /// Another value of the innermost container or its end.
    case next
  }

  private var scanner: NotationScanner
  private var place = Place.value
  /// The keys so far of the objects that are open, outermost first; nil for arrays.
  private var open: [ObjectKeys?] = []

  /// Whether only JSON is accepted.
  private let isJSON: Bool
  private let maximumDepth: Int

  /// How deep the values nest that are read from messages, by default. A table, its rows and an empty array in them do
  /// not count toward the 512 levels of a message.
  static let deepestOfMessages = 515

  /// - Parameters:
  ///   - text: What should be UTF-8, and must outlive the parser. Strings are checked when they are met, so that a text
  ///     that is wrong is not read beyond that.
  ///   - maximumDepth: How deep arrays and objects may nest; by default as deep as can be written to a message.
  init(_ text: UnsafeBufferPointer<UInt8>, isJSON: Bool = false, maximumDepth: Int = 512) {
    scanner = NotationScanner(text)
    self.isJSON = isJSON
    self.maximumDepth = maximumDepth
  }

  /// Reads the whole text as one value.
  mutating func parse() throws(StowNotationError) -> StowValue {
    let value = try value()
    try end()
    return value
  }

  /// Reads the next value.
  ///
  /// - Parameter isOpen: Whether it is a container whose beginning was read, and maybe its first key.
  mutating func value(isOpen: Bool = false) throws(StowNotationError) -> StowValue {
    /// The values so far of the containers that are open.
    var contents: [[StowValue]] = isOpen ? [[]] : []
    while true {
      let value: StowValue
      switch try next() {
      case .array, .object:
        contents.append([])
        continue
      case .key: continue
      case .scalar(let scalar): value = scalar
      case .end(let keys):
        let values = contents.removeLast()
        value = keys.map { .object(StowObject($0, values)) } ?? .array(values)
      }
      if contents.isEmpty { return value }
      contents[contents.count - 1].append(value)
    }
  }

  // MARK: items

  /// Reads the next item of a text whose value is not complete.
  mutating func next() throws(StowNotationError) -> Item {
    scanner.skipSpace()
    if place != .value {
      let last = open.count - 1
      let isObject = open[last] != nil
      let end: Unicode.Scalar = isObject ? "}" : "]"
      if scanner.take(end) {
        place = .next
        return .end(open.removeLast())
      }
      if place == .next {
        guard scanner.take(",") else { throw scanner.error("expected \",\" or \"\(end)\"") }
        scanner.skipSpace()
      }
      place = .value
      if isObject { return .key(try takeKey()) }
    }
    let start = scanner.offset
    let isArray = scanner.take("[")
    guard isArray || scanner.take("{") else {
      place = .next
      return .scalar(try scalar())
    }
    guard open.count < maximumDepth else {
      throw scanner.error("more than \(maximumDepth) levels of nesting", at: start)
    }
    place = .start
    open.append(isArray ? nil : ObjectKeys([]))
    return isArray ? .array : .object
  }

  /// Checks that nothing follows the value.
  mutating func end() throws(StowNotationError) {
    scanner.skipSpace()
    guard scanner.isAtEnd else { throw scanner.error(StowNotationError.textAfterValue) }
  }

  /// Takes the next key of the innermost object, with the colon.
  private mutating func takeKey() throws(StowNotationError) -> String {
    let start = scanner.offset
    guard scanner.next == UInt8(ascii: "\"") else { throw scanner.error("expected a key in quotes") }
    let key = try scanner.takeString()
    let last = open.count - 1
    guard open[last]?.position(of: key) == nil else {
      throw scanner.error("a key that the object has already", at: start)
    }
    open[last]?.append(key)
    scanner.skipSpace()
    try scanner.require(":")
    return key
  }

  // MARK: scalars

  private mutating func scalar() throws(StowNotationError) -> StowValue {
    switch scanner.next {
    case UInt8(ascii: "\""): return .string(try scanner.takeString())
    case UInt8(ascii: "-"): return try number()
    case let digit? where Notation.isDigit(digit): return try number()
    default: return try word()
    }
  }

  private mutating func number() throws(StowNotationError) -> StowValue {
    let start = scanner.offset
    if scanner.take("-"), scanner.next == UInt8(ascii: "i"), !isJSON {
      guard scanner.takeWord() == "inf" else { throw scanner.error("expected a number", at: start) }
      return .double(-.infinity)
    }
    scanner.go(back: start)
    let (text, isInteger) = try scanner.takeNumber()
    if isInteger {
      if let value = Int128(text) { return .integer(value) }
      if let value = UInt128(text) { return .unsignedInteger(value) }
      throw scanner.error("an integer of more than 128 bits", at: start)
    }
    guard let value = Double(text), value.isFinite else {
      throw scanner.error("a number beyond the range of Double", at: start)
    }
    return .double(value)
  }

  private mutating func word() throws(StowNotationError) -> StowValue {
    let start = scanner.offset
    let word = scanner.takeWord()
    if isJSON, !["", "null", "true", "false"].contains(word) || scanner.next == UInt8(ascii: "(") {
      throw scanner.error("JSON has no such word", at: start)
    }
    let value: StowValue? =
      switch word {
      case "null": try null()
      case "true": true
      case "false": false
      case "inf": .double(.infinity)
      case "nan": try nan()
      case "date": try date()
      case "data": Self.data(of: try scanner.takeString())
      case "uuid": UUID(uuidString: try scanner.takeString()).map { .uuid($0) }
      case "url": .url(try scanner.takeString())
      case "decimal": Self.decimal(of: try scanner.takeString())
      case "": throw scanner.error(Self.reasonForNoValue(scanner.next))
      default: throw scanner.error("an unknown word", at: start)
      }
    guard let value else { throw scanner.error("no valid \(word)", at: start) }
    return value
  }

  private static func reasonForNoValue(_ next: UInt8?) -> String {
    // UTF-8 never has these bytes. Texts in UTF-16 begin with them.
    next.map { $0 >= 0xF8 ? "not UTF-8" : "expected a value" } ?? "the text ends before its value"
  }

  private mutating func null() throws(StowNotationError) -> StowValue? {
    guard scanner.take("(") else { return .null }
    let (text, isInteger) = try scanner.takeNumber()
    try scanner.require(")")
    guard isInteger, let level = UInt8(text) else { return nil }
    return level == 0 ? .null : .nestedNull(level: Int(level))
  }

  private mutating func nan() throws(StowNotationError) -> StowValue? {
    guard scanner.take("(") else { return .double(.nan) }
    guard scanner.take("0"), scanner.take("x") else { throw scanner.error("expected \"0x\"") }
    let digits = scanner.take { $0 < 0x80 && Character(Unicode.Scalar($0)).isHexDigit }
    try scanner.require(")")
    switch digits.utf8.count {
    case 16:
      let value = UInt64(digits, radix: 16).map { Double(bitPattern: $0) }
      return value.flatMap { $0.isNaN ? .double($0) : nil }
    case 8:
      let value = UInt32(digits, radix: 16).map { Float(bitPattern: $0) }
      return value.flatMap { $0.isNaN ? .float($0) : nil }
    default: return nil
    }
  }

  private mutating func date() throws(StowNotationError) -> StowValue? {
    let seconds: Double?
    if scanner.take("(") {
      // Dates within dates would each take more of the stack.
      guard scanner.next != UInt8(ascii: "d") else { return nil }
      let value = try scalar()
      try scanner.require(")")
      seconds = value.double
    } else {
      seconds = Self.seconds(of: Array(try scanner.takeString().utf8))
    }
    return seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
  }

  /// Returns the bytes that a text in Base64 stands for; nil for any other text.
  private static func data(of text: String) -> StowValue? {
    // `Data` also takes padding that is too long or has letters after it, and makes bytes of that.
    let padding = text.utf8.drop { $0 != UInt8(ascii: "=") }
    guard text.utf8.count.isMultiple(of: 4), "==".utf8.starts(with: padding) else { return nil }
    return Data(base64Encoded: text).map { .data($0) }
  }

  /// Returns the decimal number of a text; nil if it is not one, or if no message holds it.
  private static func decimal(of text: String) -> StowValue? {
    if text == Notation.notANumber { return .decimal(.nan) }
    var rest = Substring(text)
    let isNegative = rest.first == "-"
    if isNegative { rest.removeFirst() }
    var exponent = 0
    if let mark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
      guard let number = Int16(rest[rest.index(after: mark)...]) else { return nil }
      exponent = Int(number)
      rest = rest[..<mark]
    }
    let parts = rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Notation.isDigit) }),
      parts[0].utf8.count + rest.utf8.count < 200,
      let magnitude = UInt128(parts.joined())
    else { return nil }
    if parts.count == 2 { exponent -= parts[1].utf8.count }
    return Int8(exactly: exponent).map {
      let value = StowValue.largeDecimal(magnitude: magnitude, exponent: $0, isNegative: isNegative && magnitude != 0)
      return value.decimal.map { .decimal($0) } ?? value
    }
  }

  /// Returns the seconds from 2001-01-01 to the date of a text; nil if it is not a date.
  private static func seconds(of text: [UInt8]) -> Double? {
    let pattern = Array("0000-00-00T00:00:00".utf8)
    guard text.count > pattern.count, text.last == UInt8(ascii: "Z"),
      zip(text, pattern).allSatisfy({ $1 == UInt8(ascii: "0") ? Notation.isDigit($0) : $0 == $1 })
    else { return nil }
    func number(_ start: Int, _ count: Int) -> Int {
      text[start..<(start + count)].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
    let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
    guard (1...12).contains(month), (1...NotationDate.daysOf(month, year)).contains(day), hour < 24,
      minute < 60, second < 60
    else { return nil }
    let whole =
      Int64(NotationDate.days(year, month, day)) * NotationDate.secondsPerDay
      + Int64(hour * 3600 + minute * 60 + second)
    let rest = text[pattern.count...].dropLast()
    if rest.isEmpty { return Double(whole) }
    var fraction = Array(rest.dropFirst())
    guard rest.first == UInt8(ascii: "."), !fraction.isEmpty, fraction.allSatisfy(Notation.isDigit) else { return nil }
    if whole >= 0 || fraction.allSatisfy({ $0 == UInt8(ascii: "0") }) {
      return Double("\(whole).\(String(decoding: fraction, as: UTF8.self))")
    }
    NotationDate.complement(&fraction)
    // The rest of the whole may be zero, which has no sign of its own.
    return Double("-\(-whole - 1).\(String(decoding: fraction, as: UTF8.self))")
  }
}

/// The words of a text in diagnostic notation, one after the other.
private struct NotationScanner {
  // Every index is compared with the count before it is used.
  let text: UnsafeBufferPointer<UInt8>
  private(set) var offset = 0

  init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

  func error(_ reason: String, at offset: Int? = nil) -> StowNotationError {
    StowNotationError(reason, at: offset ?? self.offset, in: text)
  }

  var isAtEnd: Bool { offset == text.count }

  /// The next byte; nil at the end.
  var next: UInt8? { isAtEnd ? nil : text[offset] }

  mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  /// Takes a character if it is the next.
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

  /// Takes the bytes up to the first for which `isPart` is false.
  mutating func take(while isPart: (UInt8) -> Bool) -> String {
    let start = offset
    while let byte = next, isPart(byte) { offset += 1 }
    return String(decoding: text[start..<offset], as: UTF8.self)
  }

  /// Takes the name of a kind or a constant.
  mutating func takeWord() -> String { take { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") } }

  // MARK: numbers

  /// Takes a number as JSON writes it. Without a point and an exponent it is an integer.
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
    let digits = take(while: Notation.isDigit)
    if digits.isEmpty { throw error("expected a digit") }
  }

  // MARK: strings

  /// Takes a string in quotes.
  mutating func takeString() throws(StowNotationError) -> String {
    let quote = offset
    try require("\"")
    var content: [UInt8] = []
    var start = offset
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        let rest = text[start..<offset]
        let string =
          content.isEmpty
          ? String(validating: rest, as: UTF8.self) : String(validating: content + rest, as: UTF8.self)
        guard let string else { throw error("a string that is not UTF-8", at: quote) }
        offset += 1
        return string
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

  /// Takes what follows a backslash, and returns the scalar that is meant.
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

  /// Takes four hexadecimal digits.
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
