import Stow

/// How records follow each other on a connection (Format/Logs.md, "Streams").
///
///      7F 03  version       once, in front
///      length ┊ record ┊ CRC-32C       for every record
///      00                   the definitions are forgotten
enum StreamFrame {
  /// What a stream begins with: its kind and its version.
  static let head: [UInt8] = [0x7F, 0x03, 0x01]
  /// What stands where the length of a record does, when the definitions are forgotten.
  static let forgetting: UInt8 = 0
  static let checksumSize = 4
  /// The most bytes of preludes since the definitions were forgotten last.
  static let mostDefinitions = 1 << 20

  /// The checksum of a record: of its number among all of the stream, and its bytes.
  static func checksum(of record: UnsafeRawBufferPointer, number: UInt64) -> UInt32 {
    var checksum = Checksum()
    checksum.update(number)
    checksum.update(record)
    return checksum.value
  }
}
