/// A key type whose keys a script chooses.
protocol ScriptKey: CodingKey {
  static func choose(_ choices: Choices) -> Self
}

/// The keys of an ordinary type.
enum FieldKey: String, CodingKey, CaseIterable, ScriptKey {
  case a, b, c, d, name, value
  case parent = "super"
  case accented = "é"
  case long = "a name that no text of the short forms has room for, however it may be packed by the encoder"

  static func choose(_ choices: Choices) -> FieldKey { choices.pick(allCases) }
}

/// Keys by name, some with an integer.
struct NameKey: ScriptKey {
  var stringValue: String
  var intValue: Int?

  init(stringValue: String) { self.stringValue = stringValue }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }

  static func choose(_ choices: Choices) -> NameKey {
    let choice = choices.below(48)
    if choice >= 32 { return NameKey(intValue: choice - 36) }
    let names = ["a", "b", "super", "e\u{308}", "é", "", "7", "Name", "name with spaces"]
    return NameKey(stringValue: choice < names.count ? names[choice] : "key\(choice)")
  }
}

/// A step of a coding path.
struct Step: Equatable, CustomStringConvertible {
  var string: String
  var integer: Int?

  static let parent = Step(string: "super", integer: nil)

  init(string: String, integer: Int?) {
    self.string = string
    self.integer = integer
  }

  init(_ key: any CodingKey) { self.init(string: key.stringValue, integer: key.intValue) }
  init(index: Int) { self.init(string: "Index \(index)", integer: index) }

  var description: String { integer.map { "\(string)(\($0))" } ?? string }
}

/// Checks a path.
func expect(_ path: [any CodingKey], is expected: [Step]) throws {
  let path = path.map { Step($0) }
  guard path == expected else { throw Finding("the path is \(path), not \(expected)") }
}
