#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value as text for people: JSON, and for the kinds that JSON lacks their name and what they hold.
struct StowValueText {
  private(set) var text = ""

  init(of value: StowValue) { write(value) }

  private mutating func write(_ value: StowValue) {
    switch value {
    case .null: text += "null"
    case .nestedNull(let level): text += level > 0 ? "null(\(level))" : "null"
    case .bool(let value): text += "\(value)"
    case .integer(let value): text += "\(value)"
    case .unsignedInteger(let value): text += "\(value)"
    case .double(let value): text += "\(value)"
    case .float(let value): text += "\(value)"
    case .string(let value): write(quoted: value)
    case .data(let value): write("data", value.base64EncodedString())
    // A date far away has no day that Foundation could name.
    case .date(let value): text += "date(\(value.timeIntervalSinceReferenceDate))"
    case .uuid(let value): write("uuid", value.uuidString)
    case .url(let value): write("url", value)
    case .decimal(let value): text += "decimal(\(value))"
    case .array(let elements):
      write("[", elements, "]") { $0.write($1) }
    case .object(let object):
      write("{", object, "}") {
        $0.write(quoted: $1.key)
        $0.text += ": "
        $0.write($1.value)
      }
    }
  }

  /// Writes some items with commas between.
  private mutating func write<Items: Collection>(
    _ open: String, _ items: Items, _ close: String, each: (inout StowValueText, Items.Element) -> Void
  ) {
    text += open
    for (index, item) in items.enumerated() {
      if index > 0 { text += ", " }
      each(&self, item)
    }
    text += close
  }

  private mutating func write(_ kind: String, _ content: String) {
    text += "\(kind)("
    write(quoted: content)
    text += ")"
  }

  private mutating func write(quoted string: String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\0"..<" ", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
