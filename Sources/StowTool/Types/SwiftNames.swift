/// Swift names made from keys.
enum SwiftNames {
  /// Names that were given, so that none is given twice.
  struct Pool {
    private var taken: Set<String>
    private var numbers: [String: Int] = [:]

    init(_ taken: Set<String>) { self.taken = taken }

    /// Returns the name, with a number after it if it was given before.
    mutating func unique(_ name: String) -> String {
      var result = name
      while !taken.insert(result).inserted {
        let number = numbers[name, default: 1] + 1
        numbers[name] = number
        result = "\(name)\(name.last?.isNumber == true ? "_" : "")\(number)"
      }
      return result
    }
  }

  /// The types that need `import Foundation`.
  static let ofFoundation: Set = ["Data", "Date", "Decimal", "URL", "UUID"]

  /// The types that the source may name, and those of the standard library that most programs need.
  static let takenTypes = ofFoundation.union([
    "Any", "AnyObject", "Array", "Bool", "Character", "Codable", "CodingKey", "CodingKeys", "Decodable",
    "Decoder", "Dictionary", "Double", "Encodable", "Encoder", "Equatable", "Error", "Field", "FieldTable",
    "Float", "Foundation", "Hashable", "Int", "Int128", "Int64", "Never", "Optional", "Protocol", "Result",
    "Self", "Sendable", "Set", "Stow", "StowFields", "StowValue", "String", "Swift", "Task", "Type", "UInt",
    "UInt128", "UInt64", "Void",
  ])

  /// The properties that a type with a table of fields has anyway.
  static let takenProperties: Set = ["stowFields"]

  private static let keywords: Set = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
    "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
    "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
    "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// Returns `openingHours` for the key `opening_hours`.
  static func property(_ key: String) -> String {
    let words = words(of: key)
    guard let first = words.first else { return "value" }
    // In `XMLFile`, the F begins the next word.
    var capitals = first.prefix { $0.isUppercase }.count
    if capitals > 1, first.dropFirst(capitals).first?.isLetter == true { capitals -= 1 }
    let start = first.prefix(capitals).lowercased() + first.dropFirst(capitals)
    return valid(start + words.dropFirst().map(capitalized).joined())
  }

  /// Returns `OpeningHours` for the key `opening_hours`.
  static func type(_ key: String) -> String {
    let words = words(of: key)
    return words.isEmpty ? "Value" : valid(words.map(capitalized).joined())
  }

  private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

  /// Returns the parts of a key that may be parts of a name.
  private static func words(of key: String) -> [String] {
    let text = key.contains(where: \.isLowercase) ? key : key.lowercased()
    return text.split { !$0.unicodeScalars.allSatisfy { $0 != "_" && isVisiblePart($0) } }.map(String.init)
  }

  /// Returns a valid name for one that may begin with a digit.
  private static func valid(_ name: String) -> String {
    name.unicodeScalars.first?.properties.isXIDStart == true ? name : "_" + name
  }

  /// Returns whether a scalar may be part of a name, and is visible there.
  private static func isVisiblePart(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isXIDContinue && !scalar.properties.isDefaultIgnorableCodePoint
  }

  /// Returns whether a type may have this name.
  static func isTypeName(_ name: String) -> Bool {
    let scalars = name.unicodeScalars
    return scalars.allSatisfy(isVisiblePart) && name != "_" && !keywords.contains(name)
      && !takenTypes.contains(name) && scalars.first.map { $0 == "_" || $0.properties.isXIDStart } == true
  }

  /// Returns `Station` for `Stations`; the name itself unless it is plainly a plural.
  static func singular(_ name: String) -> String {
    let others = ["as", "ews", "hes", "ies", "is", "oes", "ses", "ss", "us", "xes", "zes"]
    guard name.count > 2, name.hasSuffix("s"), !others.contains(where: name.hasSuffix) else { return name }
    return String(name.dropLast())
  }

  /// Returns a name as it is declared, or follows a point.
  static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// Returns a name as the label of an argument.
  static func label(_ name: String) -> String { name == "inout" ? "`inout`" : name }

  /// Returns a string literal in which every character is visible.
  static func literal(_ string: String) -> String {
    let parts = string.unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case " "..."~": "\(scalar)"
      default:
        isVisiblePart(scalar) ? "\(scalar)" : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return "\"\(parts.joined())\""
  }
}
