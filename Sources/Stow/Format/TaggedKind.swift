/// A kind of value: what errors call it, its tags, and how a value with one of them is skipped.
///
/// Each kind has a file of its own, which says all about its bytes; `Tag.kinds` lists them.
struct TaggedKind: Sendable {
  let name: String
  /// How a value with a tag is skipped; nil for the tags of other kinds.
  let extent: @Sendable (_ tag: UInt8) -> Extent?

  init(_ name: String, extent: @escaping @Sendable (_ tag: UInt8) -> Extent?) {
    self.name = name
    self.extent = extent
  }
}

/// How many bytes a value takes, or where the value says that: one byte for each tag.
struct Extent {
  let code: UInt8

  /// So many bytes, tag included: 1 to 127.
  static func fixed(_ size: UInt8) -> Extent { Extent(code: size) }
  /// A length, and as many bytes.
  static let length = Extent(code: 0)
  /// A scale byte, the low half of which is the number of bytes behind it.
  static let scale = Extent(code: 0x80)
  /// The same, and one more byte.
  static let scaleAndByte = Extent(code: 0x81)
  /// A uint.
  static let uint = Extent(code: 0x82)
  /// A uint, a length, and as many bytes.
  static let uintAndLength = Extent(code: 0x83)
  /// A string value.
  static let string = Extent(code: 0x84)
  /// No value has the tag.
  static let none = Extent(code: 0xFF)
}
