/// URLs: a tag, and the string that they are (FORMAT.md, "Strings and data").
enum URLs {
  static let tag: UInt8 = 0x1A

  static let kind = TaggedKind("a URL") { $0 == tag ? .string : nil }

  /// Whether a value with the tag may be the string of a URL.
  static func mayHold(_ tag: UInt8) -> Bool { Strings.isString(tag) || Symbols.isSymbol(tag) }
}
