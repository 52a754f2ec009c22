import Stow

/// Checks whether bytes are UTF-8 without making a string of them: a long one would take as much memory
/// again.
enum UTF8Check {
  /// Returns where the first bytes are that are not UTF-8; nil if all are.
  static func fault(_ reader: ByteReader, _ bytes: Range<Int>) -> Int? {
    var offset = bytes.lowerBound
    while offset < bytes.upperBound {
      guard let size = scalarSize(reader, offset, bytes.upperBound) else { return offset }
      offset += size
    }
    return nil
  }

  private static func scalarSize(_ reader: ByteReader, _ offset: Int, _ end: Int) -> Int? {
    guard let first = try? reader.byte(at: offset) else { return nil }
    if first < 0x80 { return 1 }
    let size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0
    guard size > 0, size <= end - offset, let second = try? reader.byte(at: offset + 1) else { return nil }
    // Excludes surrogates, scalars beyond the last one, and overlong forms.
    let range: ClosedRange<UInt8> =
      switch first {
      case 0xE0: 0xA0...0xBF
      case 0xED: 0x80...0x9F
      case 0xF0: 0x90...0xBF
      case 0xF4: 0x80...0x8F
      default: 0x80...0xBF
      }
    guard range.contains(second) else { return nil }
    for index in 2..<max(2, size) {
      guard let byte = try? reader.byte(at: offset + index), byte & 0xC0 == 0x80 else { return nil }
    }
    return size
  }
}
