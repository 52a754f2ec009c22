import Foundation
import Stow
import Testing

/// A type of numbers, with values to test it by and what FORMAT.md says of reading others as this type.
protocol TestedNumber: Exact {
  static var samples: [Self] { get }
  /// A value that every type of numbers holds.
  static var common: Self { get }
  /// What an integer is read as, nil where it is refused.
  static func reading(integer: some TestedInteger) -> Self?
  /// What a floating-point number is read as.
  static func reading(float: some TestedFloat) -> Self?
  func read<Other: TestedNumber>(as type: Other.Type) -> Other?
}

protocol TestedInteger: TestedNumber, FixedWidthInteger {}
protocol TestedFloat: TestedNumber, BinaryFloatingPoint {}

extension TestedInteger {
  static var common: Self { 1 }
  static func reading(integer: some TestedInteger) -> Self? { Self(exactly: integer) }
  static func reading(float: some TestedFloat) -> Self? { nil }
  func read<Other: TestedNumber>(as type: Other.Type) -> Other? { type.reading(integer: self) }

  /// The limits, the limits of all narrower types, and some values between.
  static var samples: [Self] {
    var random = SeededGenerator(seed: UInt64(bitWidth))
    var values: Set<Self> = [.min, .max, .min + 1, .max - 1, 0, 47, 48]
    for bits in [7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64, 127] where bits < bitWidth {
      let power = Self(1) << bits
      values.formUnion([power, power &- 1, power &+ 1, ~power])
    }
    for _ in 0..<3 { values.insert(.random(in: .min ... .max, using: &random)) }
    return values.sorted()
  }
}

extension TestedFloat {
  static var common: Self { 0.5 }
  func read<Other: TestedNumber>(as type: Other.Type) -> Other? { type.reading(float: self) }

  /// Rounds, `Float16` by way of `Float`.
  static func reading(integer: some TestedInteger) -> Self? {
    let result = Self.self == Double.self ? Self(integer) : Self(Float(integer))
    return result.isFinite ? result : nil
  }

  /// Rounds, `Float16` by way of `Float` as its own `init(from:)` does.
  static func reading(float: some TestedFloat) -> Self? {
    let result = Self.self == Double.self ? Self(float) : Self(Float(float))
    return result.isFinite || !float.isFinite ? result : nil
  }

  static var samples: [Self] {
    let magnitudes: [Self] =
      [0, 1, 0.1, 1.5, 2048, 2049, 65504, .pi, .infinity, .ulpOfOne, .greatestFiniteMagnitude]
      + [.leastNormalMagnitude, .leastNonzeroMagnitude, Self.leastNormalMagnitude.nextDown]
      + [Self(1).nextUp, 65519.99, 65520, 3.4028235e38, 3.4028236e38, 1e-46, 1.000488281250001]
    return magnitudes + magnitudes.map { -$0 }
  }
}

extension Int: TestedInteger {}
extension Int8: TestedInteger {}
extension Int16: TestedInteger {}
extension Int32: TestedInteger {}
extension Int64: TestedInteger {}
extension Int128: TestedInteger {}
extension UInt: TestedInteger {}
extension UInt8: TestedInteger {}
extension UInt16: TestedInteger {}
extension UInt32: TestedInteger {}
extension UInt64: TestedInteger {}
extension UInt128: TestedInteger {}
extension Double: TestedFloat {}
extension Float: TestedFloat {}

let integerTypes: [any TestedInteger.Type] = [
  Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self,
  UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self,
]

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: TestedFloat {}
  let floatTypes: [any TestedFloat.Type] = [Double.self, Float.self, Float16.self]
#else
  let floatTypes: [any TestedFloat.Type] = [Double.self, Float.self]
#endif

@Suite("Number types read as each other")
struct CrossNumberTests {
  private static let types: [any TestedNumber.Type] = integerTypes + floatTypes

  @Test("every number is read as every number type, or refused at its path, in every place")
  func everyType() {
    forEachCase(of: Self.types, Place.allCases) { (written: any TestedNumber.Type, place: Place) in
      func check<Written: TestedNumber>(_ written: Written.Type) throws {
        let coder = StowCoder()
        for value in Written.samples {
          let message = try place.message(of: value, beside: Written.common, by: coder)
          for read in Self.types {
            let outcome = place.outcome(read, in: message, by: coder)
            let expected = expected(value, as: read, in: place)
            if outcome != expected { Issue.record("\(value.exactly) as \(read): \(outcome), not \(expected)") }
          }
        }
      }
      try check(written)
    }
  }

  private func expected<Written: TestedNumber, Read: TestedNumber>(
    _ value: Written, as read: Read.Type, in place: Place
  ) -> Outcome {
    if let result = value.read(as: read) { return .value(result.exactly) }
    let path = Written.common.read(as: read) == nil ? place.firstPath : place.path
    return .failure(Failure(kind: .dataCorrupted, path: path))
  }
}
