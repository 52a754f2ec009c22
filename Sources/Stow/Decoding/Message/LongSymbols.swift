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
    /// Where the first symbol stands that has these bytes.
    let first: TextLocation
  }

  /// By where a symbol stands.
  private var texts: [TextLocation: Text] = [:]
  /// By the hash of a symbol: where the first stands that has it.
  private var firsts: [UInt64: TextLocation] = [:]
  /// By the address of its characters, which copies of a string share: the symbol that a string was made of.
  private var symbols: [UnsafePointer<UInt8>: Int] = [:]

  mutating func removeAll() {
    if !texts.isEmpty { (texts, firsts) = ([:], [:]) }
    if !symbols.isEmpty { symbols = [:] }
  }

  /// Notes the string that was made of a symbol, and stays as long as the message.
  mutating func note(_ string: String, symbol: Int) {
    if let address = string.address { symbols[address] = symbol }
  }

  func symbol(madeAs string: String) -> Int? { string.address.flatMap { symbols[$0] } }

  /// - Parameter isSame: Whether the symbol at another place has the same bytes.
  mutating func text(_ text: LocatedText, isSame: (TextLocation) -> Bool) -> Text {
    if let known = texts[text.location] { return known }
    let hash = text.hash
    let first = firsts[hash].flatMap { isSame($0) ? $0 : nil } ?? text.location
    if firsts[hash] == nil { firsts[hash] = first }
    let result = Text(hash: hash, first: first)
    texts[text.location] = result
    return result
  }
}

extension String {
  /// Where its characters are; nil if they are not in one place.
  fileprivate var address: UnsafePointer<UInt8>? {
    utf8.withContiguousStorageIfAvailable { $0.baseAddress } ?? nil
  }
}
