/// The parts of messages that claim to be much.
enum Bomb {
  /// A length or a number, in the form for all of them.
  static func number(_ value: Int) -> [UInt8] { [0xFC] + (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

  /// The same in the form of the fewest bytes.
  static func shortNumber(_ value: Int) -> [UInt8] {
    if value < 224 { return [UInt8(value)] }
    if value < 6_368 { return [UInt8(0xE0 + (value - 224) >> 8), UInt8((value - 224) & 0xFF)] }
    guard value < 268_512 else { return number(value) }
    let rest = value - 6_368
    return [UInt8(0xF8 + rest >> 16), UInt8(rest & 0xFF), UInt8(rest >> 8 & 0xFF)]
  }

  /// A text of more than 63 bytes.
  static func text(_ bytes: [UInt8]) -> [UInt8] { [0xE1] + shortNumber(bytes.count) + bytes }

  static func sized(_ tag: UInt8, _ body: [UInt8]) -> [UInt8] { [tag] + number(body.count) + body }

  static func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    [UInt8](repeatElement(bytes, count: count).joined())
  }

  /// A prelude of one symbol.
  static func prelude(symbol: [UInt8], shapes: [UInt8] = [0]) -> [UInt8] { [0x1F, 1] + text(symbol) + shapes }

  /// A plain text for each number: a character that no packed text has, and five letters.
  static func key(_ number: Int) -> [UInt8] {
    [0x86, UInt8(ascii: "#")] + [16, 12, 8, 4, 0].map { UInt8(ascii: "a") + UInt8(number >> $0 & 15) }
  }

  /// A prelude with a shape of many keys.
  static func prelude(keys: Int) -> [UInt8] { [0x1F, 0, 1] + number(keys) + (0..<keys).flatMap { key($0) } }
}
