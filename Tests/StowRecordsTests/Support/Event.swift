/// A value to be logged, which follows from its number and its size.
struct Event: Codable, Hashable, Sendable {
  var id: Int
  var kind: String
  var level: Double?
  var text: String

  init(_ id: Int, size: Int = 20) {
    self.id = id
    kind = ["started", "measured", "stopped"][id % 3]
    level = id % 4 == 0 ? nil : Double(id) / 8
    // No two are the same, so that none is a symbol.
    let number = "\(id)"
    let letter = Character(Unicode.Scalar(UInt8(97 + id % 26)))
    text = number + String(repeating: letter, count: max(0, size - number.count))
  }
}
