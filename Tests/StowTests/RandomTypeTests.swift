import Foundation
import Stow
import Testing

/// A type whose values can be generated.
private protocol Generated: Exact {
  static func random(_ random: inout SeededGenerator) -> Self
}

private protocol GeneratedKey: Generated, Hashable {}

// MARK: - Scalars

extension FixedWidthInteger where Self: Exact {
  fileprivate static func random(_ random: inout SeededGenerator) -> Self {
    let bits = random.next() >> random.below(64)
    return random.below(8) == 0 ? [.min, .max][random.below(2)] : Self(truncatingIfNeeded: bits)
  }
}

extension Int: GeneratedKey {}
extension Int8: GeneratedKey {}
extension UInt16: GeneratedKey {}
extension UInt64: GeneratedKey {}
extension Int128: GeneratedKey {}

extension Bool: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> Bool { random.below(2) == 0 }
}

extension Double: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> Double { random.double() }
}

extension Float: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> Float {
    random.below(2) == 0
      ? Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) : Float(random.below(1000)) / 8
  }
}

extension String: GeneratedKey {
  fileprivate static func random(_ random: inout SeededGenerator) -> String { random.text() }
}

extension Date: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> Date {
    Date(timeIntervalSinceReferenceDate: random.double())
  }
}

extension Decimal: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> Decimal {
    let significand = Decimal(random.next()) * Decimal(random.next() >> random.below(64))
    return Decimal(
      sign: [.plus, .minus][random.below(2)], exponent: random.below(256) - 128, significand: significand)
  }
}

extension UUID: GeneratedKey {
  fileprivate static func random(_ random: inout SeededGenerator) -> UUID {
    let bytes = (0..<16).map { _ in UInt8(random.below(256)) }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension Data: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> Data {
    Data((0..<random.below(20)).map { _ in UInt8(random.below(256)) })
  }
}

// MARK: - Types of types

extension Optional: Generated where Wrapped: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> Wrapped? {
    random.below(4) == 0 ? nil : .random(&random)
  }
}

extension Array: Generated where Element: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> [Element] {
    random.list(6) { .random(&$0) }
  }
}

extension Set: Generated where Element: GeneratedKey {
  fileprivate static func random(_ random: inout SeededGenerator) -> Set { Set([Element].random(&random)) }
}

extension Dictionary: Generated where Key: GeneratedKey, Value: Generated {
  fileprivate static func random(_ random: inout SeededGenerator) -> [Key: Value] {
    let entries = random.list(5) { (Key.random(&$0), Value.random(&$0)) }
    return Dictionary(entries, uniquingKeysWith: { first, _ in first })
  }
}

extension ClosedRange: Generated where Bound: GeneratedKey & Comparable {
  fileprivate static func random(_ random: inout SeededGenerator) -> ClosedRange {
    let bounds = [Bound.random(&random), .random(&random)].sorted()
    return bounds[0]...bounds[1]
  }
}

private struct Pair<A: Generated, B: Generated>: Generated {
  var first: A
  var rest: B?

  var exactly: String { "Pair(\(first.exactly), \(rest.exactly))" }

  static func random(_ random: inout SeededGenerator) -> Pair {
    Pair(first: .random(&random), rest: .random(&random))
  }
}

private indirect enum Choice<A: Generated, B: Generated>: Generated {
  case none
  case one(A)
  case both(A, named: B)
  case more(Choice)

  var exactly: String {
    switch self {
    case .none: "none"
    case .one(let a): "one(\(a.exactly))"
    case .both(let a, let b): "both(\(a.exactly), \(b.exactly))"
    case .more(let choice): "more(\(choice.exactly))"
    }
  }

  static func random(_ random: inout SeededGenerator) -> Choice {
    switch random.below(4) {
    case 0: .none
    case 1: .one(.random(&random))
    case 2: .both(.random(&random), named: .random(&random))
    default: .more(.random(&random))
    }
  }
}

// MARK: - Random types

private let scalars: [any Generated.Type] = [
  Int.self, Int8.self, UInt16.self, UInt64.self, Int128.self, Bool.self, Double.self, Float.self, String.self,
  Date.self, Decimal.self, UUID.self, Data.self, ClosedRange<Int>.self, ClosedRange<String>.self,
]
private let keys: [any GeneratedKey.Type] = [
  Int.self, UInt16.self, Int128.self, String.self, UUID.self,
]

extension SeededGenerator {
  fileprivate mutating func type(depth: Int) -> any Generated.Type {
    if depth == 0 || below(8) == 0 { return scalars[below(scalars.count)] }
    if below(8) == 0 { return set(of: keys[below(keys.count)]) }
    return wrapped(type(depth: depth - 1), depth: depth)
  }

  private mutating func wrapped<T: Generated>(_ type: T.Type, depth: Int) -> any Generated.Type {
    switch below(6) {
    case 0: T?.self
    case 1, 2: [T].self
    case 3: dictionary(of: type, by: keys[below(keys.count)])
    case 4: pair(of: type, and: self.type(depth: depth - 1))
    default: choice(of: type, and: self.type(depth: depth - 1))
    }
  }

  private func set<T: GeneratedKey>(of type: T.Type) -> any Generated.Type { Set<T>.self }

  private func dictionary<T: Generated, K: GeneratedKey>(of type: T.Type, by key: K.Type)
    -> any Generated.Type
  {
    [K: T].self
  }

  private func pair<A: Generated, B: Generated>(of a: A.Type, and b: B.Type) -> any Generated.Type {
    Pair<A, B>.self
  }

  private func choice<A: Generated, B: Generated>(of a: A.Type, and b: B.Type) -> any Generated.Type {
    Choice<A, B>.self
  }
}

@Suite("Random values of random types")
struct RandomTypeTests {
  @Test("come back to the bit, from the same bytes each time", arguments: 0..<150)
  func exact(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func check<Value: Generated>(_ type: Value.Type) throws {
      for _ in 0..<6 {
        let value = [Value].random(&random)
        let encoder = StowEncoder()
        let data = try encoder.encode(value)
        #expect(try encoder.encode(value) == data && StowEncoder().encode(value) == data, "\(type)")
        let outcome = Outcome { try StowDecoder().decode([Value].self, from: data) }
        if outcome != .value(value.exactly) {
          Issue.record("\(type): \(outcome) is not \(value.exactly)")
        }
      }
    }
    try check(random.type(depth: 4))
  }
}
