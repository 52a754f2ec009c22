import Foundation

/// Whether the time of a record stays the same however many there are.
enum Growth {
  /// Measures people and points at growing numbers of records.
  static func measure(quick: Bool) throws -> [GrowthResult] {
    let counts = [1000, 10_000, 100_000] + (quick ? [] : [1_000_000])
    return try measure("people", counts, quick) { Person.make(count: $0) }
      + measure("points", counts, quick) { Point.make(count: $0) }
  }

  /// One kind of record at each number.
  private static func measure<Record: Codable & Equatable>(
    _ name: String, _ counts: [Int], _ quick: Bool, make: (Int) -> [Record]
  ) throws -> [GrowthResult] {
    try counts.map { count in
      StandardError.print("growth: \(count) \(name)")
      let records = make(count)
      let stow = try perRecord(StowCodec(), records, quick)
      let json = try perRecord(JSONCodec(), records, quick)
      return GrowthResult(
        payload: name, records: count, stowEncode: stow.encode, jsonEncode: json.encode,
        stowDecode: stow.decode, jsonDecode: json.decode)
    }
  }

  /// The time of one codec, divided by the number of records.
  private static func perRecord<Record: Codable & Equatable>(
    _ codec: some Codec, _ records: [Record], _ quick: Bool
  ) throws -> (encode: Double, decode: Double) {
    // One side at a time here: a million records as JSON leave little room for anything beside them.
    let sampler = Sampler(maximumRounds: 21, minimumRounds: 3, share: quick ? 0.1e9 : 0.5e9)
    let message = try codec.encode(records)
    let times = try sampler.medians(of: [
      { blackHole(try codec.encode(records)) },
      { blackHole(try codec.decode([Record].self, from: message)) },
    ])
    let count = Double(records.count)
    return ((times[0] ?? .nan) / count, (times[1] ?? .nan) / count)
  }
}
