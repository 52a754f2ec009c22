import Stow

/// The layout of records on a connection (Format/Logs.md, "Streams").
///
///      7F 03  version       once, in front
///      length ┊ record ┊ CRC-32C       for every record
///      00                   the definitions are forgotten
enum StreamFrame {
  /// The beginning of a stream: its kind and its version.
  static let head: [UInt8] = [0x7F, 0x03, 0x01]
  /// The byte in place of a record's length that says that the definitions are forgotten.
  static let forgetting: UInt8 = 0
  static let checksumSize = 4
  /// The most bytes of preludes since the definitions were last forgotten.
  static let mostDefinitions = 1 << 20

  /// Returns the checksum of a record's number in the stream and of its bytes.
  static func checksum(of record: UnsafeRawBufferPointer, number: UInt64) -> UInt32 {
    var checksum = Checksum()
    checksum.update(number)
    checksum.update(record)
    return checksum.value
  }
}
