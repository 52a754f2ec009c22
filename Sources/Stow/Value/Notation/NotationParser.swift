#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads a value in diagnostic notation (FORMAT.md, "Diagnostic notation"), in time in proportion to the text.
///
/// The arrays and objects that are open stand in a list, so that no text takes more of the stack than another.
struct NotationParser {
  /// An array or an object whose end is still to come.
  private struct Container {
    var elements: [StowValue] = []
    var object = StowObject()
    /// The key of the value that comes next; nil in an array.
    var key: String?

    /// Changed where it is, as a copy for every value would take long.
    mutating func add(_ value: StowValue) {
      if let key { object[key] = value } else { elements.append(value) }
    }

    var value: StowValue { key == nil ? .array(elements) : .object(object) }
    var end: Unicode.Scalar { key == nil ? "]" : "}" }
  }

  private var scanner: NotationScanner
  private var open: [Container] = []

  /// Whether only JSON is read.
  private let isJSON: Bool

  init(_ text: String, isJSON: Bool = false) {
    scanner = NotationScanner(text)
    self.isJSON = isJSON
  }

  /// The value that the text is.
  mutating func parse() throws(StowNotationError) -> StowValue {
    while true {
      scanner.skipSpace()
      guard var value = try begin() else { continue }
      while !open.isEmpty {
        guard let whole = try add(value) else { break }
        value = whole
      }
      if open.isEmpty { return try end(value) }
    }
  }

  private mutating func end(_ value: StowValue) throws(StowNotationError) -> StowValue {
    scanner.skipSpace()
    guard scanner.isAtEnd else { throw scanner.error("something behind the value") }
    return value
  }

  // MARK: containers

  /// The scalar or the empty container that is next; nil if a container began whose first value is next.
  private mutating func begin() throws(StowNotationError) -> StowValue? {
    let start = scanner.offset
    let isArray = scanner.take("[")
    guard isArray || scanner.take("{") else { return try scalar() }
    guard open.count < DepthLimit.standard else {
      throw scanner.error("more than \(DepthLimit.standard) levels of nesting", at: start)
    }
    scanner.skipSpace()
    if scanner.take(isArray ? "]" : "}") { return isArray ? .array([]) : .object([:]) }
    open.append(Container(key: isArray ? nil : try takeKey(of: [:])))
    return nil
  }

  /// Adds a value to the innermost container.
  ///
  /// - Returns: The container, which is no longer open, if this was its last value; nil if another follows.
  private mutating func add(_ value: StowValue) throws(StowNotationError) -> StowValue? {
    let last = open.count - 1
    open[last].add(value)
    scanner.skipSpace()
    let end = open[last].end
    if scanner.take(end) { return open.removeLast().value }
    guard scanner.take(",") else { throw scanner.error("expected \",\" or \"\(end)\"") }
    if open[last].key != nil {
      scanner.skipSpace()
      open[last].key = try takeKey(of: open[last].object)
    }
    return nil
  }

  private mutating func takeKey(of object: StowObject) throws(StowNotationError) -> String {
    let start = scanner.offset
    guard scanner.next == UInt8(ascii: "\"") else { throw scanner.error("expected a key in quotes") }
    let key = try scanner.takeString()
    guard object.index(forKey: key) == nil else {
      throw scanner.error("a key that the object has already", at: start)
    }
    scanner.skipSpace()
    try scanner.require(":")
    return key
  }

  // MARK: scalars

  private mutating func scalar() throws(StowNotationError) -> StowValue {
    switch scanner.next {
    case UInt8(ascii: "\""): return .string(try scanner.takeString())
    case UInt8(ascii: "-"): return try number()
    case let digit? where NotationNumber.isDigit(digit): return try number()
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
      case "data": Data(base64Encoded: try scanner.takeString()).map { .data($0) }
      case "uuid": UUID(uuidString: try scanner.takeString()).map { .uuid($0) }
      case "url": .url(try scanner.takeString())
      case "decimal": NotationDecimal.value(of: try scanner.takeString()).map { StowValue($0) }
      case "": throw scanner.error(scanner.isAtEnd ? "the text ends before its value" : "expected a value")
      default: throw scanner.error("an unknown word", at: start)
      }
    guard let value else { throw scanner.error("no valid \(word)", at: start) }
    return value
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
    return NotationNumber.nan(digits: digits)
  }

  private mutating func date() throws(StowNotationError) -> StowValue? {
    let seconds: Double?
    if scanner.take("(") {
      let value = try scalar()
      try scanner.require(")")
      seconds = value.double
    } else {
      seconds = NotationDate.seconds(of: try scanner.takeString().utf8)
    }
    return seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
  }
}
