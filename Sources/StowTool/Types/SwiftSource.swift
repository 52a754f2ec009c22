import Stow

/// Swift types for the values that a shape was made from.
struct SwiftSource {
  /// A type as it is written after the name of a property.
  private indirect enum TypeName: Hashable, Sendable {
    case known(String)
    /// A struct, by its number.
    case structure(Int)
    case array(TypeName)
    case dictionary(TypeName)
    case optional(TypeName)

    static let anything = TypeName.known("StowValue")
  }

  private struct Structure {
    var fields: [Field] = []
    /// The name; nil until it is known where the struct first appears.
    var name: String?
  }

  private struct Field {
    let key: String
    /// The type without the optionals around it.
    let type: TypeName
    var levels: Int
    var property = ""
  }

  private var structures: [Structure] = []
  /// The structs by their keys, and the types of these without optionals.
  private var numbers: [[ExactString: TypeName]: Int] = [:]
  /// The structs in the order of their appearance.
  private var order: [Int] = []
  private var typeNames = SwiftNames.Pool(SwiftNames.takenTypes)
  private var imports: Set<String> = []
  /// The source.
  private(set) var text = ""

  /// - Parameters:
  ///   - name: The name of the type of a value.
  ///   - fields: Whether structs have tables of fields.
  init(of shape: Shape, name: String, fields: Bool) {
    let root = type(of: shape)
    if case .structure = root {
      nameStructures(in: root, name)
    } else {
      _ = typeNames.unique(name)
      let single = SwiftNames.singular(name)
      nameStructures(in: root, single == name ? name + "Element" : single)
      text += "typealias \(name) = \(text(of: root))\n"
    }
    for number in order {
      if !text.isEmpty { text += "\n" }
      write(structures[number])
      if fields { writeTable(of: structures[number]) }
    }
    if !imports.isEmpty { text = imports.sorted().map { "import \($0)\n" }.joined() + "\n" + text }
  }

  // MARK: types

  /// Returns the type of the values of a shape.
  private mutating func type(of shape: Shape) -> TypeName {
    let type = unwrappedType(of: shape)
    // A `StowValue` can be any nil, too.
    return type == .anything ? type : Self.wrapped(type, shape.levels)
  }

  private static func wrapped(_ type: TypeName, _ levels: Int) -> TypeName {
    (0..<levels).reduce(type) { type, _ in .optional(type) }
  }

  /// Returns the same type without the optionals around it.
  private mutating func unwrappedType(of shape: Shape) -> TypeName {
    switch shape.kind {
    case nil, .mixed: return .anything
    case .bool: return .known("Bool")
    case .integer: return Self.integerType(shape)
    case .number:
      let limit = 1 << 53
      // Greater integers may not be the same as a `Double`.
      return shape.least >= -limit && shape.greatest <= limit ? .known("Double") : .anything
    case .double: return .known("Double")
    case .string: return .known("String")
    case .data: return .known("Data")
    case .date: return .known("Date")
    case .uuid: return .known("UUID")
    case .url: return .known("URL")
    case .decimal: return .known("Decimal")
    case .array: return .array(shape.element.map { type(of: $0) } ?? .anything)
    case .object:
      guard let objects = shape.objects else { return .anything }
      if let values = objects.dictionaryValues { return .dictionary(type(of: values)) }
      return .structure(number(of: objects))
    }
  }

  private static func integerType(_ shape: Shape) -> TypeName {
    if shape.least >= Int64.min, shape.greatest <= Int64.max { return .known("Int") }
    if shape.least == 0, shape.greatest <= UInt64.max { return .known("UInt64") }
    if shape.greatest <= Int128.max { return .known("Int128") }
    return shape.least == 0 ? .known("UInt128") : .anything
  }

  /// Returns the struct for objects. Objects with the same keys and types share one, in which a property is
  /// optional if it is in any of them.
  private mutating func number(of objects: Objects) -> Int {
    let fields = objects.fields.map { field in
      let type = unwrappedType(of: field.shape)
      let isMissing = field.count < objects.count
      return Field(
        key: field.key, type: type,
        levels: max(isMissing ? 1 : 0, type == .anything ? 0 : field.shape.levels))
    }
    let types = Dictionary(uniqueKeysWithValues: fields.map { (ExactString($0.key), $0.type) })
    guard let number = numbers[types] else {
      numbers[types] = structures.count
      var properties = SwiftNames.Pool(SwiftNames.takenProperties)
      structures.append(
        Structure(
          fields: fields.map { field in
            var field = field
            field.property = properties.unique(SwiftNames.property(field.key))
            return field
          }))
      return structures.count - 1
    }
    let levels = Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.levels) })
    for place in structures[number].fields.indices {
      let field = structures[number].fields[place]
      structures[number].fields[place].levels = max(field.levels, levels[field.key] ?? 0)
    }
    return number
  }

  /// Names the structs of a type, and those below them, in the order in which a reader meets them.
  private mutating func nameStructures(in type: TypeName, _ name: String) {
    switch type {
    case .known: break
    case .structure(let number):
      guard structures[number].name == nil else { return }
      structures[number].name = typeNames.unique(name)
      order.append(number)
      for field in structures[number].fields { nameStructures(in: field.type, SwiftNames.type(field.key)) }
    case .array(let type), .dictionary(let type): nameStructures(in: type, SwiftNames.singular(name))
    case .optional(let type): nameStructures(in: type, name)
    }
  }

  // MARK: text

  private mutating func text(of type: TypeName) -> String {
    switch type {
    case .known(let name):
      if name == "StowValue" {
        imports.insert("Stow")
      } else if SwiftNames.ofFoundation.contains(name) {
        imports.insert("Foundation")
      }
      return name
    case .structure(let number): return structures[number].name ?? ""
    case .array(let type):
      let element = text(of: type)
      return Self.fitsBrackets(element) ? "[\(element)]" : "Array<\(element)>"
    case .dictionary(let type):
      let value = text(of: type)
      return Self.fitsBrackets(value) ? "[String: \(value)]" : "Dictionary<String, \(value)>"
    case .optional(let type): return text(of: type) + "?"
    }
  }

  /// Returns whether a type may be in brackets: with each of them, the compiler takes much longer.
  private static func fitsBrackets(_ text: String) -> Bool { text.count { $0 == "[" } < 8 }

  private mutating func write(_ structure: Structure) {
    text += "struct \(structure.name ?? ""): Codable {\n"
    for field in structure.fields {
      let type = text(of: Self.wrapped(field.type, field.levels))
      text += "  var \(SwiftNames.escaped(field.property)): \(type)\n"
    }
    if structure.fields.contains(where: { $0.property != $0.key }) {
      text += "\n  private enum CodingKeys: String, CodingKey {\n"
      for field in structure.fields {
        let value = field.property == field.key ? "" : " = \(SwiftNames.literal(field.key))"
        text += "    case \(SwiftNames.escaped(field.property))\(value)\n"
      }
      text += "  }\n"
    }
    text += "}\n"
  }

  private mutating func writeTable(of structure: Structure) {
    imports.insert("Stow")
    var labels = [""]
    for field in structure.fields {
      let label = SwiftNames.label(field.property) + ":"
      if labels[labels.count - 1].count + label.count > Self.mostColumns { labels.append("") }
      labels[labels.count - 1] += label
    }
    let indent = labels.count > 1 ? "\n      " : ""
    let fields = structure.fields.map { field in
      "    Field(\(SwiftNames.literal(field.key)), \\.\(SwiftNames.escaped(field.property)))"
    }
    text += """

      extension \(structure.name ?? ""): StowFields {
        static let stowFields = FieldTable(
          Self.init(\(indent)\(labels.joined(separator: indent))),
      \(fields.joined(separator: ",\n")))
      }

      """
  }

  /// No line has more labels of arguments than fit here.
  private static let mostColumns = 80
}

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
