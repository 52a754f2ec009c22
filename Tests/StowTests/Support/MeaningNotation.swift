import Foundation

/// The notation of `Conformance/README.md`: JSON, with what JSON lacks as objects of one key that begins with "$".
extension Meaning {
  struct NotInNotation: Error {
    let text: JSONText
  }

  init(notation: String) throws {
    try self.init(JSONText(parsing: notation))
  }

  private init(_ text: JSONText) throws {
    switch text {
    case .literal("null"): self = .null(level: 0)
    case .literal(let word): self = .bool(word == "true")
    case .number(let digits): self = try Self.number(digits, text)
    case .string(let string): self = .text(string)
    case .array(let elements): self = .array(try elements.map { try Meaning($0) })
    case .object(let entries):
      if entries.count == 1, let special = try Self.special(entries[0].key, entries[0].value) {
        self = special
      } else {
        self = .object(MeaningObject(try Self.entries(text)))
      }
    }
  }

  private static func number(_ digits: String, _ text: JSONText) throws -> Meaning {
    if digits.contains(where: { ".eE".contains($0) }), let value = Double(digits) { return .double(value) }
    if let value = Int128(digits) { return .integer(value) }
    if let value = UInt128(digits) { return .unsigned(value) }
    throw NotInNotation(text: text)
  }

  private static func special(_ key: String, _ value: JSONText) throws -> Meaning? {
    switch (key, value) {
    case ("$nil", .number(let level)): Int(level).map { .null(level: $0) }
    case ("$bits", .string(let digits)): bits(digits)
    case ("$repeat", .array(let parts)): repeated(parts)
    case ("$data", .string(let hex)): .data(try VectorFile.bytes(hex))
    case ("$date", _): try date(value)
    case ("$uuid", .string(let text)): UUID(uuidString: text).map { .uuid($0) }
    case ("$url", .string(let text)): .url(text)
    case ("$decimal", _): decimal(value)
    case ("$A", _): .object(MeaningObject(try entries(value), keys: .fixed(0)))
    case ("$B", _): .object(MeaningObject(try entries(value), keys: .fixed(1)))
    case ("$C", _): .object(MeaningObject(try entries(value), keys: .fixed(2)))
    case ("$AB", _): .object(MeaningObject(try entries(value), keys: .inherited))
    case ("$nothing", _): .object(MeaningObject([], keys: .nothing))
    default: nil
    }
  }

  private static func entries(_ text: JSONText) throws -> [(key: String, value: Meaning?)] {
    guard case .object(let entries) = text else { throw NotInNotation(text: text) }
    return try entries.map { entry in
      if case .object(let inner) = entry.value, inner.map(\.key) == ["$absent"] { return (entry.key, nil) }
      return (entry.key, try Meaning(entry.value))
    }
  }

  private static func bits(_ digits: String) -> Meaning? {
    digits.count == 8
      ? UInt32(digits, radix: 16).map { .singleNaN(bits: $0) }
      : UInt64(digits, radix: 16).map { .float(bits: $0) }
  }

  private static func repeated(_ parts: [JSONText]) -> Meaning? {
    guard parts.count == 2, case .string(let text) = parts[0], case .number(let count) = parts[1] else { return nil }
    return Int(count).map { .text(String(repeating: text, count: $0)) }
  }

  private static func date(_ seconds: JSONText) throws -> Meaning? {
    guard case .float(let bits) = try Meaning(seconds) else { return nil }
    return .date(seconds: bits)
  }

  private static func decimal(_ value: JSONText) -> Meaning? {
    guard case .array(let parts) = value, parts.count == 2, case .number(let digits) = parts[0],
      case .number(let exponent) = parts[1], let exponent = Int(exponent),
      let magnitude = UInt128(digits.drop { $0 == "-" })
    else { return .decimal(.nan) }
    // A string is reduced, an integer is not.
    let significand = UInt64(exactly: magnitude).map { Decimal($0) } ?? Decimal(string: "\(magnitude)")
    let isNegative = digits.hasPrefix("-")
    let result = significand.map { Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: $0) }
    if let result, !result.isNaN { return .decimal(result) }
    return Int8(exactly: exponent).map {
      .largeDecimal(.largeDecimal(magnitude: magnitude, exponent: $0, isNegative: isNegative))
    }
  }
}
