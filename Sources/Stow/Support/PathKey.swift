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

  private init(name: String) {
    stringValue = name
    intValue = nil
  }

  static func index(_ index: Int) -> PathKey { PathKey(indexName: index) }

  private init(indexName index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  static let `super` = PathKey(name: "super")
}
