import Foundation

/// Long arrays of one kind of value.
enum Numbers {
  /// Integers of every size: each has a random width of 1 to 62 bits.
  static func ints(count: Int) -> [Int] {
    var random = RandomSource(seed: 3)
    return random.array(count: count) { random in
      let width = random.int(in: 1...62)
      return Int((random.next() >> (64 - width)) | (1 << (width - 1)))
    }
  }

  /// Identifiers, all of the same width.
  static func ids(count: Int) -> [Int] {
    var random = RandomSource(seed: 4)
    return random.array(count: count) { $0.int(in: 1 << 31...(1 << 32) - 1) }
  }

  /// Ascending milliseconds, up to half a minute apart.
  static func timestamps(count: Int) -> [Int] {
    var random = RandomSource(seed: 5)
    var now = 1_700_000_000_000
    return random.array(count: count) { random in
      now += random.int(in: 0...29_999)
      return now
    }
  }

  /// Fractions with random bits to the last: nothing to compress.
  static func doubles(count: Int) -> [Double] {
    var random = RandomSource(seed: 6)
    return random.array(count: count) { $0.double(in: -1000...1000) }
  }

  /// Random bytes, which JSON writes in base 64.
  static func blob(count: Int) -> Data {
    var random = RandomSource(seed: 7)
    return Data(random.array(count: count) { UInt8(truncatingIfNeeded: $0.next()) })
  }
}

/// Strings, alone and as keys.
enum Texts {
  /// Strings of 5 to 60 characters of which no two are equal, a tenth of them not ASCII.
  static func strings(count: Int) -> [String] {
    var random = RandomSource(seed: 8)
    return (0..<count).map { number in
      let tail = String(number, radix: 36)
      let wanted = random.int(in: 5...60)
      var text = random.chance(0.1) ? random.pick(foreign) : ""
      while text.count + tail.count < wanted {
        text += text.isEmpty ? random.pick(Vocabulary.words) : " " + random.pick(Vocabulary.words)
      }
      return text.prefix(max(0, wanted - tail.count - 1)) + "/" + tail
    }
  }

  /// A dictionary with as many keys as asked, counting what they name.
  static func dictionary(count: Int) -> [String: Int] {
    var random = RandomSource(seed: 9)
    var dictionary: [String: Int] = [:]
    dictionary.reserveCapacity(count)
    for number in 0..<count { dictionary["\(random.pick(Vocabulary.words))-\(number)"] = random.int(in: 0...1_000_000) }
    return dictionary
  }

  private static let foreign = [
    "東京都の天気", "Привет, мир", "Ελληνικά", "smörgåsbord", "naïve café", "📦 parcel", "한국어 문장", "مرحبا",
  ]
}

/// A triangle mesh: the `mesh` data set of the Rust serialization benchmark.
struct Mesh: Codable, Equatable, Sendable {
  /// A position or a direction.
  struct Vector: Codable, Equatable, Sendable {
    var x: Float
    var y: Float
    var z: Float
  }

  /// Three corners and the direction the face looks in.
  struct Triangle: Codable, Equatable, Sendable {
    var v0: Vector
    var v1: Vector
    var v2: Vector
    var normal: Vector
  }

  var triangles: [Triangle]

  /// A mesh of random triangles.
  static func make(triangles count: Int) -> Mesh {
    var random = RandomSource(seed: 15)
    func vector(_ random: inout RandomSource) -> Vector {
      Vector(x: random.float(in: -1...1), y: random.float(in: -1...1), z: random.float(in: -1...1))
    }
    return Mesh(
      triangles: random.array(count: count) {
        Triangle(v0: vector(&$0), v1: vector(&$0), v2: vector(&$0), normal: vector(&$0))
      })
  }
}

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
