/// A CRC-32C checksum (Castagnoli) of bytes that may come in parts.
///
/// ```swift
/// var checksum = Checksum()
/// checksum.update(head)
/// checksum.update(body)
/// checksum.value  // that of head and body in a row
/// ```
///
/// The polynomial is 1EDC6F41, reflected: bits are taken from the least significant one on, the state begins with all
/// bits set, and is inverted in the end.
package struct Checksum: Sendable, Hashable {
  private var state = UInt32.max

  package init() {}

  package var value: UInt32 { ~state }

  /// Returns the checksum of `bytes`. Takes time in proportion to them.
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var checksum = Checksum()
    checksum.update(bytes)
    return checksum.value
  }

  /// Returns the checksums of the first 0, 1, 2 bytes and so on, up to that of all of them.
  package static func ofBeginnings(of bytes: [UInt8]) -> [UInt32] {
    let tables = ChecksumTables.all
    var state = UInt32.max
    return [~state]
      + bytes.map { byte in
        state = tables[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state &>> 8)
        return ~state
      }
  }

  /// Takes in `bytes`, after what was taken in before. Takes time in proportion to them.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    let count = bytes.count
    state = ChecksumTables.all.withUnsafeBufferPointer { tables in
      guard let tables = tables.baseAddress else { return state }
      var state = state
      var index = 0
      while count &- index >= 16 {
        state = ChecksumTables.step(state, base + index, tables)
        index &+= 16
      }
      while index < count {
        let byte = base.load(fromByteOffset: index, as: UInt8.self)
        state = tables[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state &>> 8)
        index &+= 1
      }
      return state
    }
  }

  /// Takes in the first `size` bytes of an integer, the least significant first.
  package mutating func update(_ value: UInt64, size: Int = 8) {
    withUnsafeBytes(of: value.littleEndian) { update(UnsafeRawBufferPointer(rebasing: $0[..<size])) }
  }
}

/// The remainders of every byte followed by 0 to 15 zero bytes: sixteen tables of 256, in a row.
private enum ChecksumTables {
  static let sizeOfEight = 2048

  static let all: [UInt32] = {
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

  /// Returns the state after sixteen bytes, by lookups that do not wait for each other.
  @inline(__always)
  static func step(_ state: UInt32, _ bytes: UnsafeRawPointer, _ tables: UnsafePointer<UInt32>) -> UInt32 {
    let first = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    let second = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    return fold(first ^ UInt64(state), tables + sizeOfEight) ^ fold(second, tables)
  }

  /// Returns the state after eight bytes that were combined with the state before them, by eight tables in a
  /// row. Each table is indexed by one byte, so that no access leaves the tables.
  @inline(__always)
  static func fold(_ word: UInt64, _ tables: UnsafePointer<UInt32>) -> UInt32 {
    let low =
      tables[1792 &+ Int(word & 0xFF)] ^ tables[1536 &+ Int(word &>> 8 & 0xFF)]
      ^ tables[1280 &+ Int(word &>> 16 & 0xFF)] ^ tables[1024 &+ Int(word &>> 24 & 0xFF)]
    let high =
      tables[768 &+ Int(word &>> 32 & 0xFF)] ^ tables[512 &+ Int(word &>> 40 & 0xFF)]
      ^ tables[256 &+ Int(word &>> 48 & 0xFF)] ^ tables[Int(word &>> 56)]
    return low ^ high
  }
}
