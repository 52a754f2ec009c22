/// Writes a JSON value without a byte too many: what the size of every other encoding is compared with.
struct MinifiedJSON {
  private(set) var bytes: [UInt8] = []

  /// The number of bytes of a value.
  static func count(_ value: JSONValue) -> Int {
    var writer = MinifiedJSON()
    writer.write(value)
    return writer.bytes.count
  }

  /// Writes a value of any kind.
  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: write("null")
    case .bool(let value): write(value ? "true" : "false")
    case .int(let value): write(String(value))
    case .uint(let value): write(String(value))
    case .double(let value): write(Self.shortest(value))
    case .string(let value): writeQuoted(value)
    case .array(let elements):
      write("[", elements, "]") { $0.write($1) }
    case .object(let members):
      write("{", members, "}") {
        $0.writeQuoted($1.key)
        $0.write(":")
        $0.write($1.value)
      }
    }
  }

  /// Writes some items with commas between.
  private mutating func write<Item>(
    _ open: String, _ items: [Item], _ close: String, each: (inout MinifiedJSON, Item) -> Void
  ) {
    write(open)
    for (index, item) in items.enumerated() {
      if index > 0 { write(",") }
      each(&self, item)
    }
    write(close)
  }

  /// The fewest digits that give the same number, without the `.0` Swift adds to whole ones.
  private static func shortest(_ value: Double) -> String {
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Writes a string with as few escapes as JSON allows.
  private mutating func writeQuoted(_ text: String) {
    write("\"")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): write("\\\"")
      case UInt8(ascii: "\\"): write("\\\\")
      case 0x08: write("\\b")
      case 0x0C: write("\\f")
      case 0x0A: write("\\n")
      case 0x0D: write("\\r")
      case 0x09: write("\\t")
      case 0..<0x20: write("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
      default: bytes.append(byte)
      }
    }
    write("\"")
  }

  /// Writes text as it is.
  private mutating func write(_ text: String) { bytes += text.utf8 }
}
