import Stow

/// Finds the next whole frame after damage, at any offset of a block.
///
/// Any offset may look like a frame that claims to reach the end of the block, so checking each claim by
/// itself would take quadratic time. The checksum of a range follows from those of the two prefixes of the
/// block that end at its bounds, which are computed once:
///
/// ```
///  CRC(head ‖ payload) = shift(CRC(head) ^ CRC(block[..<start]), payload.count) ^ CRC(block[..<end])
/// ```
///
/// Shifting by a number of bytes is multiplying by a power of x, modulo the polynomial.
struct FrameSearch {
  private let block: [UInt8]
  private let blockStart: Int
  private let identity: UInt64
  /// For each offset in the block, the checksum of the bytes before it.
  private let checksums: [UInt32]

  init(_ block: [UInt8], blockStart: Int, identity: UInt64) {
    self.block = block
    self.blockStart = blockStart
    self.identity = identity
    var checksum = Checksum()
    checksums =
      [checksum.value]
      + block.map { byte in
        checksum.update(byte)
        return checksum.value
      }
  }

  /// Returns the first offset from `start` on at which a whole frame begins, or nil. Takes time in proportion
  /// to the bytes that are skipped.
  func firstFrame(from start: Int) -> Int? {
    (start..<max(start, block.count)).first { offset in
      guard let frame = Frame(describedIn: block, at: offset) else { return false }
      let (start, end) = (frame.payload.lowerBound, frame.payload.upperBound)
      let head = Frame.checksumOfHead(frame.kind, end - start, at: blockStart + offset, identity).value
      let checksum = Self.shift(head ^ checksums[start], by: end - start) ^ checksums[end]
      return block.littleEndian(at: offset, size: 4) == UInt64(checksum)
    }
  }

  // MARK: - Arithmetic of polynomials over two elements, the highest power in the lowest bit

  private static let one: UInt32 = 1 << 31

  /// The powers of x to 8, 16, 24 and so on, for every number of bytes that a block may have.
  private static let powers: [UInt32] = {
    var power = one
    return (0...BlockHead.blockSize).map { _ in
      defer { for _ in 0..<8 { power = timesX(power) } }
      return power
    }
  }()

  private static func timesX(_ factor: UInt32) -> UInt32 {
    factor & 1 == 0 ? factor >> 1 : factor >> 1 ^ 0x82F6_3B78
  }

  /// Returns the checksum of the same bytes with `count` zeros after them, as checksums are combined.
  private static func shift(_ checksum: UInt32, by count: Int) -> UInt32 {
    var (factor, product) = (checksum, UInt32(0))
    var bit = one
    while bit != 0 {
      if powers[count] & bit != 0 { product ^= factor }
      factor = timesX(factor)
      bit >>= 1
    }
    return product
  }
}
