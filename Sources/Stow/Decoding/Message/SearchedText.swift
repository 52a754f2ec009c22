/// The text of a key that is looked for, as an encoder writes it (FORMAT.md, "Texts").
///
/// Keys are compared with it byte by byte, so that no strings are made.
struct SearchedText: BitwiseCopyable {
  let bytes: UnsafeRawBufferPointer
  /// The first bytes as a word, and the bits of it that count.
  private let word: UInt64
  private let mask: UInt64

  /// Copies the text of a name, for whoever makes this to deallocate.
  init(_ name: String) {
    let text = KeyText.bytes(of: name)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    copy.copyBytes(from: text)
    bytes = UnsafeRawBufferPointer(copy)
    word = text.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    mask = text.count < 8 ? ~(.max << UInt64(8 * text.count)) : .max
  }

  func deallocate() { bytes.deallocate() }

  /// Returns whether this text stands at `offset`.
  @inline(__always)
  func stands(at offset: Int, in reader: ByteReader) -> Bool {
    guard offset <= reader.count &- 8 else { return reader.matches(bytes, at: offset) }
    let found = UInt64(littleEndian: reader.pointer(at: offset).loadUnaligned(as: UInt64.self))
    return (found ^ word) & mask == 0 && (bytes.count <= 8 || reader.matches(bytes, at: offset))
  }
}
