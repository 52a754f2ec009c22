/// Where a key or a symbol stands: in the message, or in the definitions that it relies on.
///
/// Not an offset, so that nobody reads the message where the definitions are meant.
struct TextLocation: BitwiseCopyable, Hashable {
  /// The offset in the message, or the complement of that in the definitions.
  let bits: Int

  /// - Parameter offset: Where it stands in the message.
  @inline(__always)
  init(_ offset: Int) { bits = offset }

  /// - Parameter bits: What another location has.
  init(bits: Int) { self.bits = bits }

  init(inDefinitions offset: Int) { bits = ~offset }

  @inline(__always)
  var isInMessage: Bool { bits >= 0 }

  /// Where it stands, in the message or the definitions.
  @inline(__always)
  var offset: Int { isInMessage ? bits : ~bits }
}

/// A text, and the bytes that it stands in: those of the message, or those of the definitions.
struct LocatedText {
  let reader: ByteReader
  let text: ByteReader.Text
  let isInMessage: Bool

  var bytes: UnsafeRawBufferPointer { reader.bytes(of: text) }
  var hash: UInt64 { reader.hash(of: text) }
  var size: Int { text.end - text.start }
  var location: TextLocation {
    isInMessage ? TextLocation(text.start) : TextLocation(inDefinitions: text.start)
  }

  func string() throws(FormatError) -> String { try reader.string(of: text) }

  /// Whether the bytes of the text, header included, are `other`.
  func matches(_ other: UnsafeRawBufferPointer) -> Bool { reader.matches(other, at: text.start) }
}
