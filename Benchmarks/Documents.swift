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
    guard let string = String(validating: text, as: UTF8.self) else { throw failure("the string is not UTF-8") }
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

/// Any JSON value, with the keys of objects in the order of the document: what a program holds that does not
/// know what it is about to read.
enum JSONValue: Codable, Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case uint(UInt64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([(key: String, value: JSONValue)])

  /// Tries one kind of value after the other, as every such type must.
  init(from decoder: any Decoder) throws {
    if let scalar = try Self.scalar(from: decoder.singleValueContainer()) {
      self = scalar
    } else if var container = try? decoder.unkeyedContainer() {
      self = try .array(Self.elements(of: &container))
    } else {
      self = try .object(Self.members(of: decoder.container(keyedBy: DocumentKey.self)))
    }
  }

  /// Writes the value as what it is.
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let members):
      var container = encoder.container(keyedBy: DocumentKey.self)
      for member in members { try container.encode(member.value, forKey: DocumentKey(member.key)) }
    default:
      var container = encoder.singleValueContainer()
      try encodeScalar(to: &container)
    }
  }

  /// The value, unless it is an array or an object.
  private static func scalar(from container: any SingleValueDecodingContainer) -> JSONValue? {
    if container.decodeNil() { return .null }
    if let value = try? container.decode(Bool.self) { return .bool(value) }
    if let value = try? container.decode(Int64.self) { return .int(value) }
    if let value = try? container.decode(UInt64.self) { return .uint(value) }
    if let value = try? container.decode(Double.self) { return .double(value) }
    if let value = try? container.decode(String.self) { return .string(value) }
    return nil
  }

  /// All elements of an array.
  private static func elements(of container: inout any UnkeyedDecodingContainer) throws -> [JSONValue] {
    var elements: [JSONValue] = []
    if let count = container.count { elements.reserveCapacity(count) }
    while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
    return elements
  }

  /// All members of an object.
  private static func members(
    of container: KeyedDecodingContainer<DocumentKey>
  ) throws -> [(key: String, value: JSONValue)] {
    try container.allKeys.map { (key: $0.stringValue, value: try container.decode(JSONValue.self, forKey: $0)) }
  }

  /// Writes anything but an array or an object.
  private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
    switch self {
    case .null, .array, .object: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .uint(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    }
  }
}

extension JSONValue: Equatable {
  /// Equal values of equal kinds; the members of an object may stand in any order.
  static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.uint(let left), .uint(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)):
      left.elementsEqual(right, by: ==) || left.count == right.count && dictionary(left) == dictionary(right)
    default: false
    }
  }

  /// The members by their keys.
  private static func dictionary(_ members: [(key: String, value: JSONValue)]) -> [String: JSONValue] {
    Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }
  }
}

/// A key that is known only when it is met.
struct DocumentKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ stringValue: String) { self.stringValue = stringValue }

  init?(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}

/// Writes a JSON value without a byte too many: what the size of every other encoding is compared with.
struct MinifiedJSON {
  private(set) var bytes: [UInt8] = []

  /// The number of bytes of a value.
  static func count(_ value: JSONValue) -> Int {
    var writer = MinifiedJSON()
    writer.write(value)
    return writer.bytes.count
  }

  /// Writes a value of any kind.
  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: write("null")
    case .bool(let value): write(value ? "true" : "false")
    case .int(let value): write(String(value))
    case .uint(let value): write(String(value))
    case .double(let value): write(Self.shortest(value))
    case .string(let value): writeQuoted(value)
    case .array(let elements):
      write("[", elements, "]") { $0.write($1) }
    case .object(let members):
      write("{", members, "}") {
        $0.writeQuoted($1.key)
        $0.write(":")
        $0.write($1.value)
      }
    }
  }

  /// Writes some items with commas between.
  private mutating func write<Item>(
    _ open: String, _ items: [Item], _ close: String, each: (inout MinifiedJSON, Item) -> Void
  ) {
    write(open)
    for (index, item) in items.enumerated() {
      if index > 0 { write(",") }
      each(&self, item)
    }
    write(close)
  }

  /// The fewest digits that give the same number, without the `.0` Swift adds to whole ones.
  private static func shortest(_ value: Double) -> String {
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Writes a string with as few escapes as JSON allows.
  private mutating func writeQuoted(_ text: String) {
    write("\"")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): write("\\\"")
      case UInt8(ascii: "\\"): write("\\\\")
      case 0x08: write("\\b")
      case 0x0C: write("\\f")
      case 0x0A: write("\\n")
      case 0x0D: write("\\r")
      case 0x09: write("\\t")
      case 0..<0x20: write("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
      default: bytes.append(byte)
      }
    }
    write("\"")
  }

  /// Writes text as it is.
  private mutating func write(_ text: String) { bytes += text.utf8 }
}
