#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension MessageMeaning {
  /// A text in ASCII that is equal for two meanings exactly if they are the same. Other decoders can write it, too.
  ///
  /// Floats and dates are their bits. A string is its UTF-8, with `\` and two digits for each byte that is no printable
  /// ASCII. Entries are in the order of their texts. Zeros at the end of a decimal number, which `Decimal` need not
  /// keep, are in its exponent, and all zeros are one.
  public var text: String {
    var writer = MeaningTextWriter()
    writer.write(self)
    return writer.text
  }
}

private struct MeaningTextWriter {
  private(set) var text = ""

  mutating func write(_ meaning: MessageMeaning) {
    switch meaning {
    case .null(let level): text += "nil \(level)"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += value.description
    case .unsigned(let value): text += value.description
    case .float(let bits): text += "float \(hex(bits))"
    case .singleNaN(let bits): text += "nan \(hex(bits))"
    case .string(let value): write(value)
    case .data(let value): text += "data \(hex(value))"
    case .date(let bits): text += "date \(hex(bits))"
    case .uuid(let value): text += "uuid \(withUnsafeBytes(of: value.uuid) { hex($0) })"
    case .url(let value):
      text += "url "
      write(value)
    case .decimal(let value): write(value)
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      write(isNegative: isNegative, magnitude, Int(exponent))
    case .array(let elements): write(elements)
    case .object(let entries): write(entries)
    }
  }

  private mutating func write(_ string: String) {
    text += "\""
    for byte in string.utf8 {
      if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "\\\(hex(byte))"
      }
    }
    text += "\""
  }

  private mutating func write(_ value: Decimal) {
    guard !value.isNaN, let digits = UInt128(value.significand.magnitude.description) else {
      text += "decimal NaN"
      return
    }
    write(isNegative: value < 0, digits, digits == 0 ? 0 : value.exponent)
  }

  private mutating func write(isNegative: Bool, _ magnitude: UInt128, _ exponent: Int) {
    var (digits, exponent) = (magnitude, exponent)
    while digits != 0, digits.isMultiple(of: 10) {
      digits /= 10
      exponent += 1
    }
    text += "decimal \(isNegative ? "-" : "")\(digits)e\(exponent)"
  }

  private mutating func write(_ elements: [MessageMeaning]) {
    text += "["
    for (index, element) in elements.enumerated() {
      if index > 0 { text += ", " }
      write(element)
    }
    text += "]"
  }

  private mutating func write(_ entries: [(key: String, value: MessageMeaning)]) {
    let texts = entries.map { entry in
      var writer = MeaningTextWriter()
      writer.write(entry.key)
      writer.text += ": "
      writer.write(entry.value)
      return writer.text
    }
    text += "{\(texts.sorted().joined(separator: ", "))}"
  }
}

private func hex<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
  let digits = String(number, radix: 16, uppercase: true)
  return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
}

private func hex(_ bytes: some Sequence<UInt8>) -> String {
  var text = ""
  for byte in bytes { text += hex(byte) }
  return text
}
