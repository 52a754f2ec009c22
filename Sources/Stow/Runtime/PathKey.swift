/// A key of a coding path where the user's own key type is not available: an index, or a name.
///
/// Smaller than three words, so that it fits inside its existential.
enum PathKey: CodingKey {
  case index(Int)
  case name(String)
  indirect case number(String, Int)

  static let `super` = PathKey.name("super")

  init(stringValue: String) { self.init(name: stringValue, integer: Self.integer(ofName: stringValue)) }

  init(intValue: Int) { self = .number(String(intValue), intValue) }

  init(name: String, integer: Int? = nil) {
    self = if let integer { .number(name, integer) } else { .name(name) }
  }

  var stringValue: String {
    switch self {
    case .index(let index): "Index \(index)"
    case .name(let name), .number(let name, _): name
    }
  }

  var intValue: Int? {
    switch self {
    case .name: nil
    case .index(let integer), .number(_, let integer): integer
    }
  }

  /// Returns whether a string could be that of an integer, judging by its first character.
  static func startsInteger(_ name: String) -> Bool {
    guard let first = name.utf8.first else { return false }
    return first <= UInt8(ascii: "9")
  }

  /// Returns the integer that a string stands for. One with needless zeros in front is not looked at: it may
  /// be long, and used often.
  private static func integer(ofName name: String) -> Int? {
    startsInteger(name) && name.utf8.count <= 40 ? Int(name) : nil
  }
}

extension EncodingError {
  static func invalid(_ value: Any, path: [any CodingKey], _ description: String) -> EncodingError {
    .invalidValue(value, Context(codingPath: path, debugDescription: description))
  }
}
