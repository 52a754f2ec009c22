/// Decimal numbers as text: digits with a point, or with an exponent where the point would stand far away.
enum NotationDecimal {
  private static let notANumber = "NaN"
  /// The most digits behind a point.
  private static let mostDecimals = 20

  static func text(of parts: DecimalParts) -> String {
    if parts.magnitude == 0, parts.isNegative { return notANumber }
    let digits = String(parts.magnitude)
    let decimals = -Int(parts.exponent)
    let sign = parts.isNegative ? "-" : ""
    if decimals == 0 { return sign + digits }
    guard (1...mostDecimals).contains(decimals) else { return "\(sign)\(digits)e\(parts.exponent)" }
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.utf8.count)) + digits
    return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
  }

  /// The number that a text says; nil if it says none, or one that no message holds.
  static func value(of text: String) -> DecimalParts? {
    if text == notANumber { return DecimalParts(isNegative: true, magnitude: 0, exponent: 0) }
    var rest = Substring(text)
    let isNegative = rest.first == "-"
    if isNegative { rest.removeFirst() }
    var exponent = 0
    if let mark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
      guard let number = Int(rest[rest.index(after: mark)...]), abs(number) < 1000 else { return nil }
      exponent = number
      rest = rest[..<mark]
    }
    let parts = rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(NotationNumber.isDigit) }),
      parts[0].utf8.count + rest.utf8.count < 200,
      let magnitude = UInt128(parts.joined())
    else { return nil }
    if parts.count == 2 { exponent -= parts[1].utf8.count }
    return Int8(exactly: exponent).map {
      DecimalParts(isNegative: isNegative && magnitude != 0, magnitude: magnitude, exponent: $0)
    }
  }
}
