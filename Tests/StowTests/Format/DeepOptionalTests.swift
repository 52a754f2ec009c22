import Foundation
import Stow
import Testing

/// All values of a type of optionals: those of its wrapped type, and none.
private protocol Enumerable: Exact {
  static var everyValue: [Self] { get }
  /// What JSON and other readers without levels make of it.
  var flat: String { get }
}

extension Enumerable {
  var flat: String { exactly }
}

extension Int: Enumerable {
  fileprivate static var everyValue: [Int] { [0, 7, .max] }
}

extension String: Enumerable {
  fileprivate static var everyValue: [String] { ["", "text"] }
}

extension Bool: Enumerable {
  fileprivate static var everyValue: [Bool] { [true, false] }
}

extension Double: Enumerable {
  fileprivate static var everyValue: [Double] { [-0.0, 0.1, .nan] }
}

extension Array: Enumerable where Element: Enumerable {
  fileprivate static var everyValue: [[Element]] { [[], Element.everyValue] }
  fileprivate var flat: String { "[" + map(\.flat).joined(separator: ", ") + "]" }
}

extension Optional: Enumerable where Wrapped: Enumerable {
  fileprivate static var everyValue: [Wrapped?] { [.none] + Wrapped.everyValue.map(Optional.some) }
  fileprivate var flat: String { map(\.flat) ?? "nil" }
}

private let types: [any Enumerable.Type] = [
  Int?.self, Int??.self, Int???.self, Int????.self, Int?????.self, String?????.self, Bool?????.self,
  Double?????.self, [Int?????].self, [[Int??]??]??.self, Int???????????.self, [Int??????????].self,
  [Double?????????]???.self,
]

@Suite("Optionals of many levels")
struct DeepOptionalTests {
  @Test("optionals keep their level beside optionals of any other level")
  fileprivate func levels() {
    forEachCase(of: types, Place.allCases) { (type: any Enumerable.Type, place: Place) in
      func check<Value: Enumerable>(_ type: Value.Type) throws {
        for value in type.everyValue {
          // An optional property that is `.none` is no property at all: it is not the value of the place.
          if place.isOptional, value.flat == "nil" { continue }
          for other in type.everyValue { try expectExact(value, beside: other, in: place) }
        }
      }
      try check(type)
    }
  }

  @Test("optionals are read with fewer or more levels as FORMAT.md says")
  func fewerAndMore() throws {
    for value in Int?????.everyValue {
      try expectLevel(of: value, as: Int?.self)
      try expectLevel(of: value, as: Int??.self)
      try expectLevel(of: value, as: Int???.self)
      try expectLevel(of: value, as: Int????.self)
      try expectLevel(of: value, as: Int?????.self)
      try expectLevel(of: value, as: Int??????.self)
    }
  }

  /// A nil of level L is one of level min(L, N - 1) to a reader with N optionals.
  private func expectLevel<Read: Enumerable>(of value: Int?????, as type: Read.Type) throws {
    let copy = try transcode([value, value], to: [Read].self)[1]
    let somes = { (text: String) in text.components(separatedBy: "some(").count - 1 }
    let levels = String(describing: type).components(separatedBy: "Optional<").count - 1
    #expect(copy.flat == value.flat, "\(value.exactly) as \(type)")
    if value.flat == "nil" {
      #expect(somes(copy.exactly) == min(somes(value.exactly), levels - 1), "\(value.exactly) as \(type)")
    }
  }

  @Test("optionals of many levels are read as plain values as in JSON")
  func asInJSON() {
    forEachCase(of: Place.allCases) { (place: Place) in
      for value in Int?????.everyValue where !place.isOptional || value.flat != "nil" {
        let outcomes = try [
          outcome(of: value, in: place, by: StowCoder()), outcome(of: value, in: place, by: JSONCoder()),
        ]
        #expect(outcomes[0] == outcomes[1], "\(value.exactly)")
      }
    }
  }

  private func outcome(of value: Int?????, in place: Place, by coder: some Coder) throws -> Outcome {
    let message = try place.message(of: value, beside: 1, by: coder)
    return place.outcome(Int.self, in: message, by: coder)
  }
}
