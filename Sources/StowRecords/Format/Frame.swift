import Stow

/// A part of a block that was written at one time, and that is whole or is not there (FORMAT.md, "Frames"):
///
/// ```
///  0           4       6      7
///  CRC-32C     length  kind   payload …
///  └ of the identity of the file, the frame's offset in it, and all that follows
/// ```
struct Frame: Sendable, Hashable {
  enum Kind: UInt8, Sendable {
    /// Records that are whole, and add to the definitions of those before them.
    case records = 1
    /// The beginning, a part from the middle, and the end of a record that is longer than its block has room for.
    case first = 2
    case middle = 3
    case last = 4
    /// Records that are whole, and before which all definitions are forgotten.
    case freshRecords = 5
    /// Where the records of a compacted log came from.
    case origin = 6
    /// Records of which some may be packed, and the same before which all definitions are forgotten.
    case packableRecords = 7
    case freshPackableRecords = 8

    /// The kind of a frame of whole records.
    static func records(isFresh: Bool, isPackable: Bool) -> Kind {
      isPackable ? (isFresh ? .freshPackableRecords : .packableRecords) : isFresh ? .freshRecords : .records
    }

    var isFresh: Bool { self == .freshRecords || self == .freshPackableRecords }

    var isPackable: Bool { self == .packableRecords || self == .freshPackableRecords }
  }

  let kind: Kind
  /// Where the payload stands in the block.
  let payload: Range<Int>

  static let headSize = 7
  /// The fewest bytes that a frame takes: its payload is never empty.
  static let leastSize = headSize + 1
  /// The most bytes that a frame can hold.
  static let payloadLimit = BlockHead.blockSize - BlockHead.size - headSize

  /// What stands at a place of a block where a frame may begin.
  enum Finding {
    case frame(Frame)
    /// Zeros, or nothing, up to the end of the block.
    case nothing
    case damage
  }

  static func find(in block: [UInt8], at offset: Int, blockStart: Int, identity: UInt64) -> Finding {
    let room = block.count - offset
    if room >= leastSize, let kind = Kind(rawValue: block[offset + 6]) {
      let length = Int(block.littleEndian(at: offset + 4, size: 2))
      let payload = (offset + headSize)..<(offset + headSize + length)
      guard length > 0, payload.upperBound <= block.count else { return .damage }
      let checksum = checksum(of: payload, in: block, kind, at: blockStart + offset, identity)
      return block.littleEndian(at: offset, size: 4) == UInt64(checksum)
        ? .frame(Frame(kind: kind, payload: payload)) : .damage
    }
    return block[offset...].allSatisfy { $0 == 0 } ? .nothing : .damage
  }

  /// Fills in the head of a frame, for which room was left in front of the payload.
  ///
  /// - Parameters:
  ///   - start: Where the frame begins in `bytes`. It ends where they end.
  ///   - offset: Where it begins in the file.
  static func seal(_ bytes: inout [UInt8], from start: Int, _ kind: Kind, at offset: Int, identity: UInt64) {
    let payload = (start + headSize)..<bytes.count
    bytes.replaceLittleEndian(at: start + 4, with: UInt16(payload.count))
    bytes[start + 6] = kind.rawValue
    let checksum = checksum(of: payload, in: bytes, kind, at: offset, identity)
    bytes.replaceLittleEndian(at: start, with: checksum)
  }

  private static func checksum(
    of payload: Range<Int>, in bytes: [UInt8], _ kind: Kind, at offset: Int, _ identity: UInt64
  ) -> UInt32 {
    var checksum = Checksum()
    checksum.update(identity)
    checksum.update(UInt64(offset))
    checksum.update(UInt16(payload.count))
    checksum.update(kind.rawValue)
    bytes[payload].withUnsafeBytes { checksum.update($0) }
    return checksum.value
  }
}
