import Stow
import Synchronization

/// Writes the frames of a log, one after the other. Records are collected in memory until their frame is written.
///
/// Used by one thread at a time, under the lock of the log.
final class LogWriter: @unchecked Sendable {
  let file: LogFile
  private let disk: any Disk
  /// The current path of the file: a new one is beside the log until it takes its place.
  var path: String
  let maximumRecordSize: Int
  private let packs: Bool
  private let counts: LogCounts
  private var packer = RecordPacker()
  /// The offset of the next frame; that of the next block if this one has no room for a frame.
  private(set) var end: Int
  /// The number of the first collected record: how many records the written frames hold, lost ones included.
  private(set) var written: Int
  /// How many records are collected, including those left out between them.
  private(set) var collected = 0
  /// How many records are left out after the collected ones.
  private var leftOut = 0
  /// The offset before which all bytes are known to be on the disk.
  private(set) var synchronizedEnd: Int
  /// Bytes that were in the file when it was opened, and may be only in the memory of the system.
  private var unsynchronized: Range<Int>
  private var endsInCheckpoint: Bool
  /// The error after which nothing more is written until the log is opened again.
  var failure: RecordLogError?
  /// Whether the log has continued in a new segment, with all of this one on the disk.
  var isFinished = false
  /// Held during every synchronization of the file, because the system reports a failure only once.
  private let hasFailedToSynchronize = Mutex(false)

  /// The head of the block if the frame is its first, room for the frame's head, its number, and the records.
  private var frame: [UInt8] = []
  /// The size of the records in the payload, with their lengths.
  private var collectedSize = 0
  private var kind = Frame.Kind.records
  /// Whether the next record begins a scope: it cannot rely on the records before it.
  private var needsScope = true
  /// The offset after the last frame. Any bytes there are left from a failed write.
  private(set) var wholeEnd: Int
  private var hasDebris = false

  /// While this much of a block is left, a record that does not fit is parted and the block is not ended.
  private static let leastRoomForPart = BlockHead.blockSize / 16
  /// A smaller rest of a block stays zero. This is room for the head of a frame, and a number or two.
  private static let leastRoomForFrame = 32
  /// The same for a first part, which also has a number and the length of a record.
  private static let leastRoomForFirstPart = 64

  init(_ file: LogFile, on disk: any Disk, at path: String, _ tail: Tail, _ options: WritingOptions) {
    self.file = file
    self.disk = disk
    self.path = path
    end = tail.end
    written = tail.count
    maximumRecordSize = min(options.maximumRecordSize, Block.Place.mostBytes)
    packs = options.packing == .words
    counts = options.counts
    wholeEnd = end
    synchronizedEnd = tail.synchronizedEnd
    unsynchronized = tail.synchronizedEnd..<(tail.damage?.lowerBound ?? tail.end)
    endsInCheckpoint = tail.endsInCheckpoint
    frame.reserveCapacity(BlockHead.blockSize)
    if tail.isBlockOpen { skipRestIfSmall() } else { skipRest() }
  }

  /// The number of the next record.
  var count: Int { written + collected + leftOut }

  /// The readable part of the file.
  var tail: Tail { Tail(end: wholeEnd, count: written, size: wholeEnd) }

  // MARK: - Places

  private var blockOffset: Int { end % BlockHead.blockSize }

  private var blockIndex: Int { end / BlockHead.blockSize }

  /// How many bytes of records and their lengths the next frame has room for.
  private var room: Int { roomAfterNumber - Varint.size(written) }

  private var roomAfterNumber: Int { BlockHead.blockSize - max(blockOffset, BlockHead.size) - Frame.headSize }

  /// The same for a frame that has a block to itself.
  private var roomOfBlock: Int { Frame.payloadLimit - Varint.size(written) }

  private func skipRestIfSmall() { if blockOffset > BlockHead.blockSize - Self.leastRoomForFrame { skipRest() } }

  private func skipRest() { if blockOffset != 0 { end += BlockHead.blockSize - blockOffset } }

  // MARK: - Records

  /// Makes the messages of records, each of which relies on the records before it in its scope, and lends one after the
  /// other, until `body` says that there is no room.
  typealias MessageMaker = (_ body: (UnsafeRawBufferPointer) throws -> Bool) throws -> Bool

  /// Appends records as a group: whatever happens to the file, all of them are there or none. They are in one
  /// frame, or in parts. If this throws, nothing is appended.
  ///
  /// - Parameter makeMessages: Called once more, in a new scope, if there is no room for the messages in this block.
  func append(in scope: some RecordScope, _ makeMessages: MessageMaker) throws {
    if needsScope {
      try flush()
      begin(scope)
    }
    let before = (collected, collectedSize)
    var size = 0
    do {
      let isCollected = try makeMessages { message in
        let isFirst = size == 0
        size += Varint.size(message.count) + message.count
        // The length of a single record does not count.
        try checkSize(isFirst ? message.count : size)
        return try collect(message)
      }
      if isCollected { return }
    } catch {
      takeBack(to: before)
      throw error
    }
    takeBack(to: before)
    try appendInNewScope(scope, makeMessages)
  }

  /// Forgets the records that were collected last.
  private func takeBack(to before: (count: Int, size: Int)) {
    guard collected > before.count else { return }
    if before.count > 0 { frame.removeLast(collectedSize - before.size) }
    (collected, collectedSize) = before
    needsScope = true
  }

  private func begin(_ scope: some RecordScope) {
    scope.begin()
    if packs { packer.removeAll() }
  }

  /// Adds a record to those collected. Returns false if the block has no room for it.
  private func collect(_ message: UnsafeRawBufferPointer) throws -> Bool {
    try checkNumbers(1)
    return packs ? collectPacked(message) : collect(message, head: message.count)
  }

  /// Adds a record, packed if that takes fewer bytes. Its length says whether it is packed.
  private func collectPacked(_ message: UnsafeRawBufferPointer) -> Bool {
    if let isCollected = packer.withPacked(message, { collect($0, head: $0.count << 1 | 1) }) { return isCollected }
    guard collect(message, head: message.count << 1) else { return false }
    packer.add(message)
    return true
  }

  /// - Parameter head: The integer in front of the record.
  @inline(__always)
  private func collect(_ record: UnsafeRawBufferPointer, head: Int) -> Bool {
    let size = Varint.size(head) + record.count + (leftOut == 0 ? 0 : 1 + Varint.size(leftOut))
    guard size <= room - (collected == 0 ? 0 : collectedSize) else { return false }
    if collected == 0 { beginFrameOfRecords() }
    if leftOut > 0 { collectLeftOut() }
    Varint.append(head, to: &frame)
    frame.append(contentsOf: record)
    collected += 1
    collectedSize += size
    needsScope = false
    return true
  }

  private func beginFrameOfRecords() {
    let isFresh = needsScope && blockOffset > BlockHead.size
    beginFrame(.records(isFresh: isFresh, isPackable: packs), number: written)
  }

  /// Leaves out `count` records: the number of the next record is higher by as many.
  func leaveOut(_ count: Int) { leftOut += count }

  /// Writes a zero in place of a record's length, followed by the number of records left out.
  @inline(never)
  private func collectLeftOut() {
    frame.append(0)
    Varint.append(leftOut, to: &frame)
    (collected, leftOut) = (collected + leftOut, 0)
  }

  /// Throws if a record or group exceeds the limit, as it may when it is encoded again for a new scope.
  private func checkSize(_ size: Int) throws {
    guard size > maximumRecordSize else { return }
    // The definitions of the record are not written.
    needsScope = true
    let reason = RecordLogError.Reason.recordTooLarge(size: size, limit: maximumRecordSize)
    throw RecordLogError(file: file.path, reason)
  }

  /// Returns how many bytes a record takes in a frame, unpacked.
  private func sizeInFrame(of count: Int) -> Int { Varint.size(packs ? count << 1 : count) + count }

  /// Appends records that do not fit in this block. They begin a scope, wherever they are written.
  private func appendInNewScope(_ scope: some RecordScope, _ makeMessages: MessageMaker) throws {
    needsScope = true
    try flush()
    begin(scope)
    var (records, places, size) = ([UInt8](), [Range<Int>](), 0)
    let isDone = try makeMessages { message in
      Varint.append(message.count, to: &records)
      places.append(records.count..<(records.count + message.count))
      records.append(contentsOf: message)
      size += sizeInFrame(of: message.count)
      try checkSize(places.count == 1 ? message.count : records.count)
      return true
    }
    precondition(isDone, "everything was taken")
    try checkNumbers(places.count)
    try records.withUnsafeBytes { records in
      // In the new scope the records may be short enough to fit here after all.
      if needsParts(size) {
        try writeParts(of: places.count, records)
        needsScope = true
        return
      }
      for place in places {
        let hasRoom = try collect(UnsafeRawBufferPointer(rebasing: records[place]))
        precondition(hasRoom, "there is room for what needs no parts")
      }
    }
  }

  /// Returns whether records of `size` bytes must be parted. If not, the next frame has room for them, in a
  /// new block if needed.
  private func needsParts(_ size: Int) -> Bool {
    if size <= room { return false }
    if size > roomOfBlock || (blockOffset != 0 && room >= Self.leastRoomForPart) { return true }
    skipRest()
    return false
  }

  /// Throws if this many more records would exceed the highest number.
  private func checkNumbers(_ more: Int) throws {
    guard more < BlockHead.recordLimit - count else {
      needsScope = true
      throw RecordLogError(file: file.path, .noMoreNumbers)
    }
  }

  /// Ends the scope: the next record does not rely on those before it.
  func endScope() { needsScope = true }

  /// Forgets the records that are collected.
  func dropCollected() {
    collected = 0
    needsScope = true
  }

  // MARK: - Frames

  private var frameStart: Int { blockOffset == 0 ? BlockHead.size : 0 }

  /// Makes room for the heads in front of the next frame, and puts its number after them.
  private func beginFrame(_ kind: Frame.Kind, number: Int) {
    self.kind = kind
    collectedSize = 0
    frame.removeAll(keepingCapacity: true)
    frame.append(contentsOf: repeatElement(0, count: frameStart + Frame.headSize))
    Varint.append(number, to: &frame)
  }

  /// Writes the records that are collected. If this throws, they still are.
  func flush() throws {
    if let failure { throw failure }
    try writeCollected()
    guard leftOut > 0 else { return }
    beginFrameOfRecords()
    collectLeftOut()
    try writeCollected()
  }

  private func writeCollected() throws {
    guard collected > 0 else { return }
    let count = collected
    try writeFrame(firstRecord: written)
    written += count
    collected = 0
  }

  /// Writes the parts of a group, from here on across as many blocks as it takes: all of them, or nothing.
  ///
  /// - Parameters:
  ///   - count: The number of records in the group.
  ///   - bytes: The records, with their lengths.
  private func writeParts(of count: Int, _ bytes: UnsafeRawBufferPointer) throws {
    precondition(bytes.count > 1, "less is no reason to part it")
    let start = (end, wholeEnd)
    let (first, last) = (written, written + count - 1)
    do {
      if BlockHead.blockSize - blockOffset < Self.leastRoomForFirstPart { skipRest() }
      var head: [UInt8] = []
      Varint.append(count, to: &head)
      Varint.append(bytes.count, to: &head)
      var done = min(room - head.count, bytes.count - 1)
      beginFrame(.first, number: first)
      frame += head
      frame.append(contentsOf: bytes[..<done])
      try writeFrame(firstRecord: first)
      while done < bytes.count {
        skipRest()
        let room = min(roomAfterNumber - Varint.size(last), bytes.count - done)
        beginFrame(done + room == bytes.count ? .last : .middle, number: last)
        frame.append(contentsOf: bytes[done..<(done + room)])
        try writeFrame(firstRecord: last + 1)
        done += room
      }
      written += count
    } catch {
      (end, wholeEnd) = start
      hasDebris = true
      try? removeDebris()
      throw error
    }
  }

  /// Writes the frame that was begun, and moves past it.
  private func writeFrame(firstRecord: Int) throws {
    if hasDebris { try removeDebris() }
    if frameStart > 0 {
      let head = BlockHead(
        identity: file.identity, firstRecord: firstRecord, index: blockIndex,
        synchronizedBlocks: synchronizedEnd / BlockHead.blockSize)
      frame.replaceSubrange(..<BlockHead.size, with: head.bytes)
    }
    Frame.seal(&frame, from: frameStart, kind, at: end + frameStart, identity: file.identity)
    do {
      try write(frame, at: end)
    } catch {
      hasDebris = failure == nil
      try? removeDebris()
      throw error
    }
    end += frame.count
    wholeEnd = end
    endsInCheckpoint = false
    skipRestIfSmall()
    // The records of a block are read without those before it.
    if blockOffset == 0 { needsScope = true }
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws {
    try checkFile()
    try RecordLogError.naming(file.path, at: offset) {
      try bytes.withUnsafeBytes { try file.disk.write($0, at: offset) }
    }
    counts.writtenBytes.add(bytes.count, ordering: .relaxed)
  }

  /// Checks that the file is the one at its path, and has all that was written to it. After an error nothing
  /// more is written.
  func checkFile() throws {
    if let failure { throw failure }
    let (place, status) = try RecordLogError.naming(file.path) { (try disk.place(of: path), try file.disk.status()) }
    if place != status.place {
      failure = RecordLogError(file: file.path, .replaced)
    } else if status.size < wholeEnd {
      failure = RecordLogError(file: file.path, .truncated(size: status.size, written: wholeEnd))
    }
    if let failure { throw failure }
  }

  /// Cuts off what a failed write has left. It must not reappear either after something is written there.
  private func removeDebris() throws {
    try checkFile()
    try RecordLogError.naming(file.path, at: wholeEnd) { try file.disk.truncate(to: wholeEnd) }
    try synchronizeNow()
    hasDebris = false
  }

  // MARK: - Frames without records

  /// Writes that the records whose parts precede this are given up. Their numbers are not reused.
  func writeAbandonment(of numbers: Range<Int>) throws {
    beginFrame(.abandonment, number: numbers.lowerBound)
    Varint.append(numbers.count, to: &frame)
    try writeFrame(firstRecord: written)
  }

  /// Writes that everything before this is on the disk, unless nothing was written after an earlier process noted that.
  /// Called once, at the end.
  func writeCheckpoint() throws {
    guard collected == 0, !hasDebris, synchronizedEnd == wholeEnd, !endsInCheckpoint else { return }
    beginFrame(.checkpoint, number: written)
    try writeFrame(firstRecord: written)
  }

  // MARK: - Synchronizing

  /// Writes everything that must be written before the disk synchronizes.
  ///
  /// That includes what an earlier process wrote: after a failed synchronization, the system considers bytes
  /// written that are only in its memory, and brings them to the disk only if they are written again.
  func prepareToSynchronize() throws {
    try flush()
    while !unsynchronized.isEmpty {
      let (offset, count) = (unsynchronized.lowerBound, min(BlockHead.blockSize, unsynchronized.count))
      try write(LogFile.bytes(of: file.disk, file.path, from: offset, count: count), at: offset)
      unsynchronized = (offset + count)..<unsynchronized.upperBound
    }
  }

  /// Whether a synchronization brings all that is written to the disk. If not, ``prepareToSynchronize()`` has failed.
  var isPrepared: Bool { unsynchronized.isEmpty }

  /// Has the disk synchronize the file. After an error it is not tried again.
  func synchronizeFile() throws {
    try hasFailedToSynchronize.withLock { hasFailed in
      if hasFailed { throw RecordLogError(file: file.path, .synchronizationFailed) }
      hasFailed = true
      try RecordLogError.naming(file.path) { try file.disk.synchronize() }
      hasFailed = false
      counts.synchronizations.add(1, ordering: .relaxed)
    }
  }

  /// Whether all that is written is known to be on the disk.
  var isSynchronized: Bool { synchronizedEnd == wholeEnd }

  /// Brings all records to the disk, before the next segment is begun, or the file takes the place of another.
  func finish() throws {
    // Another log may be at the path of this one by now.
    try checkFile()
    try prepareToSynchronize()
    if hasDebris { try removeDebris() }
    try synchronizeNow()
    noteSynchronized(before: wholeEnd)
  }

  /// Has the disk synchronize the file, and notes if that fails.
  private func synchronizeNow() throws {
    do {
      try synchronizeFile()
    } catch {
      failToSynchronize()
      throw error
    }
  }

  /// Returns whether the file, with what is collected, has `size` bytes, or has less room than a part of a record.
  func isFull(_ size: Int) -> Bool {
    end + (collected > 0 ? frame.count : 0) > size - Self.leastRoomForPart && count > file.first
  }

  /// Takes note that all bytes before `end` are on the disk.
  func noteSynchronized(before end: Int) { synchronizedEnd = max(synchronizedEnd, end) }

  /// Takes note that the disk failed to synchronize: it is now unknown what is on it.
  func failToSynchronize() { failure = failure ?? RecordLogError(file: file.path, .synchronizationFailed) }
}
