import Foundation
import Stow
import Testing

private func decimal(_ significand: UInt128, _ exponent: Int, _ sign: FloatingPointSign = .plus) -> Decimal {
  Decimal(sign: sign, exponent: exponent, significand: Decimal(string: "\(significand)")!)
}

/// Limits, significands that end in zeros, and significands of every width.
private let samples: [Decimal] = {
  var values: [Decimal] = [
    0, 1, -1, .nan, .pi, .greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude,
    -Decimal.leastNonzeroMagnitude, decimal(100, -2), decimal(1000, 0), decimal(10, 2), decimal(1, 3),
    decimal(5, -1), decimal(.max, 127), decimal(.max, -128), decimal(.max, -39, .minus),
    decimal(UInt128(UInt64.max), 0), decimal(UInt128(UInt64.max) + 1, 0), decimal(300, 0, .minus),
  ]
  var random = SeededGenerator(seed: 5)
  for bits in 0..<128 {
    let wide = UInt128(random.next()) << 64 | UInt128(random.next())
    values.append(decimal(wide >> bits, random.below(256) - 128, bits % 2 == 0 ? .plus : .minus))
    values.append(decimal(UInt128(1) << bits, -(bits % 7)))
  }
  return values
}()

/// `Float` is not among them: JSON writes it in fewer digits than the `Double` of the same value has.
private let numberTypes: [any TestedNumber.Type] = integerTypes + [Double.self]

@Suite("Decimals in every place")
struct DecimalPlaceTests {
  @Test("keep significand and exponent", arguments: Place.allCases)
  func exact(place: Place) throws {
    for value in samples {
      try expectExact(value, beside: 0.5, in: place)
      try expectExact(value, beside: .nan, in: place)
    }
  }

  @Test("are read as numbers as in JSON", arguments: numberTypes)
  func asNumbers(type: any TestedNumber.Type) throws {
    // JSON takes a fraction that is none as a `Double` for an integer.
    for value in samples
    where !value.isNaN && (value.exponent >= 0 || value.magnitude < 9_007_199_254_740_992) {
      try expectAsInJSON(value) { place, data, coder in place.outcome(type, in: data, by: coder) }
    }
  }

  @Test("are read from numbers as in JSON", arguments: numberTypes)
  func fromNumbers(type: any TestedNumber.Type) throws {
    func check<Written: TestedNumber>(_ type: Written.Type) throws {
      for value in type.samples where (value as? Double)?.isFinite != false {
        try expectAsInJSON(value) { place, data, coder in
          Outcome(text: { try place.value(Decimal.self, in: data, by: coder).description })
        }
      }
    }
    try check(type)
  }

  @Test("are not read from what is not finite", arguments: Place.allCases)
  func notFinite(place: Place) throws {
    let coder = StowCoder()
    for value in [Double.nan, .infinity, -.infinity, .signalingNaN] {
      let message = try place.message(of: value, beside: 0.5, by: coder)
      let outcome = place.outcome(Decimal.self, in: message, by: coder)
      #expect(outcome == .failure(Failure(kind: .dataCorrupted, path: place.path)), "\(value)")
    }
  }

  private func expectAsInJSON<Value: Exact>(
    _ value: Value, reading outcome: (Place, Data, any Coder) -> Outcome
  ) throws {
    for place in Place.allCases {
      let (stow, json) = (StowCoder(), JSONCoder())
      let own = outcome(place, try place.message(of: value, beside: value, by: stow), stow)
      let other = outcome(place, try place.message(of: value, beside: value, by: json), json)
      if !own.isSame(asInJSON: other) {
        Issue.record("\(value.exactly) in \(place): \(own), in JSON \(other)")
      }
    }
  }
}
