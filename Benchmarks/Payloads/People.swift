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

extension Point {
  /// As many points as asked, whose numbers have few digits, many digits, and none after the point.
  static func makeComputed(count: Int) -> [Point] {
    var random = RandomSource(seed: 22)
    return random.array(count: count) {
      let distance = Double($0.int(in: 1...10_000))
      return Point(x: distance * 1.1, y: distance / 3, z: Double($0.int(in: -1000...1000)))
    }
  }
}

/// A square of a map: small integers of several widths.
struct Cell: Codable, Equatable, Sendable {
  enum Terrain: UInt8, Codable, Sendable, CaseIterable { case water, sand, grass, forest, rock, snow }
  enum Owner: Int, Codable, Sendable, CaseIterable { case nobody, red, green, blue }

  var terrain: Terrain
  var owner: Owner
  var height: Int16
  var moisture: UInt8
  var temperature: Int8
  var population: UInt16
  var resources: UInt32
  var visits: Int
  var unit: UInt8?

  /// As many squares as asked.
  static func make(count: Int) -> [Cell] {
    var random = RandomSource(seed: 23)
    return random.array(count: count) {
      Cell(
        terrain: $0.pick(Terrain.allCases), owner: $0.pick(Owner.allCases),
        height: Int16($0.int(in: -100...4000)), moisture: UInt8($0.int(in: 0...100)),
        temperature: Int8($0.int(in: -40...40)), population: UInt16($0.int(in: 0...20_000)),
        resources: UInt32($0.int(in: 0...100_000)), visits: $0.int(in: 0...1000),
        unit: $0.maybe(0.2) { UInt8($0.int(in: 0...30)) })
    }
  }
}

/// A person of a customer table: nested, with optionals, the shape most apps store.
struct Person: Codable, Equatable, Sendable {
  /// How the person is addressed.
  enum Gender: String, Codable, Sendable {
    case female, male, nonbinary, undisclosed
  }

  /// Where the person lives.
  struct Address: Codable, Equatable, Sendable {
    var street: String
    var city: String
    var zip: String
    var country: String
    var latitude: Double
    var longitude: Double
  }

  var id: Int
  var firstName: String
  var lastName: String
  var email: String
  var age: Int
  var isActive: Bool
  var balance: Double
  var gender: Gender
  var address: Address
  var tags: [String]
  var nickname: String?
  var phone: String?
  var managerID: Int?
  var score: Double?
}

extension Person {
  /// As many people as asked, the first ones the same whatever the number.
  static func make(count: Int) -> [Person] {
    var random = RandomSource(seed: 1)
    var people: [Person] = []
    people.reserveCapacity(count)
    for id in 1...count { people.append(make(id: id, &random)) }
    return people
  }

  /// One person.
  private static func make(id: Int, _ random: inout RandomSource) -> Person {
    let first = random.pick(Vocabulary.firstNames)
    let last = random.pick(Vocabulary.lastNames)
    return Person(
      id: id, firstName: first, lastName: last,
      email: "\(first.lowercased()).\(last.lowercased())\(id)@example.com",
      age: random.int(in: 18...90), isActive: random.chance(0.8),
      balance: Double(random.int(in: 0...2_000_000)) / 100,
      gender: random.pick([.female, .male, .female, .male, .nonbinary, .undisclosed]),
      address: .make(&random), tags: random.array(0...5) { $0.pick(Vocabulary.tags) },
      nickname: random.maybe(0.3) { $0.pick(Vocabulary.words) },
      phone: random.maybe(0.6) { "+\($0.int(in: 1...99)) \($0.int(in: 100_000_000...999_999_999))" },
      managerID: random.maybe(0.7) { $0.int(in: 1...id) },
      score: random.maybe(0.5) { $0.unit() })
  }
}

extension Person.Address {
  /// A street and house in one of the vocabulary's cities.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(
      street: "\(random.int(in: 1...250)) \(random.pick(Vocabulary.streets)) Street",
      city: random.pick(Vocabulary.cities), zip: String(random.int(in: 10_000...99_999)),
      country: random.pick(Vocabulary.countries),
      latitude: Double(random.int(in: -90_000_000...90_000_000)) / 1e6,
      longitude: Double(random.int(in: -180_000_000...180_000_000)) / 1e6)
  }
}

/// A person of whom little is known.
struct SparsePerson: Codable, Equatable, Sendable {
  var id: Int
  var firstName, lastName, email: String?
  var age: Int?
  var isActive: Bool?
  var balance: Double?
  var gender: Person.Gender?
  var address: Person.Address?
  var tags: [String]?
  var nickname, phone: String?
  var managerID: Int?
  var score: Double?

  /// As many people as asked, with half of what is known of others.
  static func make(count: Int) -> [SparsePerson] {
    var random = RandomSource(seed: 24)
    func half<Value>(_ value: Value) -> Value? { random.chance(0.5) ? value : nil }
    return Person.make(count: count).map {
      SparsePerson(
        id: $0.id, firstName: half($0.firstName), lastName: half($0.lastName), email: half($0.email),
        age: half($0.age), isActive: half($0.isActive), balance: half($0.balance), gender: half($0.gender),
        address: half($0.address), tags: half($0.tags), nickname: $0.nickname, phone: $0.phone,
        managerID: $0.managerID, score: $0.score)
    }
  }
}
