/// A strict parser of JSON (RFC 8259) that keeps the order of keys and the difference between integers and
/// other numbers, which Foundation's does not.
struct DocumentParser {
  /// What is wrong with a document, and where.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let maximumDepth = 500

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  /// The value of a whole document.
  static func parse(_ bytes: [UInt8]) throws -> JSONValue {
    var parser = DocumentParser(bytes: bytes)
    let value = try parser.value()
    parser.skipSpace()
    guard parser.offset == bytes.count else { throw parser.failure("nothing may follow the value") }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// The next value of any kind.
  private mutating func value() throws -> JSONValue {
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"): return try .object(nested { try $0.members() })
    case UInt8(ascii: "["): return try .array(nested { try $0.elements() })
    case UInt8(ascii: "\""): return try .string(string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return try number()
    default: throw failure("a value was expected")
    }
  }

  /// The inside of an array or object, one level deeper.
  private mutating func nested<Result>(_ body: (inout DocumentParser) throws -> Result) throws -> Result {
    depth += 1
    guard depth <= Self.maximumDepth else { throw failure("more than \(Self.maximumDepth) levels deep") }
    defer { depth -= 1 }
    offset += 1
    return try body(&self)
  }

  /// What is left of an array after its bracket.
  private mutating func elements() throws -> [JSONValue] {
    var elements: [JSONValue] = []
    if accept(UInt8(ascii: "]")) { return elements }
    repeat { elements.append(try value()) } while accept(UInt8(ascii: ","))
    guard accept(UInt8(ascii: "]")) else { throw failure("',' or ']' was expected") }
    return elements
  }

  /// What is left of an object after its brace. Of two members with one key the last one counts.
  private mutating func members() throws -> [(key: String, value: JSONValue)] {
    var members: [(key: String, value: JSONValue)] = []
    var indices: [String: Int] = [:]
    if accept(UInt8(ascii: "}")) { return members }
    repeat {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { throw failure("a key was expected") }
      let key = try string()
      guard accept(UInt8(ascii: ":")) else { throw failure("':' was expected") }
      let value = try value()
      if let index = indices.updateValue(members.count, forKey: key) {
        indices[key] = index
        members[index].value = value
      } else {
        members.append((key: key, value: value))
      }
    } while accept(UInt8(ascii: ","))
    guard accept(UInt8(ascii: "}")) else { throw failure("',' or '}' was expected") }
    return members
  }

  /// `true`, `false` or `null`.
  private mutating func literal(_ text: StaticString, _ value: JSONValue) throws -> JSONValue {
    let matches = text.withUTF8Buffer { bytes[offset...].starts(with: $0) }
    guard matches else { throw failure("a value was expected") }
    offset += text.utf8CodeUnitCount
    return value
  }

  /// A number: an integer if it is written as one and 64 bits hold it.
  private mutating func number() throws -> JSONValue {
    let start = offset
    if peek == UInt8(ascii: "-") { offset += 1 }
    if peek == UInt8(ascii: "0") { offset += 1 } else { try digits() }
    let integerEnd = offset
    if peek == UInt8(ascii: ".") {
      offset += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      offset += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if offset == integerEnd, text != "-0" {
      if let value = Int64(text) { return .int(value) }
      if let value = UInt64(text) { return .uint(value) }
    }
    guard let value = Double(text), value.isFinite else { throw failure("\(text) is too large") }
    return .double(value)
  }

  /// One digit or more.
  private mutating func digits() throws {
    let start = offset
    while let byte = peek, Self.isDigit(byte) { offset += 1 }
    guard offset > start else { throw failure("a digit was expected") }
  }

  /// A string, from its first quote to after its last.
  private mutating func string() throws -> String {
    offset += 1
    var text: [UInt8] = []
    var runStart = offset
    while let byte = peek, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw failure("a control character must be escaped") }
      offset += 1
      if byte == UInt8(ascii: "\\") {
        text += bytes[runStart..<offset - 1]
        text += try String(escape()).utf8
        runStart = offset
      }
    }
    guard peek != nil else { throw failure("the string does not end") }
    text += bytes[runStart..<offset]
    offset += 1
    guard let string = String(validating: text, as: UTF8.self) else {
      throw failure("the string is not UTF-8")
    }
    return string
  }

  /// What stands after a backslash.
  private mutating func escape() throws -> Unicode.Scalar {
    let byte = peek
    offset += 1
    switch byte {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw failure("no such escape")
    }
  }

  /// One `\uXXXX`, or two that are halves of one character.
  private mutating func unicodeEscape() throws -> Unicode.Scalar {
    let unit = try hexUnit()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard UTF16.isLeadSurrogate(unit), bytes[offset...].starts(with: Array("\\u".utf8)) else {
      throw failure("half a character")
    }
    offset += 2
    let trail = try hexUnit()
    guard UTF16.isTrailSurrogate(trail) else { throw failure("half a character") }
    return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
  }

  /// Four hexadecimal digits.
  private mutating func hexUnit() throws -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw failure("four hexadecimal digits were expected")
      }
      unit = unit << 4 | UInt16(digit)
      offset += 1
    }
    return unit
  }

  /// Whether a byte is one of `0` to `9`.
  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  /// The next byte, or nil at the end.
  private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Steps over white space and then over `byte`, if it is there.
  private mutating func accept(_ byte: UInt8) -> Bool {
    skipSpace()
    guard peek == byte else { return false }
    offset += 1
    return true
  }

  /// Steps over the four characters JSON has for white space.
  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  /// An error at the current place.
  private func failure(_ reason: String) -> Failure {
    let before = bytes.prefix(offset)
    let line = before.count { $0 == 0x0A } + 1
    let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
    return Failure(description: "line \(line), column \(column): \(reason)")
  }
}
