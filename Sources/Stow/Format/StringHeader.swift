/// What precedes the bytes of a string: its tag, and its length if that is one byte beside the tag. Of longer strings
/// there is none here.
enum StringHeader {
  /// Longer strings have a length of more bytes.
  static let limit = Varint.oneByteLimit

  @inline(__always)
  static func size(_ length: Int) -> Int { length < Tag.shortStringLimit ? 1 : length < limit ? 2 : 0 }

  /// Writes the header, and perhaps a byte behind it.
  @inline(__always)
  static func write(_ length: Int, to target: UnsafeMutableRawPointer) {
    let size = UInt16(truncatingIfNeeded: length)
    let isShort = length < Tag.shortStringLimit
    let header = isShort ? UInt16(Tag.shortString) &+ size : UInt16(Tag.string) | size &<< 8
    target.storeBytes(of: header.littleEndian, as: UInt16.self)
  }
}
