/// The text of what a value means, as the reader in Python prints it too (`meaning_text.py`).
struct NodeText {
  private(set) var bytes: [UInt8] = []

  init(_ node: Node) { write(node) }

  private mutating func write(_ node: Node) {
    switch node {
    case .null(let level): write("nil \(min(level, 4))")
    case .bool(let value): write(value ? "true" : "false")
    case .integer(let value): write(value.description)
    case .wideInteger(let parts): write((parts.isNegative ? "-" : "") + parts.magnitude.description)
    case .double(let bits): write(double: bits)
    case .floatNaN(let bits): write(nan: bits)
    case .string(let string), .symbol(_, let string): write(quoted: string)
    case .data(let data):
      write("data ")
      for byte in data { write(hex: UInt64(byte), digits: 2) }
    case .date(let bits):
      write("date ")
      write(hex: bits, digits: 16)
    case .uuid(let bits):
      write("uuid ")
      for index in 0..<16 { write(hex: UInt64(truncatingIfNeeded: bits >> (8 * index)) & 0xFF, digits: 2) }
    case .url(let text):
      write("url ")
      write(text)
    case .decimal(let parts): write(parts)
    case .array(let elements), .packed(let elements): write(elements)
    case .rows(let rows): write(rows)
    case .map(let entries): write(entries.map { ($0.key.name, $0.value) })
    case .record(_, _, let entries):
      write(entries.compactMap { entry in entry.value.map { (entry.name, $0) } })
    }
  }

  private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func write(hex value: UInt64, digits: Int) {
    for digit in (0..<digits).reversed() {
      let nibble = UInt8(truncatingIfNeeded: value >> (4 * digit)) & 15
      bytes.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10)
    }
  }

  /// Of a NaN that a `Float` holds nobody can tell which of the formats it had.
  private mutating func write(double bits: UInt64) {
    let isQuietNaN = bits & Double.nan.bitPattern == Double.nan.bitPattern
    if isQuietNaN, bits & 0x1FFF_FFFF == 0 {
      write(nan: UInt32(truncatingIfNeeded: (bits >> 63) << 31 | bits >> 29 & 0x7FFF_FFFF))
    } else {
      write("float ")
      write(hex: bits, digits: 16)
    }
  }

  private mutating func write(nan bits: UInt32) {
    write("nan ")
    write(hex: UInt64(bits | Float.nan.bitPattern), digits: 8)
  }

  private mutating func write(quoted string: String) {
    write("\"")
    for byte in string.utf8 {
      if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        bytes.append(byte)
      } else {
        write("\\")
        write(hex: UInt64(byte), digits: 2)
      }
    }
    write("\"")
  }

  private mutating func write(_ parts: DecimalParts) {
    var (digits, exponent) = (parts.magnitude, Int(parts.exponent))
    if digits == 0 {
      write(parts.isNegative ? "decimal NaN" : "decimal 0e0")
      return
    }
    while digits % 10 == 0 {
      digits /= 10
      exponent += 1
    }
    write("decimal \(parts.isNegative ? "-" : "")\(digits)e\(exponent)")
  }

  private mutating func write(_ elements: [Node]) {
    write("[")
    for (index, element) in elements.enumerated() {
      if index > 0 { write(", ") }
      write(element)
    }
    write("]")
  }

  private mutating func write(_ rows: Node.Rows) {
    write(
      rows.cells.map { cells in
        guard let shape = rows.shape else { return .array(cells) }
        let entries = zip(shape.names, cells).map { (name: $0, value: Optional($1)) }
        return .record(shape: shape.number, isPartial: false, entries)
      })
  }

  private mutating func write(_ entries: [(name: String, value: Node)]) {
    let texts = entries.map { entry in
      var text = NodeText(.string(entry.name))
      text.write(": ")
      text.write(entry.value)
      return text.bytes
    }
    write("{")
    for (index, text) in texts.sorted(by: { $0.lexicographicallyPrecedes($1) }).enumerated() {
      if index > 0 { write(", ") }
      bytes.append(contentsOf: text)
    }
    write("}")
  }
}
