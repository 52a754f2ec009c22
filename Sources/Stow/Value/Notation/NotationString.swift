/// Strings in quotes.
enum NotationString {
  /// A string in quotes. What no one sees, and what could move the text around it, is escaped.
  static func quoted(_ string: String) -> String {
    var result = "\""
    result.reserveCapacity(string.utf8.count + 2)
    if string.utf8.allSatisfy({
      $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }) {
      result += string
    } else {
      for scalar in string.unicodeScalars { append(scalar, to: &result) }
    }
    return result + "\""
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\"": text += "\\\""
    case "\\": text += "\\\\"
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    // Controls, marks of direction, separators of lines and the byte order mark.
    case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}",
      "\u{2066}"..."\u{2069}",
      "\u{FEFF}":
      let digits = String(scalar.value, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    default: text.unicodeScalars.append(scalar)
    }
  }
}
