/// A point in space: the smallest record there is, three numbers with random bits to the last.
struct Point: Codable, Equatable, Sendable {
  var x: Double
  var y: Double
  var z: Double

  /// As many points as asked.
  static func make(count: Int) -> [Point] {
    var random = RandomSource(seed: 2)
    return random.array(count: count) {
      Point(x: $0.double(in: -1000...1000), y: $0.double(in: -1000...1000), z: $0.double(in: -1000...1000))
    }
  }
}
