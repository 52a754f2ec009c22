import Stow

/// What stands in front of every block (FORMAT.md, "Blocks"):
///
/// ```
///  0   1   2   3   4           8                   16                  24          28          32
///  7F  02  01  00  CRC-32C     identity of file    first record        index       context
///          │   └ flags         └ of the other 28 bytes
///          └ version
/// ```
struct BlockHead: Sendable, Hashable {
  /// Eight random bytes, the same in all blocks of a file.
  let identity: UInt64
  /// The number of the first record that begins in the block.
  let firstRecord: Int
  /// The number of the block, from 0 on.
  let index: Int
  /// The context that the records rely on; 0 if they rely on none.
  var context: UInt32 = 0

  static let size = 32
  static let blockSize = 65_536
  private static let beginning: [UInt8] = [0x7F, 0x02, 0x01, 0x00]
  private static let checksumOffset = 4
  /// Numbers of records stay below this, so that sums of two do not overflow.
  static let recordLimit = Int.max / 2

  init(identity: UInt64, firstRecord: Int, index: Int) {
    self.identity = identity
    self.firstRecord = firstRecord
    self.index = index
  }

  /// The head at the front of `bytes`; nil if there is none, or if it is damaged.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.size, bytes.starts(with: Self.beginning), Self.hasChecksum(bytes),
      let firstRecord = Int(exactly: bytes.littleEndian(at: 16, size: 8)), firstRecord < Self.recordLimit,
      let index = Int(exactly: bytes.littleEndian(at: 24, size: 4))
    else { return nil }
    self.init(identity: bytes.littleEndian(at: 8, size: 8), firstRecord: firstRecord, index: index)
    context = UInt32(truncatingIfNeeded: bytes.littleEndian(at: 28, size: 4))
  }

  /// The version of a head that is whole, but of a later version than this; nil if it is none.
  static func laterVersion(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= size, bytes.starts(with: beginning[..<2]), hasChecksum(bytes),
      !bytes.starts(with: beginning)
    else { return nil }
    return Int(bytes[2])
  }

  /// Whether `bytes` may be what is left of the first head of a file, if a crash tore the write.
  static func mayBeTorn(_ bytes: [UInt8]) -> Bool {
    bytes.count <= size
      && (bytes.allSatisfy { $0 == 0 } || bytes.prefix(4).elementsEqual(beginning.prefix(bytes.count)))
  }

  var bytes: [UInt8] {
    var bytes = Self.beginning
    bytes.appendLittleEndian(UInt32(0))
    bytes.appendLittleEndian(identity)
    bytes.appendLittleEndian(UInt64(firstRecord))
    bytes.appendLittleEndian(UInt32(truncatingIfNeeded: index))
    bytes.appendLittleEndian(context)
    bytes.replaceLittleEndian(at: Self.checksumOffset, with: Self.checksum(of: bytes))
    return bytes
  }

  private static func hasChecksum(_ bytes: [UInt8]) -> Bool {
    bytes.littleEndian(at: checksumOffset, size: 4) == UInt64(checksum(of: bytes))
  }

  static func checksum(of bytes: [UInt8]) -> UInt32 {
    var checksum = Checksum()
    bytes[..<checksumOffset].withUnsafeBytes { checksum.update($0) }
    bytes[(checksumOffset + 4)..<size].withUnsafeBytes { checksum.update($0) }
    return checksum.value
  }
}
