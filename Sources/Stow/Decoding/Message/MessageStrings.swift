#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The strings, URLs and names that were made of the symbols and shapes of a message so far.
struct MessageStrings {
  /// By the numbers that the message itself gives its symbols; empty as long as none was asked for.
  var symbols: [String?] = []
  /// The URLs of the symbols that were read as one, nil where they are none: few bytes cannot ask for many copies.
  var urls: [Int: URL?] = [:]
  var longSymbols = LongSymbols()
  /// The names of the message's own shapes; empty as long as none was asked for.
  var shapes: [ShapeNames?] = []

  /// Forgets them. Memory is kept for the next message, unless it is much.
  mutating func removeAll() {
    if !symbols.isEmpty { symbols.removeAll(keepingCapacity: symbols.count < 4096) }
    longSymbols.removeAll()
    if !urls.isEmpty { urls = [:] }
    if !shapes.isEmpty { shapes.removeAll(keepingCapacity: shapes.count < 256) }
  }

  /// Returns the URL that a symbol says, or nil if it says none.
  mutating func url(ofSymbol symbol: Int, _ string: String) -> URL? {
    if let known = urls[symbol] { return known }
    let url = URL(string: string)
    urls.updateValue(url, forKey: symbol)
    return url
  }
}
