import Foundation
import Stow
import Testing

/// A number that JSON does not take for an integer.
private struct Fraction: Generated {
  var value: Double
  var exactly: String { value.exactly }

  static func random(_ random: inout SeededGenerator) -> Fraction {
    Fraction(value: Double(random.below(2000) - 1000) / 8 + 0.0625)
  }

  init(value: Double) {
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    value = try decoder.readSingle(Double.self)
  }

  func encode(to encoder: any Encoder) throws { try encoder.writeSingle(value) }
}

/// A dictionary of one entry, so that there is one order in which it can fail.
private struct Entry<Key: GeneratedKey, Value: Generated>: Generated {
  var entries: [Key: Value]
  var exactly: String { entries.exactly }

  static func random(_ random: inout SeededGenerator) -> Entry { Entry(entries: [.random(&random): .random(&random)]) }

  init(entries: [Key: Value]) {
    self.entries = entries
  }

  init(from decoder: any Decoder) throws {
    entries = try decoder.readSingle([Key: Value].self)
  }

  func encode(to encoder: any Encoder) throws { try encoder.writeSingle(entries) }
}

private let scalars: [any Generated.Type] = [
  Int8.self, UInt16.self, Int32.self, Bool.self, String.self, UUID.self, Fraction.self,
]
private let keys: [any GeneratedKey.Type] = [String.self, Int.self, UUID.self]

/// How a type is put together, so that a part of it can be exchanged.
private indirect enum Structure {
  case scalar(Int)
  case optional(Structure)
  case array(Structure)
  case entry(Int, Structure)
  case pair(Structure, Structure)
  case choice(Structure, Structure)

  var type: any Generated.Type {
    func optional<T: Generated>(_ type: T.Type) -> any Generated.Type { T?.self }
    func array<T: Generated>(_ type: T.Type) -> any Generated.Type { [T].self }
    func entry<K: GeneratedKey, T: Generated>(_ key: K.Type, _ type: T.Type) -> any Generated.Type { Entry<K, T>.self }
    func pair<A: Generated, B: Generated>(_ a: A.Type, _ b: B.Type) -> any Generated.Type { GeneratedPair<A, B>.self }
    func choice<A: Generated, B: Generated>(_ a: A.Type, _ b: B.Type) -> any Generated.Type {
      GeneratedChoice<A, B>.self
    }
    switch self {
    case .scalar(let index): return scalars[index]
    case .optional(let part): return optional(part.type)
    case .array(let part): return array(part.type)
    case .entry(let key, let part): return entry(keys[key], part.type)
    case .pair(let a, let b): return pair(a.type, b.type)
    case .choice(let a, let b): return choice(a.type, b.type)
    }
  }

  /// Optionals are not nested: JSON has one nil only.
  static func random(depth: Int, optional: Bool = true, _ random: inout SeededGenerator) -> Structure {
    if depth == 0 { return .scalar(random.below(scalars.count)) }
    func part(optional: Bool = true) -> Structure { .random(depth: depth - 1, optional: optional, &random) }
    switch random.below(optional ? 7 : 6) {
    case 0: return .scalar(random.below(scalars.count))
    case 1, 2: return .array(part())
    case 3: return .entry(random.below(keys.count), part())
    case 4: return .pair(part(), part(optional: false))
    case 5: return .choice(part(), part())
    default: return .optional(part(optional: false))
    }
  }

  /// The same with one part exchanged. What is no dictionary does not become one: the order in which one of many
  /// entries fails is left to chance.
  func changed(_ random: inout SeededGenerator) -> Structure {
    if random.below(4) == 0 { return replaced(&random) }
    switch self {
    case .scalar: return replaced(&random)
    case .optional(let part): return .optional(part.changed(&random).required)
    case .array(let part): return .array(part.changed(&random))
    case .entry(let key, let part): return .entry(key, part.changed(&random))
    case .pair(let a, let b):
      if random.below(2) == 0 { return .pair(a.changed(&random), b) }
      return .pair(a, b.changed(&random).required)
    case .choice(let a, let b):
      return random.below(2) == 0 ? .choice(a.changed(&random), b) : .choice(a, b.changed(&random))
    }
  }

  private var required: Structure { if case .optional(let part) = self { part } else { self } }

  private func replaced(_ random: inout SeededGenerator) -> Structure {
    let index = random.below(scalars.count)
    switch self {
    case .scalar: return random.below(5) == 0 ? .array(self) : .scalar(index)
    case .optional(let part): return part
    case .array(let part): return random.below(2) == 0 ? part : .scalar(index)
    case .entry(let key, let part): return .entry((key + 1) % keys.count, part)
    case .pair(let a, let b): return .choice(a, b)
    case .choice(let a, let b): return .pair(a, b.required)
    }
  }
}

@Suite("Random values read as a type nearly theirs")
struct RandomTypesAsInJSONTests {
  @Test("random values are read as in JSON, or fail in the same way at the same place")
  func nearlyTheType() {
    forEachCase(of: 0..<300) { (seed: Int) in
      var random = SeededGenerator(seed: 10_000 + UInt64(seed))
      let structure = Structure.random(depth: 4, &random)
      for _ in 0..<4 { try check(structure.type, as: structure.changed(&random).type, &random) }
    }
  }

  private func check<Written: Generated, Read: Generated>(
    _ written: Written.Type, as read: Read.Type, _ random: inout SeededGenerator
  ) throws {
    for _ in 0..<3 {
      let value = [Written].random(&random) + [.random(&random)]
      let stow = try outcome(of: value, as: read, by: StowCoder())
      let json = try outcome(of: value, as: read, by: JSONCoder())
      if !stow.isSame(asInJSON: json) {
        Issue.record("\(written) \(value.exactly) as \(read): \(stow), in JSON \(json)")
      }
    }
  }

  private func outcome<Read: Generated>(of value: some Exact, as read: Read.Type, by coder: some Coder) throws
    -> Outcome
  {
    let message = try coder.encode(value)
    return Outcome { try coder.decode([Read].self, from: message) }
  }
}
