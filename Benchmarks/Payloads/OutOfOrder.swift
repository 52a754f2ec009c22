/// A record whose fields are read last to first: a decoder that hopes for the written order is wrong at
/// every step.
struct ReversedRecord: Codable, Equatable, Sendable {
  /// A hundred keys.
  private enum Field: String, CodingKey, CaseIterable {
    case f00, f01, f02, f03, f04, f05, f06, f07, f08, f09, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19
    case f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39
    case f40, f41, f42, f43, f44, f45, f46, f47, f48, f49, f50, f51, f52, f53, f54, f55, f56, f57, f58, f59
    case f60, f61, f62, f63, f64, f65, f66, f67, f68, f69, f70, f71, f72, f73, f74, f75, f76, f77, f78, f79
    case f80, f81, f82, f83, f84, f85, f86, f87, f88, f89, f90, f91, f92, f93, f94, f95, f96, f97, f98, f99
  }

  /// The value of each field.
  let values: [Int]

  private init(values: [Int]) { self.values = values }

  /// Reads the last field first.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Field.self)
    let lastToFirst = try Field.allCases.reversed().map { try container.decode(Int.self, forKey: $0) }
    values = lastToFirst.reversed()
  }

  /// Writes the first field first.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Field.self)
    for (field, value) in zip(Field.allCases, values) { try container.encode(value, forKey: field) }
  }

  /// As many records as asked.
  static func make(count: Int) -> [ReversedRecord] {
    var random = RandomSource(seed: 18)
    return random.array(count: count) { random in
      ReversedRecord(values: random.array(count: Field.allCases.count) { $0.int(in: 0...100_000) })
    }
  }
}

/// Three fields out of an object with many: all others are to be skipped.
struct PartialRecord: Decodable, Equatable, Sendable {
  let early: Int
  let middle: Int
  let late: Int

  /// The keys among the object's that are read, out of their order.
  private enum CodingKeys: String, CodingKey {
    case late = "key-900"
    case early = "key-100"
    case middle = "key-500"
  }

  /// Objects of a thousand keys, and what is read of each.
  static func make(count: Int) -> (objects: [ManyKeys], records: [PartialRecord]) {
    var random = RandomSource(seed: 19)
    let objects = random.array(count: count) { random in
      ManyKeys(values: random.array(count: 1000) { $0.int(in: 0...100_000) })
    }
    let records = objects.map {
      PartialRecord(early: $0.values[100], middle: $0.values[500], late: $0.values[900])
    }
    return (objects, records)
  }
}

/// Fifty values read by name from a large dictionary: each is to be found, none in its turn.
struct LookupRecord: Decodable, Equatable, Sendable {
  /// The value of each name.
  let values: [Int]

  private init(values: [Int]) { self.values = values }

  /// Reads the names one by one.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: NumberedKey.self)
    values = try Self.names.map { try container.decode(Int.self, forKey: NumberedKey(number: $0)) }
  }

  /// A dictionary of 50,000 entries, and what is read of it.
  static func make() -> (objects: [ManyKeys], records: [LookupRecord]) {
    var random = RandomSource(seed: 20)
    let object = ManyKeys(values: random.array(count: 50_000) { $0.int(in: 0...100_000) })
    return ([object], [LookupRecord(values: names.map { object.values[$0] })])
  }

  /// Fifty numbers scattered over the dictionary.
  private static let names = (0..<50).map { $0 * 7919 % 50_000 }
}

/// An object with a key for each value, as a dictionary would be written but in the order of the values,
/// which a dictionary leaves to chance.
struct ManyKeys: Encodable, Sendable {
  let values: [Int]

  /// Writes `key-0`, `key-1` and so on.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: NumberedKey.self)
    for (number, value) in values.enumerated() {
      try container.encode(value, forKey: NumberedKey(number: number))
    }
  }
}

/// The key `key-N`.
struct NumberedKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  /// The key of a number.
  init(number: Int) { stringValue = "key-\(number)" }

  init?(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}
