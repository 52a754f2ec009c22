import Foundation
import Stow
import StowNotation
import Testing

/// Decimal numbers that `Decimal` does not hold: it moves zeros at the end of the digits to the exponent, which may
/// have no room for them.
@Suite("Decimal numbers beyond Decimal")
struct LargeDecimalTests {
  private static let texts: [(text: String, hex: String)] = [
    ("10e127", "1B 02 7F 0A"), ("-10e127", "1C 02 7F 0A"), ("1000e126", "1B 03 7E E8 03"),
    ("340282366920938463463374607431768211450e127", "1B 11 7F FA FF*15"),
  ]

  @Test("decimals beyond Decimal are decoded, and keep their bytes and their text")
  func kept() throws {
    for (text, hex) in Self.texts {
      let bytes = try VectorFile.bytes(hex)
      let value = try StowValue(from: bytes)
      guard case .largeDecimal = value else {
        Issue.record("\(value)")
        continue
      }
      #expect(value.description == "decimal\"\(text)\"")
      #expect(value.kind == .decimal && value.decimal == nil)
      #expect(try StowValue(notation: value.description) == value)
      #expect(try value.encoded() == bytes)
      let list = try StowValue(from: StowEncoder().encode(["a": [value, 1, value]]))
      #expect(list == ["a": [value, 1, value]])
    }
  }

  @Test("Decimal refuses larger decimals with their path, and Double reads them")
  func conversions() throws {
    for (text, hex) in Self.texts {
      let bytes = try VectorFile.bytes(hex)
      #expect(try StowDecoder().decode(Double.self, from: bytes) == Double(text))
      #expect(throws: DecodingError.self) { try StowDecoder().decode(Int128.self, from: bytes) }
      #expect {
        try StowDecoder().decode(
          [String: [Decimal]].self,
          from: StowValue(dictionaryLiteral: ("a", [0, StowValue(from: bytes)])).encoded())
      } throws: { error in
        guard case DecodingError.dataCorrupted(let context) = error else { return false }
        return context.codingPath.map(\.stringValue) == ["a", "Index 1"]
      }
    }
  }

  @Test("large decimals are equal if their numbers are")
  func equality() throws {
    let values: [StowValue] = [
      .largeDecimal(magnitude: 10, exponent: 127, isNegative: false),
      .largeDecimal(magnitude: 100, exponent: 126, isNegative: false),
    ]
    #expect(values[0] == values[1] && Set(values).count == 1)
    #expect(values[0] != .largeDecimal(magnitude: 10, exponent: 127, isNegative: true))
    #expect(values[0] != .largeDecimal(magnitude: 20, exponent: 127, isNegative: false))
    #expect(values[0] != .decimal(.nan))
    // `Decimal` holds it with a zero at its end, which is no other number.
    if let decimal = Decimal(string: "10e127"), !decimal.isNaN {
      #expect(Set(values + [.decimal(decimal)]).count == 1)
      #expect(try StowValue(from: StowValue.decimal(decimal).encoded()) == .decimal(decimal))
    }
    // Zeros keep their exponents.
    if let zero = Decimal(string: "0.00") {
      #expect(StowValue.decimal(zero) == .decimal(0))
      #expect(try StowValue(from: StowValue.decimal(zero).encoded()).description == "decimal\"0.00\"")
    }
    // Those that `Decimal` holds are equal to `decimal`, and are written as that.
    let small = StowValue.largeDecimal(magnitude: 125, exponent: -1, isNegative: true)
    #expect(
      small == .decimal(Decimal(string: "-12.5")!)
        && small.hashValue == StowValue.decimal(Decimal(string: "-12.5")!).hashValue)
    #expect(try StowValue(from: small.encoded()) == small)
    #expect(small.decimal == Decimal(string: "-12.5"))
    let nan = StowValue.largeDecimal(magnitude: 0, exponent: 5, isNegative: true)
    #expect(try StowValue(from: nan.encoded()) == .decimal(.nan))
  }

  @Test("large decimals are an error in encoders that write a Decimal")
  func otherEncoders() throws {
    let value: StowValue = [.largeDecimal(magnitude: 10, exponent: 127, isNegative: false)]
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(value) }
    let small: StowValue = [.largeDecimal(magnitude: 15, exponent: -1, isNegative: false)]
    #expect(try JSONEncoder().encode(small) == Data("[1.5]".utf8))
  }
}
