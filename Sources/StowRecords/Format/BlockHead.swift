import Stow

/// The head of every block (Format/Logs.md, "Blocks"):
///
/// ```
///  0   1   2   3   4           8                   16                  24          28             32
///  7F  02  01  00  CRC-32C     identity of file    first record        index       synchronized
///          │   └ flags         └ of the other 28 bytes                             └ blocks
///          └ version
/// ```
package struct BlockHead: Sendable, Hashable {
  /// Eight random bytes, the same in all blocks of a file.
  package let identity: UInt64
  /// The number of the first record that begins in the block.
  package let firstRecord: Int
  /// The number of the block, from 0 on.
  package let index: Int
  /// How many blocks, from the first one on, were on the disk when this one was begun.
  package let synchronizedBlocks: Int

  package static let size = 32
  package static let blockSize = 65_536
  /// The version of the format of logs.
  package static let version: UInt8 = 1
  private static let beginning: [UInt8] = [0x7F, 0x02, version, 0x00]
  private static let checksumOffset = 4
  /// All numbers, including that of the next record, stay below this, so that sums of two do not overflow.
  static let recordLimit = 1 << 62

  init(identity: UInt64, firstRecord: Int, index: Int, synchronizedBlocks: Int = 0) {
    self.identity = identity
    self.firstRecord = firstRecord
    self.index = index
    self.synchronizedBlocks = synchronizedBlocks
  }

  /// Reads the head at the front of `bytes`; nil if there is no head, or if it is damaged.
  package init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes.prefix(Self.size))
    guard Self.hasChecksum(bytes), bytes.starts(with: Self.beginning),
      let firstRecord = Int(exactly: bytes.littleEndian(at: 16, size: 8)), firstRecord < Self.recordLimit,
      let index = Int(exactly: bytes.littleEndian(at: 24, size: 4)),
      let synchronizedBlocks = Int(exactly: bytes.littleEndian(at: 28, size: 4)), synchronizedBlocks <= index
    else { return nil }
    self.init(
      identity: bytes.littleEndian(at: 8, size: 8), firstRecord: firstRecord, index: index,
      synchronizedBlocks: synchronizedBlocks)
  }

  /// Returns the version in a whole head in front of `block`, if this library does not support it; nil for
  /// all other bytes.
  package static func unsupportedVersion(_ block: [UInt8]) -> Int? {
    let bytes = Array(block.prefix(size))
    guard hasChecksum(bytes), bytes.starts(with: beginning[..<2]), !bytes.starts(with: beginning) else {
      return nil
    }
    return Int(bytes[2])
  }

  var bytes: [UInt8] {
    var bytes = Self.beginning
    bytes.appendLittleEndian(UInt32(0))
    bytes.appendLittleEndian(identity)
    bytes.appendLittleEndian(UInt64(firstRecord))
    bytes.appendLittleEndian(UInt32(truncatingIfNeeded: index))
    bytes.appendLittleEndian(UInt32(truncatingIfNeeded: synchronizedBlocks))
    bytes.replaceLittleEndian(at: Self.checksumOffset, with: Self.checksum(of: bytes))
    return bytes
  }

  private static func hasChecksum(_ bytes: [UInt8]) -> Bool {
    bytes.count >= size && bytes.littleEndian(at: checksumOffset, size: 4) == UInt64(checksum(of: bytes))
  }

  static func checksum(of bytes: [UInt8]) -> UInt32 {
    var checksum = Checksum()
    bytes[..<checksumOffset].withUnsafeBytes { checksum.update($0) }
    bytes[(checksumOffset + 4)..<size].withUnsafeBytes { checksum.update($0) }
    return checksum.value
  }

  /// Returns how many blocks begin in a file of a size.
  static func count(in size: Int) -> Int { size / blockSize + (size % blockSize == 0 ? 0 : 1) }
}
