import Foundation
import Stow
import Testing

extension TestedFloat {
  fileprivate var isFraction: Bool { isFinite && self != rounded() }
}

/// What JSON writes and reads as the same number, whose outcomes can be compared.
///
/// JSON gives no path for a number that does not fit; Stow's path is that of the number.
@Suite("Numbers read as in JSON")
struct NumbersAsInJSONTests {
  @Test("integers are read as every integer type, or refused, as in JSON")
  func integers() {
    forEachCase(of: integerTypes, Place.allCases) { (written: any TestedInteger.Type, place: Place) in
      try check(written, as: integerTypes, in: place) { _, _ in true }
    }
  }

  @Test("integers are read as floating-point types, or refused, as in JSON")
  func integersAsFloats() {
    forEachCase(of: integerTypes, Place.allCases) { (written: any TestedInteger.Type, place: Place) in
      try check(written, as: floatTypes, in: place) { _, _ in true }
    }
  }

  /// JSON writes whole floats like integers, and reads them as such.
  @Test("fractions are refused by every integer type, as in JSON")
  func fractions() {
    forEachCase(of: floatTypes, Place.allCases) { (written: any TestedFloat.Type, place: Place) in
      try check(written, as: integerTypes, in: place) { value, _ in value.isFraction }
    }
  }

  /// JSON refuses what a narrower type rounds to zero.
  @Test("a Double is read as every floating-point type, or refused, as in JSON")
  func doubles() {
    forEachCase(of: Place.allCases) { (place: Place) in
      try check(Double.self, as: floatTypes, in: place) { value, _ in
        value.isFinite && (value == 0 || Float(value) != 0)
      }
    }
  }

  /// JSON writes a `Float` in the fewest digits, which are another `Double`.
  @Test("floating-point numbers are read as their own type, as in JSON")
  func own() {
    forEachCase(of: floatTypes, Place.allCases) { (type: any TestedFloat.Type, place: Place) in
      try check(type, as: [type], in: place) { value, _ in value.isFinite }
    }
  }

  /// Every value stands among its like, so that it is the first to be refused. Each place has a third of the values:
  /// `CrossNumberTests` has all of them in all places.
  private func check<Written: TestedNumber>(
    _ written: Written.Type, as types: [any TestedNumber.Type], in place: Place,
    where isComparable: (Written, any TestedNumber.Type) -> Bool
  ) throws {
    let (stow, json) = (StowCoder(), JSONCoder())
    let first = (Place.allCases.firstIndex(of: place) ?? 0) % 3
    for value in Written.samples.enumerated().filter({ $0.offset % 3 == first }).map(\.element) {
      let types = types.filter { isComparable(value, $0) }
      if types.isEmpty { continue }
      let message = try place.message(of: value, beside: value, by: stow)
      let text = try place.message(of: value, beside: value, by: json)
      for type in types {
        let own = place.outcome(type, in: message, by: stow)
        let other = place.outcome(type, in: text, by: json)
        if !own.isSame(asInJSON: other) { Issue.record("\(value.exactly) as \(type): \(own), in JSON \(other)") }
      }
    }
  }
}
