import Stow
import Testing

/// CRC-32C: the vectors of RFC 3720 and others that are known, in whatever parts the bytes come.
struct ChecksumTests {
  private func checksum(_ bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { Checksum.of($0) } }

  @Test func knownBytesHaveTheirKnownChecksums() {
    #expect(checksum(Array("123456789".utf8)) == 0xE306_9283)
    #expect(checksum([]) == 0)
    #expect(checksum(Array("a".utf8)) == 0xC1D0_4330)
    #expect(checksum(Array(repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(checksum(Array(repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(checksum(Array(0..<32)) == 0x46DD_794E)
    #expect(checksum(Array((0..<32).reversed())) == 0x113F_DB5C)
  }

  @Test func bytesInPartsHaveTheChecksumOfTheWhole() {
    let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
    for cut in 0...100 {
      var checksum = Checksum()
      bytes[..<cut].withUnsafeBytes { checksum.update($0) }
      bytes[cut...].withUnsafeBytes { checksum.update($0) }
      #expect(checksum.value == self.checksum(bytes))
    }
  }

  @Test func longBytesAgreeWithTheDefinition() {
    let bytes = (0..<2_100).map { UInt8(truncatingIfNeeded: ($0 &* $0 &* 37 &+ 11) >> 3) }
    for count in [255, 256, 511, 512, 513, 527, 528, 1_023, 1_024, 1_040, 1_600, 2_047, 2_048, 2_100] {
      let part = Array(bytes.suffix(count))
      #expect(checksum(part) == bitByBit(part))
    }
  }

  @Test func anIntegerIsItsBytesFromTheLeastSignificant() {
    var checksum = Checksum()
    checksum.update(UInt64(0x0807_0605_0403_0201))
    #expect(checksum.value == self.checksum([1, 2, 3, 4, 5, 6, 7, 8]))
    checksum.update(UInt64(0x0C0B_0A09), size: 3)
    #expect(checksum.value == self.checksum([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]))
  }

  @Test func theBeginningsOfBytesHaveTheirOwnChecksums() {
    let bytes = (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
    #expect(Checksum.ofBeginnings(of: bytes) == (0...600).map { checksum(Array(bytes.prefix($0))) })
    #expect(Checksum.ofBeginnings(of: []) == [0])
  }

  /// The table steps beside the definition: a bit at a time.
  @Test func everyByteAtEveryPlaceAgreesWithTheDefinition() {
    for place in 0..<16 {
      for byte in 0...UInt8.max {
        var bytes = [UInt8](repeating: 0x5A, count: 16)
        bytes[place] = byte
        #expect(checksum(bytes) == bitByBit(bytes))
      }
    }
  }

  private func bitByBit(_ bytes: [UInt8]) -> UInt32 {
    var state = UInt32.max
    for byte in bytes {
      state ^= UInt32(byte)
      for _ in 0..<8 { state = (state >> 1) ^ (state & 1 == 0 ? 0 : 0x82F6_3B78) }
    }
    return ~state
  }
}
