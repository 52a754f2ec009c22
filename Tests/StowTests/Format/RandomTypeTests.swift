import Foundation
import Stow
import Testing

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
    GeneratedPair<A, B>.self
  }

  private func choice<A: Generated, B: Generated>(of a: A.Type, and b: B.Type) -> any Generated.Type {
    GeneratedChoice<A, B>.self
  }
}

@Suite("Random values of random types")
struct RandomTypeTests {
  @Test("random values of random types keep every bit, and the same bytes are written each time")
  func exact() {
    forEachCase(of: 0..<150) { (seed: Int) in
      var random = SeededGenerator(seed: UInt64(seed))
      func check<Value: Generated>(_ type: Value.Type) throws {
        for _ in 0..<6 {
          let value = [Value].random(&random)
          let encoder = StowEncoder()
          let data = try encoder.encode(value)
          #expect(try encoder.encode(value) == data && StowEncoder().encode(value) == data, "\(type)")
          let outcome = Outcome { try StowDecoder().decode([Value].self, from: data) }
          if outcome != .value(value.exactly) { Issue.record("\(type): \(outcome) is not \(value.exactly)") }
        }
      }
      try check(random.type(depth: 4))
    }
  }
}
