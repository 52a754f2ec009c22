import Foundation
import Stow
import Testing

private let scalars: [any Exact.Type] = [
  Bool.self, Int.self, UInt8.self, Int128.self, Double.self, Float.self, String.self, Date.self, UUID.self,
  Decimal.self, [Int].self, [String: Int].self, [UUID: Int].self, Int?.self, Set<Int>.self,
  ClosedRange<Int>.self,
]

/// What JSON has no kind for.
private let values: [any Exact] = [
  Date(timeIntervalSinceReferenceDate: 0.1), Date(timeIntervalSinceReferenceDate: 700_000_000.123456),
  UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!, Decimal(string: "-12.75")!, Decimal(1000),
]

@Suite("Dates, UUIDs and decimals read as other types")
struct FoundationKindTests {
  @Test("dates, UUIDs and decimals are read as other types as in JSON, or fail in the same way")
  func asInJSON() {
    forEachCase(of: values.indices, Place.allCases) { (index: Int, place: Place) in
      func check<Value: Exact>(_ value: Value) throws {
        let (stow, json) = (StowCoder(), JSONCoder())
        let message = try place.message(of: value, beside: value, by: stow)
        let text = try place.message(of: value, beside: value, by: json)
        for type in scalars {
          let own = place.outcome(type, in: message, by: stow)
          let other = isOfWrongKind(value, type) ? place.mismatch : place.outcome(type, in: text, by: json)
          if !own.isSame(asInJSON: other) { Issue.record("\(value.exactly) as \(type): \(own), in JSON \(other)") }
        }
      }
      try check(values[index])
    }
  }

  /// The one difference: a `Date` is no number but its seconds, a floating-point one.
  private func isOfWrongKind(_ value: any Exact, _ type: any Exact.Type) -> Bool {
    value is Date && (type is any BinaryInteger.Type || type == Decimal.self || type == Int?.self)
  }

  @Test("a Date is read from every number as in JSON")
  func dates() {
    forEachCase(of: integerTypes, Place.allCases) { (written: any TestedInteger.Type, place: Place) in
      func check<Written: TestedInteger>(_ type: Written.Type) throws {
        let (stow, json) = (StowCoder(), JSONCoder())
        for value in type.samples where Double(exactly: value) != nil {
          let message = try place.message(of: value, beside: value, by: stow)
          let text = try place.message(of: value, beside: value, by: json)
          let own = place.outcome(Date.self, in: message, by: stow)
          #expect(own == place.outcome(Date.self, in: text, by: json), "\(value.exactly)")
        }
      }
      try check(written)
    }
  }
}

extension Place {
  fileprivate var mismatch: Outcome { .failure(Failure(kind: .typeMismatch, path: firstPath)) }
}
