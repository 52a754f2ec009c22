import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What files that are not messages look like, and what to do with them. The library recognizes some by their
/// beginning; texts are recognized here.
enum Advice {
  /// How many bytes of a file are looked at.
  private static let most = 4096

  /// Returns what bytes that are not a valid message look like, and what to do with them; nil if that is not
  /// known.
  static func on(_ data: Data) -> (name: String, remedy: String)? {
    if let name = data.withUnsafeBytes({ Resemblance.of($0) }) {
      if name == "JSON" { return (name, ": stowtool from-json makes a message of it") }
      return (name, name.hasSuffix(" file") ? ": unpack it first" : "")
    }
    let isWhole = data.count <= most
    let start = data.prefix(most)
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let text = start.filter { !isSpace($0) }
    guard text.count >= 2, !start.contains(where: { $0 < 0x20 && !isSpace($0) }) else { return nil }
    if isHexadecimal(text) { return ("bytes in hexadecimal", ": xxd -r -p makes a file of them") }
    if isBase64(text, isWhole) { return ("Base64", ": base64 -d makes a file of it") }
    return String(bytes: isWhole ? start : start.dropLast(4), encoding: .utf8) == nil ? nil : ("text", "")
  }

  private static func isHexadecimal(_ text: Data) -> Bool {
    text.count.isMultiple(of: 2) && text.allSatisfy { $0 < 0x80 && Character(Unicode.Scalar($0)).isHexDigit }
  }

  /// The letters of Base64 in both of its alphabets.
  private static let alphabet = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_".utf8)

  private static func isBase64(_ text: Data, _ isWhole: Bool) -> Bool {
    let letters = text.reversed().drop { $0 == UInt8(ascii: "=") }
    return text.count >= 8 && text.count - letters.count <= 2 && (!isWhole || text.count.isMultiple(of: 4))
      && letters.allSatisfy { alphabet.contains($0) }
  }
}
