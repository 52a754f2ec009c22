import Stow

// Values whose calls do not come in the order of the document.

/// A thing of an inventory: the uppermost of three classes, each of which encodes the one above it by `superEncoder()`.
class Item: Codable, @unchecked Sendable {
  let id: Int
  let name: String

  init(_ random: inout RandomSource) {
    id = random.int(in: 1...1_000_000)
    name = random.pick(Vocabulary.words)
  }
}

class Vehicle: Item, @unchecked Sendable {
  let power: Double
  let isActive: Bool

  private enum CodingKeys: CodingKey { case power, isActive }

  override init(_ random: inout RandomSource) {
    power = Double(random.int(in: 1...9999)) / 10
    isActive = random.chance(0.5)
    super.init(&random)
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    power = try container.decode(Double.self, forKey: .power)
    isActive = try container.decode(Bool.self, forKey: .isActive)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(power, forKey: .power)
    try container.encode(isActive, forKey: .isActive)
    try super.encode(to: container.superEncoder())
  }
}

final class Truck: Vehicle, Equatable, @unchecked Sendable {
  let plate: String
  let axles: Int

  private enum CodingKeys: CodingKey { case plate, axles }

  override init(_ random: inout RandomSource) {
    plate = "\(random.pick(Vocabulary.countries)) \(random.int(in: 1000...9999))"
    axles = random.int(in: 2...6)
    super.init(&random)
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    plate = try container.decode(String.self, forKey: .plate)
    axles = try container.decode(Int.self, forKey: .axles)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(plate, forKey: .plate)
    try container.encode(axles, forKey: .axles)
    try super.encode(to: container.superEncoder())
  }

  static func == (left: Truck, right: Truck) -> Bool {
    (left.id, left.name, left.power, left.isActive) == (right.id, right.name, right.power, right.isActive)
      && (left.plate, left.axles) == (right.plate, right.axles)
  }

  /// As many trucks as asked.
  static func make(count: Int) -> [Truck] {
    var random = RandomSource(seed: 41)
    return random.array(count: count) { Truck(&$0) }
  }
}

/// A record with a part that may be refused while it is encoded, and is then left out.
struct Fallback: Codable, Equatable, Sendable {
  /// What throws if it is not valid, before it asks for a container: Foundation's encoder takes no others.
  struct Detail: Codable, Equatable, Sendable {
    var code: Int
    var text: String
    var isValid: Bool

    func encode(to encoder: any Encoder) throws {
      guard isValid else {
        throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: "not valid"))
      }
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(code, forKey: .code)
      try container.encode(text, forKey: .text)
      try container.encode(isValid, forKey: .isValid)
    }
  }

  var id: Int
  var name: String
  var detail: Detail?
  var tags: [String]

  init(id: Int, name: String, detail: Detail?, tags: [String]) {
    (self.id, self.name, self.detail, self.tags) = (id, name, detail, tags)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try? container.encodeIfPresent(detail, forKey: .detail)
    try container.encode(tags, forKey: .tags)
  }

  /// What a coder gives back does not have the parts that were refused.
  static func == (left: Fallback, right: Fallback) -> Bool {
    func detail(_ record: Fallback) -> Detail? { record.detail?.isValid == true ? record.detail : nil }
    return (left.id, left.name, left.tags) == (right.id, right.name, right.tags)
      && detail(left) == detail(right)
  }

  /// As many records as asked, of which each whose number is a multiple of `refused` has a part that is refused.
  static func make(count: Int, refused: Int = 10) -> [Fallback] {
    var (random, number) = (RandomSource(seed: 42), 0)
    return random.array(count: count) {
      number += 1
      let detail = Detail(code: $0.int(in: 100...599), text: $0.sentence(1...4), isValid: number % refused != 0)
      return Fallback(
        id: $0.int(in: 1...1_000_000), name: $0.pick(Vocabulary.firstNames), detail: detail,
        tags: [$0.pick(Vocabulary.tags), $0.pick(Vocabulary.tags)])
    }
  }
}
