import Foundation
import Stow
import Testing

/// A type with tables of fields, and the same type without: both make the same random values.
private protocol Twin: Generated {
  associatedtype Plain: Generated = Self
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
  static func random(_ random: inout SeededGenerator) -> Self { Array(allCases)[random.below(allCases.count)] }
}

extension FieldGender: Twin {}
extension FieldRank: Twin {}

private enum Level: UInt8, Codable, CaseIterable, Twin {
  case low
  case high = 200
}

/// A value that says of itself all there is.
protocol Described: Generated {}

extension Described {
  var exactly: String { "\(self)" }
}

extension FieldPoint: Described {}
extension FieldNote: Described {}
extension FieldScalars: Described {}
extension FieldCaseRow: Described {}
extension FieldHidden: Described {}

extension FieldPoint: Twin where Table == Tabled { typealias Plain = FieldPoint<Untabled> }
extension FieldNote: Twin where Table == Tabled { typealias Plain = FieldNote<Untabled> }
extension FieldScalars: Twin where Table == Tabled { typealias Plain = FieldScalars<Untabled> }
extension FieldCaseRow: Twin where Table == Tabled { typealias Plain = FieldCaseRow<Untabled> }
extension FieldHidden: Twin where Table == Tabled { typealias Plain = FieldHidden<Untabled> }

extension Optional: Twin where Wrapped: Twin { typealias Plain = Wrapped.Plain? }
extension Array: Twin where Element: Twin { typealias Plain = [Element.Plain] }

/// Several types have the same keys.
private enum SharedKeys: CodingKey { case a, b, c }

private struct Triple<Table: Sendable, A: Generated, B: Generated, C: Generated>: Generated {
  var a: A
  var b: B
  var c: C?
  typealias CodingKeys = SharedKeys
  var exactly: String { "(\(a.exactly), \(b.exactly), \(c.exactly))" }

  static func random(_ random: inout SeededGenerator) -> Self {
    Self(a: .random(&random), b: .random(&random), c: C?.random(&random))
  }
}

extension Triple: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(a:b:c:), Field("a", \.a), Field("b", \.b), Field("c", \.c))
  }
}

extension Triple: Twin where Table == Tabled, A: Twin, B: Twin, C: Twin {
  typealias Plain = Triple<Untabled, A.Plain, B.Plain, C.Plain>
}

/// Has more in it than its fields. The last one, which is written first, may lie in the padding of the one before it.
private struct Part<Table: Sendable, A: Generated, B: Generated>: Generated {
  private var mark = 7
  var b: B
  var a: A?
  var c: Int8
  var exactly: String { mark == 7 ? "(\(c), \(a.exactly), \(b.exactly))" : "\(mark)" }

  init(c: Int8, a: A?, b: B) { (self.c, self.a, self.b) = (c, a, b) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: SharedKeys.self)
    c = try container.decode(Int8.self, forKey: .c)
    a = try container.decodeIfPresent(A.self, forKey: .a)
    b = try container.decode(B.self, forKey: .b)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: SharedKeys.self)
    try container.encode(c, forKey: .c)
    try container.encodeIfPresent(a, forKey: .a)
    try container.encode(b, forKey: .b)
  }

  static func random(_ random: inout SeededGenerator) -> Self {
    Self(c: .random(&random), a: A?.random(&random), b: .random(&random))
  }
}

extension Part: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(c:a:b:), Field("c", \.c), Field("a", \.a), Field("b", \.b))
  }
}

extension Part: Twin where Table == Tabled, A: Twin, B: Twin {
  typealias Plain = Part<Untabled, A.Plain, B.Plain>
}

/// A class, which may hold itself.
private final class Object<Table: Sendable, A: Generated>: Generated, @unchecked Sendable {
  var a: A
  var inner: [Object]
  var next: Object?
  var exactly: String { "\(a.exactly) [\(inner.map(\.exactly).joined(separator: ", "))] \(next?.exactly ?? "")" }
  init(a: A, inner: [Object], next: Object?) { (self.a, self.inner, self.next) = (a, inner, next) }

  static func random(_ random: inout SeededGenerator) -> Object {
    Object(
      a: .random(&random), inner: random.below(3) > 0 ? [] : random.list(3) { .random(&$0) },
      next: random.below(4) > 0 ? nil : .random(&random))
  }
}

extension Object: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Object> {
    FieldTable(Object.init(a:inner:next:), Field("a", \.a), Field("inner", \.inner), Field("next", \.next))
  }
}

extension Object: Twin where Table == Tabled, A: Twin { typealias Plain = Object<Untabled, A.Plain> }

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

  /// Few rows or many, which may be equal.
  fileprivate mutating func rows<Row: Generated>(of type: Row.Type) -> [Row] {
    let (count, areEqual) = (below(3) == 0 ? 17 + below(9) : below(9), below(3) == 0)
    let first = Row.random(&self)
    return (0..<count).map { _ in areEqual ? first : .random(&self) }
  }

  private func array<A: Twin>(of type: A.Type, isOptional: Bool) -> any Twin.Type { isOptional ? [A?].self : [A].self }

  private func part<A: Twin, B: Twin>(of a: A.Type, and b: B.Type) -> any Twin.Type { Part<Tabled, A, B>.self }

  private func object<A: Twin>(of a: A.Type) -> any Twin.Type { Object<Tabled, A>.self }

  private func triple<A: Twin, B: Twin, C: Twin>(of a: A.Type, _ b: B.Type, and c: C.Type) -> any Twin.Type {
    Triple<Tabled, A, B, C>.self
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
        var again = random
        let values = random.rows(of: Value.self)
        let plain = again.rows(of: Value.Plain.self)
        let message = try StowEncoder().encode(plain)
        #expect(try StowEncoder().encode(values) == message, "\(type)")
        let context = try StowContext(learningFrom: [plain, plain])
        let short = try StowEncoder(context).encode(plain)
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
        guard let value = plain.first else { return }
        let single = try StowEncoder().encode(value)
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
