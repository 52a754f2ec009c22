/// A file that is known to be a log.
final class LogFile: Sendable {
  let path: String
  let disk: any DiskFile
  /// The eight bytes that all blocks of the file have in common.
  let identity: UInt64
  /// Which log the file belongs to.
  let origin: Origin
  /// Whether the file says so. If not, it is taken for a log by itself, or for one of the log that it was found in.
  let namesOrigin: Bool
  /// The number of the first record that the file may have: for a segment, the number in its name.
  let first: Int

  init(path: String, disk: any DiskFile, identity: UInt64, origin: Origin? = nil, first: Int = 0) {
    self.path = path
    self.disk = disk
    self.identity = identity
    self.origin = origin ?? Origin(log: identity, begun: 0)
    namesOrigin = origin != nil
    self.first = first
  }

  private init(_ file: LogFile, of log: UInt64) {
    (path, disk, identity, first) = (file.path, file.disk, file.identity, file.first)
    origin = Origin(log: log, begun: 0)
    namesOrigin = false
  }

  /// Opens a file, whose identity is that of the first whole head.
  convenience init(reading path: String, _ disk: any DiskFile, first: Int = 0) throws {
    let status = try RecordLogError.naming(path) { try disk.status() }
    let count = BlockHead.count(in: status.size)
    var index = 0
    while status.isRegular, index < count {
      let bytes = try Self.bytes(of: disk, path, from: index * BlockHead.blockSize, count: BlockHead.size)
      if let version = BlockHead.unsupportedVersion(bytes) {
        throw RecordLogError(file: path, .unsupportedVersion(version))
      }
      if let head = BlockHead(bytes), head.index == index {
        let origin = try Self.origin(of: disk, path, status.size, identity: head.identity)
        self.init(path: path, disk: disk, identity: head.identity, origin: origin, first: first)
        return
      }
      index = try Self.nextBlock(of: disk, path, from: index + 1) ?? count
    }
    throw RecordLogError(file: path, .notALog)
  }

  private static func origin(of disk: any DiskFile, _ path: String, _ size: Int, identity: UInt64) throws -> Origin? {
    let count = min(BlockHead.size + Frame.headSize + Origin.size, size)
    let bytes = try Self.bytes(of: disk, path, from: 0, count: count)
    guard let frame = Frame(in: bytes, at: BlockHead.size, blockStart: 0, identity: identity),
      frame.kind == .origin
    else { return nil }
    return Origin(bytes, frame.payload)
  }

  /// The same file, as one of a log in whose folder it is, if the frame is damaged that would name its log.
  func belonging(to log: UInt64) throws -> LogFile {
    if namesOrigin || origin.log == log { return self }
    let damage = try block(0, before: size())?.damage
    return damage?.contains { $0.contains(BlockHead.size) } ?? true ? LogFile(self, of: log) : self
  }

  /// Returns whether a segment that belongs to the log may be removed or replaced: it or its identity names the log, or
  /// the frame is damaged that would, and its first number is that of its name.
  func isCertainly(of log: UInt64) throws -> Bool {
    try namesOrigin || identity == log || head(of: 0)?.firstRecord ?? first == first
  }

  // MARK: - Bytes

  /// Returns bytes of the file, as far as it goes. Throws if the system reads fewer bytes than there are.
  static func bytes(of disk: any DiskFile, _ path: String, from offset: Int, count: Int) throws -> [UInt8] {
    try RecordLogError.naming(path, at: offset) {
      let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = try disk.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      }
      guard try bytes.count == count || disk.status().size <= offset + bytes.count else {
        throw SystemError(operation: "read", code: SystemError.shortRead)
      }
      return bytes
    }
  }

  func size() throws -> Int { try RecordLogError.naming(path) { try disk.status().size } }

  /// Returns the first block from an index on that has bytes on the disk, or nil. Skips holes, which can be
  /// larger than any disk.
  private static func nextBlock(of disk: any DiskFile, _ path: String, from index: Int) throws -> Int? {
    try RecordLogError.naming(path) { try disk.nextData(from: index * BlockHead.blockSize) }
      .map { max(index, $0 / BlockHead.blockSize) }
  }

  /// Returns the first block from an index on that has bytes on the disk, or the one after the last.
  func nextBlock(from index: Int, before end: Int) throws -> Int {
    let count = BlockHead.count(in: end)
    return min(count, try Self.nextBlock(of: disk, path, from: index) ?? count)
  }

  /// Returns the last block before an index that has bytes on the disk, or nil. Takes one system call for a
  /// file without holes; otherwise their number is logarithmic in the number of blocks.
  private func lastBlock(before limit: Int) throws -> Int? {
    guard limit > 0 else { return nil }
    // Some systems have taken for a hole what was just written.
    let head = try Self.bytes(of: disk, path, from: (limit - 1) * BlockHead.blockSize, count: BlockHead.size)
    if head.contains(where: { $0 != 0 }) { return limit - 1 }
    var (low, high, step) = (0, limit, 1)
    // All blocks from `high` on are holes.
    while low < high {
      let middle = high - step
      if try nextBlock(from: middle, before: limit * BlockHead.blockSize) < limit {
        if step == 1 { return middle }
        low = middle + 1
      } else {
        high = middle
      }
      step = (high - low + 1) / 2
    }
    return low > 0 ? low - 1 : nil
  }

  // MARK: - Blocks

  /// Returns the head of a block, if it is whole and in its place.
  func head(of index: Int) throws -> BlockHead? {
    let bytes = try Self.bytes(of: disk, path, from: index * BlockHead.blockSize, count: BlockHead.size)
    guard let head = BlockHead(bytes), head.index == index, head.identity == identity else { return nil }
    return head
  }

  /// Returns a block, as far as it lies before `end`, or nil if nothing in it is whole.
  func block(_ index: Int, before end: Int) throws -> Block? {
    let start = index * BlockHead.blockSize
    let count = min(BlockHead.blockSize, end - start)
    guard count >= BlockHead.size else { return nil }
    let bytes = try Self.bytes(of: disk, path, from: start, count: count)
    // Only the writer truncates a file, and only where no record is whole.
    if bytes.count < count {
      let error = SystemError(operation: "read", code: SystemError.shortRead)
      throw RecordLogError(file: path, offset: start, error)
    }
    return Block(index, bytes, identity: identity)
  }

  /// Returns the head of the last block that begins before `end`, has a whole head, and whose first record is
  /// not after `number`; or nil.
  ///
  /// The number of heads read is logarithmic in the number of blocks, unless heads are damaged.
  func lastHead(notAfter number: Int, before end: Int) throws -> BlockHead? {
    var found: BlockHead?
    var low = 0
    var high = BlockHead.count(in: end) - 1
    while low <= high {
      let middle = low + (high - low) / 2
      if let head = try firstHead(from: middle, before: min(end, (high + 1) * BlockHead.blockSize)),
        head.firstRecord <= number
      {
        found = head
        low = head.index + 1
      } else {
        high = middle - 1
      }
    }
    return found
  }

  private func firstHead(from index: Int, before end: Int) throws -> BlockHead? {
    var index = index
    while index < BlockHead.count(in: end) {
      if let head = try head(of: index) { return head }
      index = try nextBlock(from: index + 1, before: end)
    }
    return nil
  }
}

/// The end of a file, for reading it or appending to it.
struct Tail: Sendable, Hashable {
  /// The offset after the last whole frame, or after the head of the last block if that has none.
  var end: Int
  /// Where a reader stops if the last block is only a head: before that, because a writer cuts the head off with
  /// what it could not write after it. Nil if the reader stops at `end`.
  var endOfFrames: Int?
  /// The number of the next record.
  var count: Int
  /// The size that the file had, in bytes.
  var size: Int
  /// The bytes after the last whole frame, if they are more than a crash leaves.
  var damage: Range<Int>?
  /// The records of the unfinished group at the end.
  var unfinished: Range<Int>?
  /// Whether frames can follow in the block of the last one.
  var isBlockOpen = true
  /// The offset before which all bytes are known to be on the disk.
  var synchronizedEnd = 0
  var endsInCheckpoint = false

  var recovery: RecordLog.Recovery {
    RecordLog.Recovery(
      bytes: min(end, damage?.lowerBound ?? end)..<max(end, size), records: unfinished ?? count..<count,
      isDamage: damage != nil)
  }
}

extension LogFile {
  /// Finds the end of the whole frames, for a writer that has the file to itself. Reads the last block, and
  /// others only if nothing in that is whole. Damage after it stays: what is written next begins in a block after that.
  ///
  /// - Throws: `RecordLogError`, also if nothing of the log is whole.
  func tailForWriting() throws -> Tail {
    let size = try size()
    guard let (block, dataEnd) = try lastBlock(ofSize: size) else { throw RecordLogError(file: path, .notALog) }
    // The file of another segment has this one's name.
    guard block.nextRecord >= first else { throw RecordLogError(file: path, .replaced) }
    let damage = try damage(after: block, before: dataEnd)
    // No block after it could have its number in its head.
    if let damage, damage.upperBound > BlockHead.blockSize * Int(UInt32.max) {
      throw RecordLogError(RecordLog.Damage(file: path, displacing: damage, from: block.nextRecord))
    }
    var tail = Tail(
      end: block.start + block.end, count: block.nextRecord, size: size, damage: damage,
      isBlockOpen: damage == nil && !block.damage.contains { $0.lowerBound < block.end } && !block.isOpen,
      synchronizedEnd: max(
        (block.head?.synchronizedBlocks ?? 0) * BlockHead.blockSize,
        block.checkpoint.map { block.start + $0.lowerBound } ?? 0),
      endsInCheckpoint: block.checkpoint?.upperBound == block.end)
    if let damage {
      // No frame ends in so many zeros. The numbers of displaced records are not used again.
      tail.end = min(size, damage.upperBound + BlockHead.blockSize)
      tail.count = max(tail.count, try displacedBlock(in: damage)?.nextRecord ?? 0)
    } else {
      tail.unfinished = try unfinishedGroup(at: block, size)?.numbers
    }
    return tail
  }

  /// Finds the end of the whole records, beside a writer that may be writing the last one.
  func tailForReading() throws -> Tail {
    var (size, attempts) = (try size(), 0)
    while true {
      do {
        return try tailForReading(size)
      } catch {
        // The writer may have cut off a torn end meanwhile, and have written more since.
        let now = try self.size()
        attempts += 1
        guard now != size, attempts < 100 else { throw error }
        size = now
      }
    }
  }

  private func tailForReading(_ size: Int) throws -> Tail {
    guard let (last, dataEnd) = try lastBlock(ofSize: size) else { throw RecordLogError(file: path, .notALog) }
    let unfinished = try unfinishedGroup(at: last, size)
    let end = unfinished?.start ?? last.start + last.end
    return Tail(
      end: end, endOfFrames: try endOfFrames(before: end, size),
      count: max(first, unfinished?.numbers.lowerBound ?? last.nextRecord), size: size,
      damage: try damage(after: last, before: dataEnd), unfinished: unfinished?.numbers)
  }

  /// Returns where the block before the last one ends, if the last one is only a head; nil if it has frames, or
  /// if its number is lower than those of the block before it, whose records then do not count.
  private func endOfFrames(before end: Int, _ size: Int) throws -> Int? {
    let index = end / BlockHead.blockSize
    guard end % BlockHead.blockSize == BlockHead.size, index > 0, let head = try head(of: index),
      let block = try block(index - 1, before: size), block.nextRecord <= head.firstRecord
    else { return nil }
    return block.start + block.end
  }

  /// Returns the last block in which anything is whole, and where the bytes after it end that are not zero. Throws for
  /// a block of another version, so that nothing is cut off that only another version of this library understands.
  private func lastBlock(ofSize size: Int) throws -> (block: Block, dataEnd: Int)? {
    var (limit, dataEnd) = (BlockHead.count(in: size), 0)
    while let index = try lastBlock(before: limit) {
      limit = index
      let offset = index * BlockHead.blockSize
      let head = try Self.bytes(of: disk, path, from: offset, count: BlockHead.size)
      if let version = BlockHead.unsupportedVersion(head) {
        throw RecordLogError(file: path, offset: offset, .unsupportedVersion(version))
      }
      let block = try block(index, before: size)
      if dataEnd == 0 {
        let count = min(BlockHead.blockSize, size - offset)
        let bytes = try block?.bytes ?? Self.bytes(of: disk, path, from: offset, count: count)
        dataEnd = bytes.lastIndex { $0 != 0 }.map { offset + $0 + 1 } ?? 0
      }
      if let block { return (block, dataEnd) }
    }
    return nil
  }

  /// Returns the bytes after the last whole frame, if they are more than a crash leaves: more than a block, or such as
  /// hold a whole head, which is not where it was written. Bytes are missing before it, as in a broken copy, or there
  /// are too many.
  private func damage(after last: Block, before dataEnd: Int) throws -> Range<Int>? {
    // A block may end in zeros before the one that a crash has torn.
    let isAtOnce = last.bytes[last.end...].contains { $0 != 0 }
    let start = last.start + (isAtOnce ? last.end : BlockHead.blockSize)
    guard start < dataEnd else { return nil }
    let isDamage = try dataEnd - start > BlockHead.blockSize || displacedBlock(in: start..<dataEnd) != nil
    return isDamage ? (last.start + last.end)..<dataEnd : nil
  }

  /// Returns the last block of this file that begins in some bytes and is not in its place, as far as they go.
  private func displacedBlock(in range: Range<Int>) throws -> Block? {
    // The last one may be only a part of its head.
    let start = max(range.lowerBound, range.upperBound - BlockHead.blockSize - BlockHead.size)
    let bytes = try Self.bytes(of: disk, path, from: start, count: range.upperBound - start)
    for offset in bytes.indices.reversed() where bytes[offset...].starts(with: BlockHead.beginning) {
      guard let head = BlockHead(bytes[offset...]), head.identity == identity else { continue }
      return Block(head.index, Array(bytes[offset...].prefix(BlockHead.blockSize)), identity: identity)
    }
    return nil
  }

  /// Returns the group that continues after the last block, and where it begins; only its last record, if its
  /// first part is lost.
  private func unfinishedGroup(at last: Block, _ size: Int) throws -> (numbers: Range<Int>, start: Int)? {
    guard let number = try numberGoingOn(after: last, size) else { return nil }
    var limit = last.index + 1
    while let index = try lastBlock(before: limit) {
      limit = index
      guard let block = try block(index, before: size) else { continue }
      let isFirst = block.beginning?.number == number
      if isFirst || (block.nextRecord <= number && !block.isOpen) {
        let numbers = isFirst ? block.beginning?.numbers : nil
        return (numbers ?? number..<(number + 1), block.start + block.endOfRecords)
      }
    }
    return (number..<(number + 1), 0)
  }

  /// Returns the last record of the group that continues after the last block, or would continue in it if it
  /// had any frame.
  private func numberGoingOn(after block: Block, _ size: Int) throws -> Int? {
    if block.isOpen { return (block.beginning ?? block.continuation)?.number }
    guard block.end == BlockHead.size, block.index > 0,
      let previous = try self.block(block.index - 1, before: size), previous.isOpen
    else { return nil }
    return (previous.beginning ?? previous.continuation)?.number
  }
}
