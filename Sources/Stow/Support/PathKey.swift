/// A key of a coding path where the user's own key type is not at hand: an index, or a name.
struct PathKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = Int(stringValue)
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }

  init(name: String, integer: Int? = nil) {
    stringValue = name
    intValue = integer
  }

  /// Whether a string could be that of an integer, by its first character.
  static func startsInteger(_ name: String) -> Bool {
    guard let first = name.utf8.first else { return false }
    return first <= UInt8(ascii: "9")
  }

  static func index(_ index: Int) -> PathKey { PathKey(indexName: index) }

  private init(indexName index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  static let `super` = PathKey(name: "super")
}
