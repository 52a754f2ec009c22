import Stow

/// A part of a block that was written at once, and is either whole or absent (Format/Logs.md, "Frames"):
///
/// ```
///  0           4       6      7
///  CRC-32C     length  kind   payload …
///  └ of the identity of the file, the frame's offset in it, and all that follows
/// ```
///
/// The payload begins with a number, mostly that of the first record in it. A record keeps its number whatever happens
/// to the frames before it.
package struct Frame: Sendable, Hashable {
  package enum Kind: UInt8, Sendable {
    /// Whole records, which add to the definitions of those before them.
    case records = 1
    /// The first part, a middle part, and the last part of a group that its block has no room for.
    case first = 2
    case middle = 3
    case last = 4
    /// Whole records, before which all definitions are forgotten.
    case freshRecords = 5
    /// Which log the file belongs to.
    case origin = 6
    /// Records, some of which may be packed; and the same with all definitions forgotten before them.
    case packableRecords = 7
    case freshPackableRecords = 8
    /// Says that everything before it is on the disk.
    case checkpoint = 9
    /// Says that the group whose parts precede it was not finished, and never will be.
    case abandonment = 10
    /// Something that only later versions understand. It has no records, and records after it do not rely on
    /// it.
    case note = 11

    /// The kind of a frame of whole records.
    static func records(isFresh: Bool, isPackable: Bool) -> Kind {
      isPackable ? (isFresh ? .freshPackableRecords : .packableRecords) : isFresh ? .freshRecords : .records
    }

    package var isFresh: Bool { self == .freshRecords || self == .freshPackableRecords }

    package var isPackable: Bool { self == .packableRecords || self == .freshPackableRecords }
  }

  package let kind: Kind
  /// Where the payload is in the block.
  package let payload: Range<Int>

  static let headSize = 7
  /// The fewest bytes that a frame takes: its payload is never empty.
  static let leastSize = headSize + 1
  /// The most bytes that a payload can have.
  static let payloadLimit = BlockHead.blockSize - BlockHead.size - headSize

  /// Reads the frame that the head at an offset of a block describes; nil if it would end beyond the block.
  /// Only its checksum shows whether it is one.
  init?(describedIn block: [UInt8], at offset: Int) {
    guard block.count - offset >= Self.leastSize, let kind = Kind(rawValue: block[offset + 6]) else {
      return nil
    }
    let length = Int(block.littleEndian(at: offset + 4, size: 2))
    guard length > 0, length <= block.count - offset - Self.headSize else { return nil }
    self.kind = kind
    payload = (offset + Self.headSize)..<(offset + Self.headSize + length)
  }

  /// The fewest bytes of a payload that are read again to look up a record in a block that was read before.
  static let stretch = 1024

  /// Reads the whole frame at an offset of a block; nil if something else is there.
  package init?(in block: [UInt8], at offset: Int, blockStart: Int, identity: UInt64) {
    var checksums: [Checksum] = []
    self.init(in: block, at: offset, blockStart: blockStart, identity: identity, noting: &checksums)
  }

  /// Reads a whole frame, and notes its checksums.
  ///
  /// - Parameter checksums: Receives the checksum of everything before each stretch of the payload, and that
  ///   of the whole frame. If there is no frame, the added checksums mean nothing.
  init?(
    in block: [UInt8], at offset: Int, blockStart: Int, identity: UInt64, noting checksums: inout [Checksum]
  ) {
    self.init(describedIn: block, at: offset)
    var checksum = Self.checksumOfHead(kind, payload.count, at: blockStart + offset, identity)
    checksums.append(checksum)
    for start in stride(from: payload.lowerBound, to: payload.upperBound, by: Self.stretch) {
      let stretch = start..<min(start + Self.stretch, payload.upperBound)
      block[stretch].withUnsafeBytes { checksum.update($0) }
      checksums.append(checksum)
    }
    guard block.littleEndian(at: offset, size: 4) == UInt64(checksum.value) else { return nil }
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
    var checksum = checksumOfHead(kind, payload.count, at: offset, identity)
    bytes[payload].withUnsafeBytes { checksum.update($0) }
    bytes.replaceLittleEndian(at: start, with: checksum.value)
  }

  /// The checksum of a frame up to its payload.
  static func checksumOfHead(_ kind: Kind, _ length: Int, at offset: Int, _ identity: UInt64) -> Checksum {
    var checksum = Checksum()
    checksum.update(identity)
    checksum.update(UInt64(offset))
    checksum.update(UInt16(length))
    checksum.update(kind.rawValue)
    return checksum
  }
}

/// The log that a file other than its first belongs to. A log's identity is that of its first file, which has
/// no such frame. This lets readers and followers recognize a file that replaces another, or comes after it.
struct Origin: Sendable, Hashable {
  /// The identity of the log.
  let log: UInt64
  /// When the first file with the records of this one was made, in milliseconds since 1970; 0 if that is not
  /// known.
  let begun: UInt64

  static let size = 16

  init(log: UInt64, begun: UInt64) { (self.log, self.begun) = (log, begun) }

  init?(_ bytes: [UInt8], _ payload: Range<Int>) {
    guard payload.count == Self.size else { return nil }
    log = bytes.littleEndian(at: payload.lowerBound, size: 8)
    begun = bytes.littleEndian(at: payload.lowerBound + 8, size: 8)
  }

  /// Returns the frame with this origin, the first of a file.
  func frame(identity: UInt64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Frame.headSize)
    bytes.appendLittleEndian(log)
    bytes.appendLittleEndian(begun)
    Frame.seal(&bytes, from: 0, .origin, at: BlockHead.size, identity: identity)
    return bytes
  }
}
