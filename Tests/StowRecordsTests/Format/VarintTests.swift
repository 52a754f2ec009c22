import Stow
import Testing

@testable import StowRecords

/// Integers of variable size, in every row of their table.
struct VarintTests {
  @Test func everyRowIsWrittenAndRead() {
    let rows: [(value: Int, bytes: [UInt8])] = [
      (0, [0]), (223, [0xDF]), (224, [0xE0, 0]), (6_367, [0xF7, 0xFF]), (6_368, [0xF8, 0, 0]),
      (268_511, [0xFB, 0xFF, 0xFF]), (268_512, [0xFC, 0xE0, 0x18, 4, 0]),
      (0xFFFF_FFFF, [0xFC, 0xFF, 0xFF, 0xFF, 0xFF]), (0x1_0000_0000, [0xFD, 0, 0, 0, 0, 1, 0, 0, 0]),
      (.max, [0xFD] + Array(repeating: 0xFF, count: 7) + [0x7F]),
    ]
    for (value, bytes) in rows {
      var written: [UInt8] = []
      Varint.append(value, to: &written)
      #expect(written == bytes && Varint.size(value) == bytes.count)
      var offset = 0
      #expect(Varint.read(from: bytes, at: &offset, before: bytes.count) == value)
      #expect(offset == bytes.count)
      for end in bytes.indices {
        offset = 0
        #expect(Varint.read(from: bytes, at: &offset, before: end) == nil)
      }
    }
  }

  @Test func whatIsReservedIsNone() {
    for bytes in [[0xFE, 0], [0xFF, 0], [0xFD] + Array(repeating: 0xFF, count: 8)] as [[UInt8]] {
      var offset = 0
      #expect(Varint.read(from: bytes, at: &offset, before: bytes.count) == nil)
    }
  }
}
