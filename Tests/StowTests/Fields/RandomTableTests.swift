import Foundation
import Stow
import Testing

/// A type with tables of fields, and the same type without.
private protocol Twin: Generated {
  associatedtype Plain: Exact
  var plain: Plain { get }
}

extension Twin where Plain == Self {
  var plain: Self { self }
}

extension Int: Twin {}
extension Int8: Twin {}
extension Double: Twin {}
extension String: Twin {}
extension Date: Twin {}
extension UUID: Twin {}
extension Data: Twin {}
extension Decimal: Twin {}

extension CaseIterable where Self: Sendable {
  var exactly: String { "\(self)" }
  static func random(_ random: inout SeededGenerator) -> Self {
    Array(allCases)[random.below(allCases.count)]
  }
}

extension FieldGender: Twin {}
extension FieldRank: Twin {}

private enum Level: UInt8, Codable, CaseIterable, Twin {
  case low
  case high = 200
}

// With a table and without one, they have the same layout.

extension FieldPoint: Generated {
  var exactly: String { "\(self)" }
}

extension FieldPoint: Twin where Table == Tabled {
  fileprivate var plain: FieldPoint<Untabled> { unsafeBitCast(self, to: FieldPoint<Untabled>.self) }
}

extension FieldNote: Generated {
  var exactly: String { "\(self)" }
}

extension FieldNote: Twin where Table == Tabled {
  fileprivate var plain: FieldNote<Untabled> { unsafeBitCast(self, to: FieldNote<Untabled>.self) }
}

extension FieldScalars: Generated {
  var exactly: String { "\(self)" }
}

extension FieldScalars: Twin where Table == Tabled {
  fileprivate var plain: FieldScalars<Untabled> { unsafeBitCast(self, to: FieldScalars<Untabled>.self) }
}

extension FieldCaseRow: Generated {
  var exactly: String { "\(self)" }
}

extension FieldCaseRow: Twin where Table == Tabled {
  fileprivate var plain: FieldCaseRow<Untabled> { unsafeBitCast(self, to: FieldCaseRow<Untabled>.self) }
}

extension FieldHidden: Generated {
  var exactly: String { "\(self)" }
}

extension FieldHidden: Twin where Table == Tabled {
  fileprivate var plain: FieldHidden<Untabled> { unsafeBitCast(self, to: FieldHidden<Untabled>.self) }
}

extension Optional: Twin where Wrapped: Twin {
  var plain: Wrapped.Plain? { map(\.plain) }
}

extension Array: Twin where Element: Twin {
  var plain: [Element.Plain] { map(\.plain) }
}

private struct PlainTriple<A: Exact, B: Exact, C: Exact>: Exact {
  var a: A
  var b: B
  var c: C?
  var exactly: String { "(\(a.exactly), \(b.exactly), \(c.exactly))" }
}

private struct TabledTriple<A: Twin, B: Twin, C: Twin>: Twin, StowFields {
  var a: A
  var b: B
  var c: C?
  var exactly: String { "(\(a.exactly), \(b.exactly), \(c.exactly))" }
  var plain: PlainTriple<A.Plain, B.Plain, C.Plain> { .init(a: a.plain, b: b.plain, c: c?.plain) }

  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(a:b:c:), Field("a", \.a), Field("b", \.b), Field("c", \.c))
  }

  static func random(_ random: inout SeededGenerator) -> Self {
    Self(a: .random(&random), b: .random(&random), c: C?.random(&random))
  }
}

/// Has more in it than its fields.
private struct PlainPart<A: Exact, B: Exact>: Exact {
  var a: A?
  var b: B
  private enum CodingKeys: CodingKey { case a, b }
  var exactly: String { "(\(a.exactly), \(b.exactly))" }
}

private struct TabledPart<A: Twin, B: Twin>: Twin, StowFields {
  private var mark = 7
  var a: A?
  var b: B
  private enum CodingKeys: CodingKey { case a, b }
  var exactly: String { mark == 7 ? "(\(a.exactly), \(b.exactly))" : "\(mark)" }
  var plain: PlainPart<A.Plain, B.Plain> { .init(a: a?.plain, b: b.plain) }

  init(a: A?, b: B) { (self.a, self.b) = (a, b) }

  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(a:b:), Field("a", \.a), Field("b", \.b))
  }

  static func random(_ random: inout SeededGenerator) -> Self {
    Self(a: A?.random(&random), b: .random(&random))
  }
}

/// A class, which may hold itself.
private final class PlainObject<A: Exact>: Exact {
  let a: A
  let inner: [PlainObject]
  var exactly: String { "\(a.exactly) [\(inner.map(\.exactly).joined(separator: ", "))]" }
  init(a: A, inner: [PlainObject]) { (self.a, self.inner) = (a, inner) }
}

private final class TabledObject<A: Twin>: Twin, StowFields {
  let a: A
  let inner: [TabledObject]
  var exactly: String { "\(a.exactly) [\(inner.map(\.exactly).joined(separator: ", "))]" }
  var plain: PlainObject<A.Plain> { .init(a: a.plain, inner: inner.map(\.plain)) }
  init(a: A, inner: [TabledObject]) { (self.a, self.inner) = (a, inner) }

  static var stowFields: FieldTable<TabledObject> {
    FieldTable(TabledObject.init(a:inner:), Field("a", \.a), Field("inner", \.inner))
  }

  static func random(_ random: inout SeededGenerator) -> TabledObject {
    TabledObject(a: .random(&random), inner: random.below(3) > 0 ? [] : random.list(3) { .random(&$0) })
  }
}

// Generic types ask for numbers, Bools and strings otherwise than others: these are in arrays and in types that are not
// generic over them.
private let leaves: [any Twin.Type] = [
  Date.self, UUID.self, Data.self, Decimal.self, FieldGender.self, FieldRank.self, Level.self, [Int].self,
  [Int8?].self, [Double].self, [String].self, FieldPoint<Tabled>.self, FieldNote<Tabled>.self,
  FieldScalars<Tabled>.self, FieldCaseRow<Tabled>.self, FieldHidden<Tabled>.self,
]

extension SeededGenerator {
  /// A type that is no optional: generic types write the nil of one.
  fileprivate mutating func twin(depth: Int) -> any Twin.Type {
    if depth == 0 || below(4) == 0 { return leaves[below(leaves.count)] }
    let (one, other, third) = (twin(depth: depth - 1), twin(depth: depth - 1), twin(depth: depth - 1))
    switch below(6) {
    case 0: return array(of: one, isOptional: below(2) == 0)
    case 1: return part(of: one, and: other)
    case 2: return object(of: one)
    default: return triple(of: one, other, and: third)
    }
  }

  private func array<A: Twin>(of type: A.Type, isOptional: Bool) -> any Twin.Type {
    isOptional ? [A?].self : [A].self
  }

  private func part<A: Twin, B: Twin>(of a: A.Type, and b: B.Type) -> any Twin.Type {
    TabledPart<A, B>.self
  }

  private func object<A: Twin>(of a: A.Type) -> any Twin.Type { TabledObject<A>.self }

  private func triple<A: Twin, B: Twin, C: Twin>(
    of a: A.Type, _ b: B.Type, and c: C.Type
  ) -> any Twin.Type {
    TabledTriple<A, B, C>.self
  }
}

@Suite("Random types with tables", .noBacktraces)
struct RandomTableTests {
  /// What a value or an error says, whichever of the two types it is of.
  private func outcome(_ body: () throws -> some Exact) -> String {
    let text: String
    do { text = try body().exactly } catch { text = String(reflecting: error) }
    return text.replacing("Untabled", with: "Plain").replacing("Tabled", with: "Plain")
  }

  @Test("values, errors and paths of random types are the same with tables as without")
  func same() {
    forEachCase(of: 0..<150) { (seed: Int) in
      var random = SeededGenerator(seed: UInt64(seed))
      func check<Value: Twin>(_ type: Value.Type) throws {
        let values = (0..<random.below(9)).map { _ in Value.random(&random) }
        let message = try StowEncoder().encode(values.plain)
        #expect(try StowEncoder().encode(values) == message, "\(type)")
        let context = try StowContext(learningFrom: [values.plain, values.plain])
        let short = try StowEncoder(context).encode(values.plain)
        for message in [message, short] {
          let decoder = StowDecoder([context])
          #expect(try decoder.decode([Value].self, from: message).exactly == values.exactly, "\(type)")
          for _ in 0..<40 {
            let mutated = mutate(message, &random)
            let one = outcome { try decoder.decode([Value].self, from: mutated) }
            let other = outcome { try decoder.decode([Value.Plain].self, from: mutated) }
            #expect(one == other, "\(type): \(Array(mutated))")
          }
        }
        guard let value = values.first else { return }
        let single = try StowEncoder().encode(value.plain)
        for _ in 0..<40 {
          let mutated = mutate(single, &random)
          let one = outcome { try StowDecoder().decode(Value.self, from: mutated) }
          let other = outcome { try StowDecoder().decode(Value.Plain.self, from: mutated) }
          #expect(one == other, "\(type): \(Array(mutated))")
        }
      }
      try check(random.twin(depth: 3))
    }
  }
}
