import Foundation
import Stow
import Testing

/// A floating-point type whose bits can be chosen.
private protocol FloatOfBits: TestedFloat where RawSignificand: FixedWidthInteger {
  static func ofBits(sign: FloatingPointSign, exponent: RawExponent, significand: RawSignificand) -> Self
}

extension FloatOfBits {
  /// `init(sign:exponentBitPattern:significandBitPattern:)`, which moves bits and computes nothing.
  static func ofBits(sign: FloatingPointSign, exponent: RawExponent, significand: RawSignificand) -> Self {
    Self(sign: sign, exponentBitPattern: exponent, significandBitPattern: significand)
  }

  /// Significands with every single bit, with all bits, and without each.
  static var significands: [RawSignificand] {
    let all = (RawSignificand(1) << significandBitCount) - 1
    return [0, all] + (0..<significandBitCount).flatMap { [1 << $0, all ^ (1 << $0)] }
  }

  /// Every class of values of both signs: zero, subnormals, the least and the greatest numbers, infinities, and
  /// quiet and signalling NaNs of every payload bit.
  static var everyClass: [Self] {
    let top = (RawExponent(1) << exponentBitCount) - 1
    return [0, 1, top / 2, top - 1, top].flatMap { exponent in
      significands.flatMap { significand in
        [.plus, .minus].map { ofBits(sign: $0, exponent: exponent, significand: significand) }
      }
    }
  }
}

extension Double: FloatOfBits {}
extension Float: FloatOfBits {}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: FloatOfBits {}
  private let types: [any FloatOfBits.Type] = [Double.self, Float.self, Float16.self]
#else
  private let types: [any FloatOfBits.Type] = [Double.self, Float.self]
#endif

@Suite("Floating-point values in every place")
struct FloatPlaceTests {
  @Test("floating-point values of every class keep every bit")
  fileprivate func bits() {
    forEachCase(of: types, Place.allCases) { (type: any FloatOfBits.Type, place: Place) in
      func check<Value: FloatOfBits>(_ type: Value.Type) throws {
        for value in type.everyClass { try expectExact(value, beside: 0.5, in: place) }
      }
      try check(type)
    }
  }

  @Test("floating-point values keep every bit beside NaN and -0.0")
  fileprivate func company() {
    forEachCase(of: types, Place.allCases) { (type: any FloatOfBits.Type, place: Place) in
      func check<Value: FloatOfBits>(_ type: Value.Type) throws {
        for other in [Value.nan, -Value.nan, .signalingNaN, -0.0, .infinity, .leastNonzeroMagnitude] {
          for value in type.everyClass.prefix(12) + [1, 0.1, .nan] { try expectExact(value, beside: other, in: place) }
        }
      }
      try check(type)
    }
  }

  @Test("the seconds of a Date keep every bit")
  func dates() {
    forEachCase(of: Place.allCases) { (place: Place) in
      let values = Double.everyClass + [86400, 700_000_000.123456789, -62_135_769_600, 0.001]
      for value in values.map(Date.init(timeIntervalSinceReferenceDate:)) {
        try expectExact(value, beside: Date(timeIntervalSinceReferenceDate: 1000), in: place)
      }
    }
  }

  @Test("a Double is read as a Date with as many seconds, and back")
  func asDates() {
    forEachCase(of: Place.allCases) { (place: Place) in
      let coder = StowCoder()
      for value in Double.everyClass where !value.isNaN {
        let date = Date(timeIntervalSinceReferenceDate: value)
        var message = try place.message(of: value, beside: 0.5, by: coder)
        #expect(try place.value(Date.self, in: message, by: coder).exactly == date.exactly)
        message = try place.message(of: date, beside: Date(timeIntervalSinceReferenceDate: 0.5), by: coder)
        #expect(try place.value(Double.self, in: message, by: coder).exactly == value.exactly)
      }
    }
  }
}
