/// CRC-32C, the checksum of Castagnoli, of bytes that may come in parts.
///
/// The polynomial is 1EDC6F41, reflected: bits are taken from the least significant one on, the state begins with all
/// bits set, and is inverted in the end.
package struct Checksum: Sendable, Hashable {
  private var state = UInt32.max

  package init() {}

  package var value: UInt32 { ~state }

  /// The checksum of `bytes`. Takes time in proportion to them.
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var checksum = Checksum()
    checksum.update(bytes)
    return checksum.value
  }

  /// Takes in `bytes`, after what was taken in before. Takes time in proportion to them.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    Self.remainders.withUnsafeBufferPointer { remainders in
      var index = 0
      // Sixteen bytes in a step, whose lookups do not wait for each other.
      while bytes.count &- index >= 16 {
        let words = base.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
        let before = state
        state = 0
        for place in 0..<16 {
          let byte = words[place] ^ UInt8(truncatingIfNeeded: place < 4 ? before &>> UInt32(8 &* place) : 0)
          state ^= remainders[256 &* (15 &- place) &+ Int(byte)]
        }
        index &+= 16
      }
      while index < bytes.count {
        let byte = base.load(fromByteOffset: index, as: UInt8.self)
        state = remainders[Int(byte ^ UInt8(truncatingIfNeeded: state))] ^ (state &>> 8)
        index &+= 1
      }
    }
  }

  /// Takes in the bytes of an integer, the least significant first.
  package mutating func update(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { update($0) }
  }

  /// The remainders of every byte followed by 0 to 15 zero bytes: sixteen tables of 256, in a row.
  private static let remainders: [UInt32] = {
    let reflected: UInt32 = 0x82F6_3B78
    var remainders = (0..<256).map { byte in
      (0..<8).reduce(UInt32(byte)) { state, _ in (state >> 1) ^ (state & 1 == 0 ? 0 : reflected) }
    }
    for place in 256..<4096 {
      let shorter = remainders[place - 256]
      remainders.append(remainders[Int(shorter & 0xFF)] ^ (shorter >> 8))
    }
    return remainders
  }()
}
