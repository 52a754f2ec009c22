/// The long symbols that keys refer to: what has been found out about each, once for all the keys.
///
/// A key takes a byte where its symbol may take half of the message. Whatever looks at all of a symbol for every key
/// would take time in proportion to the square of the message.
struct LongSymbols {
  /// From so many bytes on, a symbol is long.
  static let shortest = KeyText.limit

  /// What follows from the bytes of a symbol.
  struct Text {
    let hash: UInt64
    let isASCII: Bool
  }

  /// By where a symbol stands.
  private var texts: [TextLocation: Text] = [:]
  /// By its number.
  private var names: [Int: KeyName] = [:]
  private var firstNames: [KeyName: Int] = [:]
  /// By the address of its characters, which copies of a string share: the symbol that a string was made of.
  private var symbols: [UnsafePointer<UInt8>: Int] = [:]

  mutating func removeAll() {
    if !texts.isEmpty { texts = [:] }
    if !names.isEmpty { (names, firstNames) = ([:], [:]) }
    if !symbols.isEmpty { symbols = [:] }
  }

  /// Notes the string that was made of a symbol, and stays as long as the message.
  mutating func note(_ string: String, symbol: Int) {
    if let address = string.address { symbols[address] = symbol }
  }

  func symbol(madeAs string: String) -> Int? { string.address.flatMap { symbols[$0] } }

  mutating func text(_ text: LocatedText) -> Text {
    if let known = texts[text.location] { return known }
    let result = Text(hash: text.hash, isASCII: text.isASCII)
    texts[text.location] = result
    return result
  }

  /// Returns the name that a symbol is, with the number of the first symbol that is the same string.
  mutating func name(_ string: String, ofSymbol symbol: Int) -> KeyName {
    if let known = names[symbol] { return known }
    let name = KeyName(string)
    let first = firstNames[name] ?? symbol
    if first == symbol { firstNames[name] = symbol }
    let result = KeyName(name, symbol: first)
    names[symbol] = result
    return result
  }
}

/// The string of a key, which was hashed once.
struct KeyName: Hashable {
  let string: String
  /// The first of the long symbols that are this string; nil for other names.
  let symbol: Int?
  private let hash: Int

  init(_ string: String) {
    self.string = string
    symbol = nil
    hash = string.hashValue
  }

  init(_ name: KeyName, symbol: Int) {
    string = name.string
    hash = name.hash
    self.symbol = symbol
  }

  static func == (left: KeyName, right: KeyName) -> Bool {
    guard left.hash == right.hash else { return false }
    if let left = left.symbol, let right = right.symbol { return left == right }
    return left.string == right.string
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension String {
  /// Where its characters are; nil if they are not in one place.
  fileprivate var address: UnsafePointer<UInt8>? {
    utf8.withContiguousStorageIfAvailable { $0.baseAddress } ?? nil
  }
}
