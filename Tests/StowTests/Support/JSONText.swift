/// JSON as it is written: entries in their order, and numbers as text, so that 1 and 1.0 differ.
indirect enum JSONText: Sendable {
  case literal(String)
  case number(String)
  case string(String)
  case array([JSONText])
  case object([(key: String, value: JSONText)])

  struct Malformed: Error {
    let rest: String
  }

  init(parsing text: String) throws {
    var parser = JSONTextParser(rest: Substring(text).unicodeScalars)
    self = try parser.value()
    try parser.end()
  }
}

private struct JSONTextParser {
  var rest: Substring.UnicodeScalarView

  mutating func end() throws {
    skipSpace()
    if !rest.isEmpty { throw malformed }
  }

  mutating func value() throws -> JSONText {
    skipSpace()
    switch rest.first {
    case "[": return .array(try list(until: "]") { try $0.value() })
    case "{": return .object(try list(until: "}") { try $0.entry() })
    case "\"": return .string(try string())
    case "-"?, ("0"..."9")?: return .number(take { "+-.eE0123456789".unicodeScalars.contains($0) })
    default:
      let word = take { ("a"..."z").contains($0) }
      guard ["null", "true", "false"].contains(word) else { throw malformed }
      return .literal(word)
    }
  }

  private mutating func entry() throws -> (key: String, value: JSONText) {
    skipSpace()
    let key = try string()
    try expect(":")
    return (key, try value())
  }

  /// What stands between brackets, with commas between.
  private mutating func list<Element>(
    until close: Unicode.Scalar, _ element: (inout Self) throws -> Element
  ) throws -> [Element] {
    rest.removeFirst()
    var elements: [Element] = []
    while true {
      skipSpace()
      if rest.first == close { break }
      if !elements.isEmpty { try expect(",") }
      elements.append(try element(&self))
    }
    rest.removeFirst()
    return elements
  }

  private mutating func string() throws -> String {
    try expect("\"")
    var scalars = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      if scalar == "\"" { return String(scalars) }
      scalars.append(scalar == "\\" ? try escaped() : scalar)
    }
    throw malformed
  }

  private mutating func escaped() throws -> Unicode.Scalar {
    guard let letter = rest.popFirst() else { throw malformed }
    guard letter == "u" else { return letter }
    let digits = String(rest.prefix(4))
    rest.removeFirst(digits.unicodeScalars.count)
    guard let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else { throw malformed }
    return scalar
  }

  private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
    let taken = rest.prefix(while: condition)
    rest = rest[taken.endIndex...]
    return String(taken)
  }

  private mutating func skipSpace() { rest = rest.drop { $0.properties.isWhitespace } }

  private mutating func expect(_ scalar: Unicode.Scalar) throws {
    skipSpace()
    guard rest.popFirst() == scalar else { throw malformed }
  }

  private var malformed: JSONText.Malformed { JSONText.Malformed(rest: String(rest.prefix(40))) }
}
