/// A map outline in the form of GeoJSON, as canada.json holds it.
struct FeatureCollection: Codable, Equatable, Sendable {
  /// One country or province.
  struct Feature: Codable, Equatable, Sendable {
    var type: String
    var properties: [String: String]
    var geometry: Polygon
  }

  /// Rings of coordinate pairs.
  struct Polygon: Codable, Equatable, Sendable {
    var type: String
    var coordinates: [[[Double]]]
  }

  var type: String
  var features: [Feature]
}

extension FeatureCollection {
  /// An outline of `rings` rings and about as many pairs as asked.
  static func make(rings: Int, pairs: Int) -> FeatureCollection {
    var random = RandomSource(seed: 13)
    let coordinates = random.array(count: rings) { random in
      ring(count: random.int(in: pairs / rings / 2...pairs / rings * 3 / 2), &random)
    }
    let feature = Feature(
      type: "Feature", properties: ["name": "Canada"],
      geometry: Polygon(type: "Polygon", coordinates: coordinates))
    return FeatureCollection(type: "FeatureCollection", features: [feature])
  }

  /// A walk in small steps.
  private static func ring(count: Int, _ random: inout RandomSource) -> [[Double]] {
    var longitude = random.int(in: -140_000_000...(-53_000_000))
    var latitude = random.int(in: 42_000_000...82_000_000)
    return random.array(count: count) { random in
      longitude += random.int(in: -20_000...20_000)
      latitude += random.int(in: -20_000...20_000)
      return [degrees(longitude, &random), degrees(latitude, &random)]
    }
  }

  /// Six decimals and the rounding noise of some earlier computation: a few units in the last place.
  private static func degrees(_ millionths: Int, _ random: inout RandomSource) -> Double {
    let exact = Double(millionths) / 1e6
    return exact + Double(random.int(in: -4...4)) * exact.ulp
  }
}
