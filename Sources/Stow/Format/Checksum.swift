/// A CRC-32C checksum (Castagnoli) of bytes that may come in parts.
///
/// The polynomial is 1EDC6F41, reflected: bits are taken from the least significant one on, the state begins with all
/// bits set, and is inverted in the end.
package struct Checksum: Sendable, Hashable {
  private var state = UInt32.max

  package init() {}

  package var value: UInt32 { ~state }

  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var checksum = Checksum()
    checksum.update(bytes)
    return checksum.value
  }

  /// Returns the checksums of the first 0, 1, 2 bytes and so on, up to that of all of them.
  package static func ofBeginnings(of bytes: [UInt8]) -> [UInt32] {
    var checksum = Checksum()
    return [checksum.value]
      + bytes.map { byte in
        checksum.update(UInt64(byte), size: 1)
        return checksum.value
      }
  }

  /// Takes in `bytes`, after what was taken in before, in time in proportion to them.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    let count = bytes.count
    Self.tables.withUnsafeBufferPointer { tables in
      guard let tables = tables.baseAddress else { return }
      var index = 0
      // Sixteen bytes at a time, by lookups that do not wait for each other.
      while count &- index >= 16 {
        let first = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        let second = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self))
        state = Self.fold(first ^ UInt64(state), tables + Self.sizeOfEight) ^ Self.fold(second, tables)
        index &+= 16
      }
      while index < count {
        let byte = base.load(fromByteOffset: index, as: UInt8.self)
        state = tables[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state &>> 8)
        index &+= 1
      }
    }
  }

  /// Takes in the first `size` bytes of an integer, the least significant first.
  package mutating func update(_ value: UInt64, size: Int = 8) {
    withUnsafeBytes(of: value.littleEndian) { update(UnsafeRawBufferPointer(rebasing: $0[..<size])) }
  }

  private static let sizeOfEight = 2048

  /// The remainders of every byte followed by 0 to 15 zero bytes: sixteen tables of 256, in a row.
  private static let tables: [UInt32] = {
    let reflected: UInt32 = 0x82F6_3B78
    var tables = (0..<256).map { byte in
      (0..<8).reduce(UInt32(byte)) { state, _ in (state >> 1) ^ (state & 1 == 0 ? 0 : reflected) }
    }
    for place in 256..<(2 * sizeOfEight) {
      let shorter = tables[place - 256]
      tables.append(tables[Int(shorter & 0xFF)] ^ (shorter >> 8))
    }
    return tables
  }()

  /// Returns the state after eight bytes that were combined with the state before them, by eight tables in a
  /// row. Each table is indexed by one byte, so that no access leaves the tables.
  @inline(__always)
  private static func fold(_ word: UInt64, _ tables: UnsafePointer<UInt32>) -> UInt32 {
    let low =
      tables[1792 &+ Int(word & 0xFF)] ^ tables[1536 &+ Int(word &>> 8 & 0xFF)]
      ^ tables[1280 &+ Int(word &>> 16 & 0xFF)] ^ tables[1024 &+ Int(word &>> 24 & 0xFF)]
    let high =
      tables[768 &+ Int(word &>> 32 & 0xFF)] ^ tables[512 &+ Int(word &>> 40 & 0xFF)]
      ^ tables[256 &+ Int(word &>> 48 & 0xFF)] ^ tables[Int(word &>> 56)]
    return low ^ high
  }
}
