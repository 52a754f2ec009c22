import Stow

/// A part of a block that was written at one time, and that is whole or is not there (Format/Logs.md, "Frames"):
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
    /// Records that are whole, and add to the definitions of those before them.
    case records = 1
    /// The beginning, a part from the middle, and the end of a group of records for which its block has no room.
    case first = 2
    case middle = 3
    case last = 4
    /// Records that are whole, and before which all definitions are forgotten.
    case freshRecords = 5
    /// Which log the file belongs to.
    case origin = 6
    /// Records of which some may be packed, and the same before which all definitions are forgotten.
    case packableRecords = 7
    case freshPackableRecords = 8
    /// All that stands before it is on the disk.
    case checkpoint = 9
    /// The group whose parts stand before it was not finished, and never will be.
    case abandonment = 10
    /// What only later versions understand. It has no records, and those after it do not rely on it.
    case note = 11

    /// The kind of a frame of whole records.
    static func records(isFresh: Bool, isPackable: Bool) -> Kind {
      isPackable ? (isFresh ? .freshPackableRecords : .packableRecords) : isFresh ? .freshRecords : .records
    }

    package var isFresh: Bool { self == .freshRecords || self == .freshPackableRecords }

    package var isPackable: Bool { self == .packableRecords || self == .freshPackableRecords }
  }

  package let kind: Kind
  /// Where the payload stands in the block.
  package let payload: Range<Int>

  static let headSize = 7
  /// The fewest bytes that a frame takes: its payload is never empty.
  static let leastSize = headSize + 1
  /// The most bytes that a payload can have.
  static let payloadLimit = BlockHead.blockSize - BlockHead.size - headSize

  /// The frame at an offset of a block, as its head describes it; nil if it would end beyond the block. Only its
  /// checksum says whether it is one.
  init?(describedIn block: [UInt8], at offset: Int) {
    guard block.count - offset >= Self.leastSize, let kind = Kind(rawValue: block[offset + 6]) else {
      return nil
    }
    let length = Int(block.littleEndian(at: offset + 4, size: 2))
    guard length > 0, length <= block.count - offset - Self.headSize else { return nil }
    self.kind = kind
    payload = (offset + Self.headSize)..<(offset + Self.headSize + length)
  }

  /// How many bytes of a payload are read again at least, when a record is looked up in a block that was read before.
  static let stretch = 1024

  /// The whole frame at an offset of a block; nil if something else stands there.
  package init?(in block: [UInt8], at offset: Int, blockStart: Int, identity: UInt64) {
    var checksums: [Checksum] = []
    self.init(in: block, at: offset, blockStart: blockStart, identity: identity, noting: &checksums)
  }

  /// The same.
  ///
  /// - Parameter checksums: Gets the checksum of all that stands before each stretch of the payload, and that of the
  ///   whole frame. If there is none, what was added means nothing.
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

/// Which log a file belongs to that is not the first of it: its identity is that of the first one, which has no such frame.
/// So whoever reads or follows the log knows a file that has taken the place of another, or comes after it.
struct Origin: Sendable, Hashable {
  /// The identity of the log.
  let log: UInt64
  /// When the first file was made that has the records of this one, in milliseconds since 1970; 0 if that is not known.
  let begun: UInt64

  static let size = 16

  init(log: UInt64, begun: UInt64) { (self.log, self.begun) = (log, begun) }

  init?(_ bytes: [UInt8], _ payload: Range<Int>) {
    guard payload.count == Self.size else { return nil }
    log = bytes.littleEndian(at: payload.lowerBound, size: 8)
    begun = bytes.littleEndian(at: payload.lowerBound + 8, size: 8)
  }

  /// The frame that says so, the first of a file.
  func frame(identity: UInt64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Frame.headSize)
    bytes.appendLittleEndian(log)
    bytes.appendLittleEndian(begun)
    Frame.seal(&bytes, from: 0, .origin, at: BlockHead.size, identity: identity)
    return bytes
  }
}
