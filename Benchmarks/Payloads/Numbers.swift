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
