#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What bytes look like that are no message.
enum Resemblance {
  /// What a file of another format begins with.
  private static let beginnings: [(bytes: [UInt8], name: String)] = [
    ([0x1F, 0x8B], "a gzip file: unpack it first"),
    ([0x28, 0xB5, 0x2F, 0xFD], "a Zstandard file: unpack it first"),
    ([0x50, 0x4B, 0x03, 0x04], "a ZIP file: unpack it first"),
    ([0xD9, 0xD9, 0xF7], "CBOR"),
    (Array("bplist00".utf8), "a binary property list"),
    (Array("SQLite format 3\0".utf8), "an SQLite database"),
    (Array("<?xml".utf8), "XML"),
  ]

  /// How much of a file is looked at.
  private static let most = 4096

  /// What bytes that are no valid message look like; nil if that is not known.
  static func of(_ data: Data) -> String? {
    if let known = beginnings.first(where: { data.starts(with: $0.bytes) }) { return known.name }
    let isWhole = data.count <= most
    let start = data.prefix(most)
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let text = start.filter { !isSpace($0) }
    guard text.count >= 2, !start.contains(where: { $0 < 0x20 && !isSpace($0) }) else { return nil }
    if isHexadecimal(text) { return "bytes in hexadecimal: xxd -r -p makes a file of them" }
    if isJSON(text) { return "JSON: stowtool from-json makes a message of it" }
    if isBase64(text, isWhole) { return "Base64: base64 -d makes a file of it" }
    return String(bytes: isWhole ? start : start.dropLast(4), encoding: .utf8) == nil ? nil : "text"
  }

  private static func isHexadecimal(_ text: Data) -> Bool {
    text.count.isMultiple(of: 2) && text.allSatisfy { $0 < 0x80 && Character(Unicode.Scalar($0)).isHexDigit }
  }

  /// Whether a text without spaces begins as JSON's objects and arrays do.
  private static func isJSON(_ text: Data) -> Bool {
    let second = text[text.startIndex + 1]
    switch text[text.startIndex] {
    case UInt8(ascii: "{"): return "\"}".utf8.contains(second)
    case UInt8(ascii: "["): return "\"[]{-0123456789tfn".utf8.contains(second)
    default: return false
    }
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
