/// A message of five fields, encoded and decoded one call at a time: what a call itself costs.
struct Small: Codable, Equatable, Sendable {
  var id: Int
  var name: String
  var flag: Bool
  var value: Double
  var note: String?

  /// As many messages as asked.
  static func make(count: Int) -> [Small] {
    var random = RandomSource(seed: 10)
    return random.array(count: count) {
      Small(
        id: $0.int(in: 1...1_000_000), name: $0.pick(Vocabulary.firstNames), flag: $0.chance(0.5),
        value: Double($0.int(in: 0...99_999)) / 100, note: $0.maybe(0.5) { $0.sentence(1...4) })
    }
  }
}
