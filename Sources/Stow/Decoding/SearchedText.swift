/// The text of a key that is looked for, as an encoder writes it (FORMAT.md, "Texts").
///
/// Keys are compared with it byte by byte, so that no strings are made.
struct SearchedText: BitwiseCopyable {
  let bytes: UnsafeRawBufferPointer
  let isASCII: Bool

  /// To be deallocated by whoever makes it.
  init(_ name: String) {
    let text = KeyText.bytes(of: name)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    copy.copyBytes(from: text)
    bytes = UnsafeRawBufferPointer(copy)
    isASCII = name.utf8.allSatisfy { $0 < 0x80 }
  }

  func deallocate() { bytes.deallocate() }
}
