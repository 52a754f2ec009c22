import Stow

/// The head of every block (Format/Logs.md, "Blocks"):
///
/// ```
///  0   1   2   3   4           8                   16                  24          28             32
///  7F  02  01  00  CRC-32C     identity of file    first record        index       synchronized
///          │   └ flags         └ of the other 28 bytes                             └ blocks
///          └ version
/// ```
package struct BlockHead: Sendable, Hashable {
  /// Eight random bytes, the same in all blocks of a file.
  package let identity: UInt64
  /// The number of the first record that begins in the block.
  package let firstRecord: Int
  /// The number of the block, from 0 on.
  package let index: Int
  /// How many blocks, from the first one on, were on the disk when this one was begun.
  package private(set) var synchronizedBlocks = 0

  package static let size = 32
  package static let blockSize = 65_536
  /// The version of the format of logs.
  package static let version: UInt8 = 1
  static let beginning: [UInt8] = [0x7F, 0x02, version, 0x00]
  private static let checksumOffset = 4
  /// All numbers, including that of the next record, stay below this, so that sums of two do not overflow.
  static let recordLimit = 1 << 62

  /// Returns how many blocks begin in a file of a size.
  package static func count(in size: Int) -> Int { size / blockSize + (size % blockSize == 0 ? 0 : 1) }
}

extension BlockHead {
  /// Reads the head at the front of `bytes`; nil if there is no head, or if it is damaged.
  package init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes.prefix(Self.size))
    guard Self.hasChecksum(bytes), bytes.starts(with: Self.beginning),
      let firstRecord = Int(exactly: bytes.littleEndian(at: 16, size: 8)), firstRecord < Self.recordLimit,
      let index = Int(exactly: bytes.littleEndian(at: 24, size: 4)),
      let synchronizedBlocks = Int(exactly: bytes.littleEndian(at: 28, size: 4)), synchronizedBlocks <= index
    else { return nil }
    self.init(
      identity: bytes.littleEndian(at: 8, size: 8), firstRecord: firstRecord, index: index,
      synchronizedBlocks: synchronizedBlocks)
  }

  /// Returns the version in a whole head in front of `block`, if this library does not support it; nil for
  /// all other bytes.
  package static func unsupportedVersion(_ block: [UInt8]) -> Int? {
    let bytes = Array(block.prefix(size))
    guard hasChecksum(bytes), bytes.starts(with: beginning[..<2]), !bytes.starts(with: beginning) else { return nil }
    return Int(bytes[2])
  }

  var bytes: [UInt8] {
    var bytes = Self.beginning
    bytes.appendLittleEndian(UInt32(0))
    bytes.appendLittleEndian(identity)
    bytes.appendLittleEndian(UInt64(firstRecord))
    bytes.appendLittleEndian(UInt32(truncatingIfNeeded: index))
    bytes.appendLittleEndian(UInt32(truncatingIfNeeded: synchronizedBlocks))
    bytes.replaceLittleEndian(at: Self.checksumOffset, with: Self.checksum(of: bytes))
    return bytes
  }

  private static func hasChecksum(_ bytes: [UInt8]) -> Bool {
    bytes.count >= size && bytes.littleEndian(at: checksumOffset, size: 4) == UInt64(checksum(of: bytes))
  }

  static func checksum(of bytes: [UInt8]) -> UInt32 {
    var checksum = Checksum()
    bytes[..<checksumOffset].withUnsafeBytes { checksum.update($0) }
    bytes[(checksumOffset + 4)..<size].withUnsafeBytes { checksum.update($0) }
    return checksum.value
  }
}

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
    /// Something that only later versions understand. It has no records, and records after it do not rely on it.
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
  /// The most bytes that a payload can have.
  static let payloadLimit = BlockHead.blockSize - BlockHead.size - headSize
  /// The fewest bytes of a payload that are read again to look up a record in a block that was read before.
  static let stretch = 1024

  /// Reads the frame that the head at an offset of a block describes; nil if it would end beyond the block.
  /// Only its checksum shows whether it is one.
  init?(describedIn block: [UInt8], at offset: Int) {
    guard block.count - offset > Self.headSize, let kind = Kind(rawValue: block[offset + 6]) else { return nil }
    let length = Int(block.littleEndian(at: offset + 4, size: 2))
    guard length > 0, length <= block.count - offset - Self.headSize else { return nil }
    self.kind = kind
    payload = (offset + Self.headSize)..<(offset + Self.headSize + length)
  }

  /// Reads the whole frame at an offset of a block; nil if something else is there.
  package init?(in block: [UInt8], at offset: Int, blockStart: Int, identity: UInt64) {
    var checksums: [Checksum] = []
    self.init(in: block, at: offset, blockStart: blockStart, identity: identity, noting: &checksums)
  }

  /// Reads a whole frame, and notes its checksums.
  ///
  /// - Parameter checksums: Receives the checksum of everything before each stretch of the payload, and that
  ///   of the whole frame. If there is no frame, the added checksums mean nothing.
  init?(in block: [UInt8], at offset: Int, blockStart: Int, identity: UInt64, noting checksums: inout [Checksum]) {
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
    checksum.update(UInt64(length), size: 2)
    checksum.update(UInt64(kind.rawValue), size: 1)
    return checksum
  }
}

/// The log that a file other than its first belongs to. A log's identity is that of its first file, which has
/// no such frame. This lets readers and followers recognize a file that replaces another, or comes after it.
struct Origin: Sendable, Hashable {
  /// The identity of the log.
  let log: UInt64
  /// When the first file with the records of this one was made, in milliseconds since 1970; 0 if that is not known.
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

// MARK: - Uints

// Integers of variable size in arrays of bytes (FORMAT.md, "Uints").

extension Varint {
  /// Returns the size of the integer that begins with a byte, or nil if that byte is reserved.
  static func size(ofFirst byte: UInt8) -> Int? { form(lead: byte).map { 1 + $0.width } }

  static func append(_ value: Int, to bytes: inout [UInt8]) {
    let (lead, rest, width) = form(value)
    bytes.append(lead)
    for place in 0..<width { bytes.append(UInt8(truncatingIfNeeded: rest >> UInt64(place * 8))) }
  }

  /// Reads the integer at `offset`, and moves past it. Returns nil if it does not end before `end`, or does
  /// not fit in an `Int`.
  static func read(from bytes: [UInt8], at offset: inout Int, before end: Int) -> Int? {
    guard offset < end, let (base, width) = form(lead: bytes[offset]), width < end - offset else { return nil }
    let rest = bytes.littleEndian(at: offset + 1, size: width)
    offset += 1 + width
    return Int(exactly: rest).map { base + $0 }
  }
}

extension [UInt8] {
  /// Appends the bytes of an integer, the least significant first.
  mutating func appendLittleEndian<Value: FixedWidthInteger>(_ value: Value) {
    for place in 0..<Value.bitWidth / 8 { append(UInt8(truncatingIfNeeded: value >> Value(place * 8))) }
  }

  /// Replaces the bytes from `offset` on by those of an integer.
  mutating func replaceLittleEndian<Value: FixedWidthInteger>(at offset: Int, with value: Value) {
    for place in 0..<Value.bitWidth / 8 { self[offset + place] = UInt8(truncatingIfNeeded: value >> Value(place * 8)) }
  }

  /// Returns the integer of up to eight bytes from `offset` on.
  func littleEndian(at offset: Int, size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64($1 * 8) }
  }
}

extension RandomAccessCollection where Index == Int {
  /// Returns the index of the first element for which a condition does not hold, or `endIndex`. The condition
  /// must hold for all elements before that one, and for none after.
  func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
