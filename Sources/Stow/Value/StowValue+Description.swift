#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension StowValue: CustomStringConvertible {
  /// The value in diagnostic notation on one line: `{"name": "Ada", "id": uuid"…", "level": 4.0}`.
  ///
  /// Like JSON, but exact (Format/Notation.md): StowNotation reads an equal value. Takes time in proportion to the value.
  public var description: String {
    var text = ""
    describe(to: &text)
    return text
  }

  private func describe(to text: inout String) {
    switch self {
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += ", " }
        element.describe(to: &text)
      }
      text += "]"
    case .object(let object):
      text += "{"
      for (index, (key, value)) in object.enumerated() {
        if index > 0 { text += ", " }
        text += Notation.quoted(key) + ": "
        value.describe(to: &text)
      }
      text += "}"
    default: describeScalar { word, _ in text += word }
    }
  }

  /// Passes the words of a scalar to `put`, one after the other, with the kind of each; nil for parentheses.
  package func describeScalar(_ put: (_ word: String, _ part: Notation.Part?) -> Void) {
    func putQuoted(_ kind: String, _ content: String) {
      put(kind, .kind)
      put(Notation.quoted(content), .string)
    }
    switch self {
    case .null: put("null", .word)
    case .nestedNull(let level): put(level > 0 ? "null(\(min(level, 255)))" : "null", .word)
    case .bool(let value): put("\(value)", .word)
    case .integer(let value): put("\(value)", .number)
    case .unsignedInteger(let value): put("\(value)", .number)
    case .double(let value): put(Notation.text(of: value), .number)
    case .float(let value): put(Notation.text(of: value), .number)
    case .string(let value): put(Notation.quoted(value), .string)
    case .data(let value): putQuoted("data", value.base64EncodedString())
    case .date(let value):
      let seconds = value.timeIntervalSinceReferenceDate
      if let text = NotationDate.text(ofSeconds: seconds) { return putQuoted("date", text) }
      put("date", .kind)
      put("(", nil)
      put(Notation.text(of: seconds), .number)
      put(")", nil)
    case .uuid(let value): putQuoted("uuid", value.uuidString)
    case .url(let value): putQuoted("url", value)
    case .decimal(let value): putQuoted("decimal", Notation.text(of: DecimalParts(value)))
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      let parts = DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
      putQuoted("decimal", Notation.text(of: parts))
    case .array, .object: preconditionFailure("a container is not a scalar")
    }
  }
}

/// The words of diagnostic notation.
package enum Notation {
  package enum Part: Sendable { case key, string, number, word, kind, folded }

  package static let notANumber = "NaN"

  /// The letter that follows a backslash, for each scalar that is escaped by one.
  static let escapes: [(scalar: Unicode.Scalar, letter: Unicode.Scalar)] = [
    ("\"", "\""), ("\\", "\\"), ("\n", "n"), ("\r", "r"), ("\t", "t"),
  ]

  /// Returns a string in quotes, with escapes for what is invisible or could move the text around it.
  @inline(never)
  package static func quoted(_ string: String) -> String {
    quoted(string) { isEscaped($0) ? padded(String($0.value, radix: 16), 4) : nil }
  }

  /// Returns whether a scalar is a control character, a direction mark, a line separator or the byte order mark.
  static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}",
      "\u{2066}"..."\u{2069}", "\u{FEFF}":
      true
    default: false
    }
  }

  /// - Parameter number: Returns what follows `\u` for a scalar that is escaped so; nil for others.
  static func quoted(_ string: String, number: (Unicode.Scalar) -> String?) -> String {
    var result = "\""
    result.reserveCapacity(string.utf8.count + 2)
    for scalar in string.unicodeScalars {
      if let letter = escapes.first(where: { $0.scalar == scalar })?.letter {
        result += "\\\(letter)"
      } else if let number = number(scalar) {
        result += "\\u" + number
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Returns the text of a floating-point number, exact to the bit, and distinct from that of an integer.
  package static func text(of value: Double) -> String {
    // `description` writes an exponent from here on, and the notation only from 10^16 on.
    if value.magnitude > 0x1p53, value.magnitude < 1e16 { return "\(Int64(value)).0" }
    guard value.isNaN else { return value.description }
    return value.bitPattern == Double.nan.bitPattern ? "nan" : nan(value.bitPattern)
  }

  static func text(of value: Float) -> String { value.isNaN ? nan(value.bitPattern) : text(of: Double(value)) }

  private static func nan<Bits: FixedWidthInteger>(_ bits: Bits) -> String {
    "nan(0x" + padded(String(bits, radix: 16), Bits.bitWidth / 4) + ")"
  }

  /// Returns the text of a decimal number: with a point, or with an exponent if the point would be far away.
  static func text(of parts: DecimalParts) -> String {
    if parts.magnitude == 0, parts.isNegative { return notANumber }
    let digits = String(parts.magnitude)
    let decimals = -Int(parts.exponent)
    let sign = parts.isNegative ? "-" : ""
    if decimals == 0 { return sign + digits }
    guard (1...20).contains(decimals) else { return "\(sign)\(digits)e\(parts.exponent)" }
    let padded = padded(digits, decimals + 1)
    return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
  }

  package static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  fileprivate static func padded(_ digits: String, _ width: Int) -> String {
    String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// Dates as text of ISO 8601, in UTC: the shortest decimal of the seconds, so that reading it rounds to the same bits.
package enum NotationDate {
  package static let secondsPerDay: Int64 = 86_400

  /// Returns the text of a date some seconds after 2001-01-01; nil if no text gives the same bits back.
  static func text(ofSeconds seconds: Double) -> String? {
    // The years of four digits.
    let range = Double(days(0, 1, 1)) * 86_400..<Double(days(10_000, 1, 1)) * 86_400
    guard range.contains(seconds) else { return nil }
    let decimal = Array(seconds.description.utf8)
    guard let point = decimal.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    var fraction = Array(decimal[(point + 1)...])
    guard fraction.allSatisfy(Notation.isDigit) else { return nil }
    if fraction == [UInt8(ascii: "0")] { fraction = [] }
    var whole = Int64(seconds)
    if seconds.sign == .minus {
      // Text expresses neither negative zero nor a fraction to subtract.
      if seconds == 0 { return nil }
      if !fraction.isEmpty {
        whole -= 1
        complement(&fraction)
      }
    }
    let time = ((whole % secondsPerDay) + secondsPerDay) % secondsPerDay
    let (year, month, day) = date(ofDay: Int((whole - time) / secondsPerDay))
    let clock = "\(padded(Int(time / 3600), 2)):\(padded(Int(time / 60 % 60), 2)):\(padded(Int(time % 60), 2))"
    let decimals = fraction.isEmpty ? "" : "." + String(decoding: fraction, as: UTF8.self)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock)\(decimals)Z"
  }

  private static func padded(_ number: Int, _ width: Int) -> String { Notation.padded(String(number), width) }

  /// Replaces the digits of a fraction other than zero by those of one minus the fraction.
  package static func complement(_ fraction: inout [UInt8]) {
    let (zero, nine) = (UInt8(ascii: "0"), UInt8(ascii: "9"))
    let last = fraction.lastIndex { $0 != zero } ?? 0
    for index in 0..<last { fraction[index] = nine - (fraction[index] - zero) }
    fraction[last] = zero + (nine - fraction[last]) + 1
  }

  // MARK: the calendar

  package static func daysOf(_ month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns the days from 2001-01-01 to a day of the years 0 to 10000.
  package static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    // Leap years before this one: year 0 is one.
    let leaps = year == 0 ? 0 : (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1
    return year * 365 + leaps + (1..<month).reduce(0) { $0 + daysOf($1, year) } + day - 1 - 730_851
  }

  /// Returns the date of a day that is counted from 2001-01-01. Years 0 to 9999.
  private static func date(ofDay count: Int) -> (year: Int, month: Int, day: Int) {
    // Never too late, and at most a year too early.
    var year = max(0, min(9999, (count + 730_851) * 400 / 146_097 - 1))
    while year < 9999, days(year + 1, 1, 1) <= count { year += 1 }
    var month = 1
    while month < 12, days(year, month + 1, 1) <= count { month += 1 }
    return (year, month, count - days(year, month, 1) + 1)
  }
}
