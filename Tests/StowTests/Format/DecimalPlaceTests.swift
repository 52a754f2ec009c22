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
  for bits in stride(from: 0, to: 128, by: 3) {
    let wide = UInt128(random.next()) << 64 | UInt128(random.next())
    let sign: FloatingPointSign = bits % 2 == 0 ? .plus : .minus
    values.append(decimal(wide >> bits, random.below(256) - 128, sign))
    values.append(decimal(UInt128(1) << bits, -(bits % 7)))
  }
  return values
}()

/// `Float` is not among them: JSON writes it in fewer digits than the `Double` of the same value has.
private let numberTypes: [any TestedNumber.Type] = integerTypes + [Double.self]

extension Decimal {
  /// JSON takes a fraction for an integer if the nearest `Double` is one.
  fileprivate var isWholeInJSON: Bool {
    let double = Double(description) ?? .nan
    return description.contains(".") && double == double.rounded()
  }
}

@Suite("Decimals in every place")
struct DecimalPlaceTests {
  @Test("decimals keep their significand and exponent")
  func exact() {
    forEachCase(of: Place.allCases) { (place: Place) in
      for value in samples {
        try expectExact(value, beside: 0.5, in: place)
        try expectExact(value, beside: .nan, in: place)
      }
    }
  }

  @Test("decimals are read as other numbers as in JSON")
  func asNumbers() {
    forEachCase(of: Place.allCases) { (place: Place) in
      for value in samples where !value.isNaN && !value.isWholeInJSON {
        try expectAsInJSON(value, in: place) { data, coder in
          numberTypes.map { place.outcome($0, in: data, by: coder) }
        }
      }
    }
  }

  @Test("decimals are read from other numbers as in JSON")
  func fromNumbers() {
    forEachCase(of: numberTypes, Place.allCases) { (type: any TestedNumber.Type, place: Place) in
      func check<Written: TestedNumber>(_ type: Written.Type) throws {
        for value in type.samples where (value as? Double)?.isFinite != false {
          try expectAsInJSON(value, in: place) { data, coder in
            [Outcome(text: { try place.value(Decimal.self, in: data, by: coder).description })]
          }
        }
      }
      try check(type)
    }
  }

  @Test("numbers that are not finite are not read as decimals")
  func notFinite() {
    forEachCase(of: Place.allCases) { (place: Place) in
      let coder = StowCoder()
      for value in [Double.nan, .infinity, -.infinity, .signalingNaN] {
        let message = try place.message(of: value, beside: 0.5, by: coder)
        let outcome = place.outcome(Decimal.self, in: message, by: coder)
        #expect(outcome == .failure(Failure(kind: .dataCorrupted, path: place.path)), "\(value)")
      }
    }
  }

  private func expectAsInJSON<Value: Exact>(
    _ value: Value, in place: Place, reading outcomes: (Data, any Coder) -> [Outcome]
  ) throws {
    let (stow, json) = (StowCoder(), JSONCoder())
    let own = outcomes(try place.message(of: value, beside: value, by: stow), stow)
    let other = outcomes(try place.message(of: value, beside: value, by: json), json)
    for (own, other) in zip(own, other) where !own.isSame(asInJSON: other) {
      Issue.record("\(value.exactly): \(own), in JSON \(other)")
    }
  }
}
