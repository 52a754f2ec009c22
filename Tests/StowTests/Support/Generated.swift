import Foundation

/// A type whose values can be generated.
protocol Generated: Exact {
  static func random(_ random: inout SeededGenerator) -> Self
}

protocol GeneratedKey: Generated, Hashable {}

// MARK: - Scalars

extension FixedWidthInteger where Self: Exact {
  static func random(_ random: inout SeededGenerator) -> Self {
    let bits = random.next() >> random.below(64)
    return random.below(8) == 0 ? [.min, .max][random.below(2)] : Self(truncatingIfNeeded: bits)
  }
}

extension Int: GeneratedKey {}
extension Int8: GeneratedKey {}
extension Int32: GeneratedKey {}
extension UInt16: GeneratedKey {}
extension UInt64: GeneratedKey {}
extension Int128: GeneratedKey {}

extension Bool: Generated {
  static func random(_ random: inout SeededGenerator) -> Bool { random.below(2) == 0 }
}

extension Double: Generated {
  static func random(_ random: inout SeededGenerator) -> Double { random.double() }
}

extension Float: Generated {
  static func random(_ random: inout SeededGenerator) -> Float {
    random.below(2) == 0
      ? Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) : Float(random.below(1000)) / 8
  }
}

extension String: GeneratedKey {
  static func random(_ random: inout SeededGenerator) -> String { random.text() }
}

extension Date: Generated {
  static func random(_ random: inout SeededGenerator) -> Date { Date(timeIntervalSinceReferenceDate: random.double()) }
}

extension Decimal: Generated {
  static func random(_ random: inout SeededGenerator) -> Decimal {
    let significand = Decimal(random.next()) * Decimal(random.next() >> random.below(64))
    return Decimal(sign: [.plus, .minus][random.below(2)], exponent: random.below(256) - 128, significand: significand)
  }
}

extension UUID: GeneratedKey {
  static func random(_ random: inout SeededGenerator) -> UUID {
    let bytes = (0..<16).map { _ in UInt8(random.below(256)) }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension Data: Generated {
  static func random(_ random: inout SeededGenerator) -> Data {
    Data((0..<random.below(20)).map { _ in UInt8(random.below(256)) })
  }
}

// MARK: - Types of types

extension Optional: Generated where Wrapped: Generated {
  static func random(_ random: inout SeededGenerator) -> Wrapped? {
    // Not `.random`, which would be that of the optional, and so nil in the end.
    random.below(4) == 0 ? nil : Wrapped.random(&random)
  }
}

extension Array: Generated where Element: Generated {
  static func random(_ random: inout SeededGenerator) -> [Element] { random.list(6) { .random(&$0) } }
}

extension Set: Generated where Element: GeneratedKey {
  static func random(_ random: inout SeededGenerator) -> Set { Set([Element].random(&random)) }
}

extension Dictionary: Generated where Key: GeneratedKey, Value: Generated {
  static func random(_ random: inout SeededGenerator) -> [Key: Value] {
    let entries = random.list(5) { (Key.random(&$0), Value.random(&$0)) }
    return Dictionary(entries, uniquingKeysWith: { first, _ in first })
  }
}

extension ClosedRange: Generated where Bound: GeneratedKey & Comparable {
  static func random(_ random: inout SeededGenerator) -> ClosedRange {
    let bounds = [Bound.random(&random), .random(&random)].sorted()
    return bounds[0]...bounds[1]
  }
}

struct GeneratedPair<A: Generated, B: Generated>: Generated {
  var first: A
  var rest: B?

  var exactly: String { "GeneratedPair(\(first.exactly), \(rest.exactly))" }

  static func random(_ random: inout SeededGenerator) -> GeneratedPair {
    GeneratedPair(first: .random(&random), rest: .random(&random))
  }
}

indirect enum GeneratedChoice<A: Generated, B: Generated>: Generated {
  case none
  case one(A)
  case both(A, named: B)
  case more(GeneratedChoice)

  var exactly: String {
    switch self {
    case .none: "none"
    case .one(let a): "one(\(a.exactly))"
    case .both(let a, let b): "both(\(a.exactly), \(b.exactly))"
    case .more(let choice): "more(\(choice.exactly))"
    }
  }

  static func random(_ random: inout SeededGenerator) -> GeneratedChoice {
    switch random.below(4) {
    case 0: .none
    case 1: .one(.random(&random))
    case 2: .both(.random(&random), named: .random(&random))
    default: .more(.random(&random))
    }
  }
}
