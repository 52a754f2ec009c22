/// Writes the frames of a log, one behind the other. Records are collected in memory until their frame is written.
///
/// Only one thread at a time uses it: the log has it behind a lock.
final class LogWriter: @unchecked Sendable {
  let file: LogFile
  let maximumRecordSize: Int
  private let packs: Bool
  private var packer = RecordPacker()
  /// The offset of the next frame; that of the next block, if there is no room for a frame in this one.
  private(set) var end: Int
  /// How many records the written frames hold.
  private(set) var written: Int
  /// How many records are collected.
  private(set) var collected = 0

  /// The head of the block if the frame is its first, room for the head of the frame, and the records.
  private var frame: [UInt8] = []
  /// What the collected records take of it.
  private var collectedSize = 0
  private var kind = Frame.Kind.records
  /// Whether the next record begins a scope: it cannot rely on the records before it.
  private var needsScope = true
  /// The offset behind the last frame. What stands there is left of a write that failed.
  private var wholeEnd: Int
  private var hasDebris = false
  /// Whether the disk failed to synchronize: nothing more is written.
  private(set) var hasFailedToSynchronize = false

  /// A block is not ended for a record while so much of it is left: then the record is parted.
  private static let leastRoomForPart = BlockHead.blockSize / 16

  init(_ file: LogFile, end: Int, written: Int, _ options: WritingOptions) {
    self.file = file
    self.end = end
    self.written = written
    maximumRecordSize = options.maximumRecordSize
    packs = options.packing == .words
    wholeEnd = end
    frame.reserveCapacity(BlockHead.blockSize)
    skipRestIfSmall()
  }

  /// The number of all records, the collected ones included.
  var count: Int { written + collected }

  /// What can be read of the file.
  var tail: Tail { Tail(end: wholeEnd, count: written, size: wholeEnd) }

  // MARK: - Places

  private var blockOffset: Int { end % BlockHead.blockSize }

  private var blockIndex: Int { end / BlockHead.blockSize }

  /// How many bytes the payload of the next frame may have.
  private var payloadRoom: Int {
    BlockHead.blockSize - max(blockOffset, BlockHead.size) - Frame.headSize
  }

  /// What is left of a block, if it is too little for a frame, stays zero.
  private func skipRestIfSmall() {
    if blockOffset > BlockHead.blockSize - Frame.leastSize - 1 { skipRest() }
  }

  private func skipRest() {
    if blockOffset != 0 { end += BlockHead.blockSize - blockOffset }
  }

  // MARK: - Records

  /// Makes the message of a record, relative to the records before it in its scope, and lends it.
  typealias MessageMaker = (_ body: (UnsafeRawBufferPointer) throws -> Bool) throws -> Bool

  /// Appends a record. If this throws, there is no such record.
  ///
  /// - Parameter makeMessage: Called once more, in a new scope, if there is no room for the message in this block.
  func append(in scope: some RecordScope, _ makeMessage: MessageMaker) throws {
    if needsScope {
      try flush()
      begin(scope)
    }
    if try makeMessage(collect) { return }
    scope.undo()
    try appendInNewScope(scope, makeMessage)
  }

  private func begin(_ scope: some RecordScope) {
    scope.begin()
    if packs { packer.removeAll() }
  }

  /// Puts a record behind those that are collected; false if the block has no room for it.
  private func collect(_ message: UnsafeRawBufferPointer) throws -> Bool {
    try checkSize(of: message)
    return packs ? collectPacked(message) : collect(message, head: message.count)
  }

  /// The same, packed if that takes fewer bytes. The length says whether it is.
  private func collectPacked(_ message: UnsafeRawBufferPointer) -> Bool {
    if let isCollected = packer.withPacked(message, { collect($0, head: $0.count << 1 | 1) }) {
      return isCollected
    }
    guard collect(message, head: message.count << 1) else { return false }
    packer.add(message)
    return true
  }

  /// - Parameter head: What stands in front of the record.
  @inline(__always)
  private func collect(_ record: UnsafeRawBufferPointer, head: Int) -> Bool {
    let size = Uint.size(of: head) + record.count
    guard size <= payloadRoom - (collected == 0 ? 0 : collectedSize) else { return false }
    if collected == 0 {
      let isFresh = needsScope && blockOffset > BlockHead.size
      beginFrame(.records(isFresh: isFresh, isPackable: packs))
    }
    Uint.append(head, to: &frame)
    frame.append(contentsOf: record)
    collected += 1
    collectedSize += size
    needsScope = false
    return true
  }

  /// Throws if a record is larger than the limit. Encoded anew, for a new scope, one may have become so.
  private func checkSize(of message: UnsafeRawBufferPointer) throws {
    guard message.count > maximumRecordSize else { return }
    // What the record defined is not written.
    needsScope = true
    let reason = RecordLogError.Reason.recordTooLarge(size: message.count, limit: maximumRecordSize)
    throw RecordLogError(file: file.path, reason)
  }

  /// Appends a record for which this block has no room. It begins a scope, wherever it gets.
  private func appendInNewScope(_ scope: some RecordScope, _ makeMessage: MessageMaker) throws {
    needsScope = true
    begin(scope)
    let isLong = try makeMessage { message in
      try checkSize(of: message)
      try flush()
      let size = Uint.size(of: packs ? message.count << 1 : message.count) + message.count
      // In the new scope the record may be so much shorter that it has room here.
      if try size <= payloadRoom && collect(message) { return false }
      let isLong = size > Frame.payloadLimit || (blockOffset != 0 && payloadRoom >= Self.leastRoomForPart)
      if isLong {
        try writeParts(of: message)
      } else {
        skipRest()
        let hasRoom = try collect(message)
        precondition(hasRoom, "a whole block has room for it")
      }
      return isLong
    }
    if isLong {
      begin(scope)
      needsScope = false
    }
  }

  /// The next record does not rely on those before it.
  func endScope() { needsScope = true }

  /// Forgets the records that are collected.
  func dropCollected() {
    collected = 0
    needsScope = true
  }

  // MARK: - Frames

  private var frameStart: Int { blockOffset == 0 ? BlockHead.size : 0 }

  /// Makes room for the heads in front of the next frame.
  private func beginFrame(_ kind: Frame.Kind) {
    self.kind = kind
    collectedSize = 0
    frame.removeAll(keepingCapacity: true)
    frame.append(contentsOf: repeatElement(0, count: frameStart + Frame.headSize))
  }

  /// Writes the records that are collected. If this throws, they still are.
  func flush() throws {
    guard collected > 0 else { return }
    let count = collected
    try writeFrame(at: end, firstRecord: written)
    moveBehindFrame()
    written += count
    collected = 0
  }

  /// Writes the parts of a record, from here on over as many blocks as it takes. All of them, or nothing.
  private func writeParts(of message: UnsafeRawBufferPointer) throws {
    precondition(message.count > 1, "less is no reason to part it")
    let start = (end, wholeEnd)
    do {
      var done = 0
      while done < message.count {
        // A part is left for the next block, also if only the length of the record has no room in this one.
        let count = min(payloadRoom, message.count - 1, message.count - done)
        let isLast = done + count == message.count
        beginFrame(done == 0 ? .first : isLast ? .last : .middle)
        frame.append(contentsOf: message[done..<(done + count)])
        try writeFrame(at: end, firstRecord: written + (done == 0 ? 0 : 1))
        moveBehindFrame()
        if !isLast { skipRest() }
        done += count
      }
      written += 1
    } catch {
      (end, wholeEnd) = start
      hasDebris = true
      try? removeDebris()
      throw error
    }
  }

  private func writeFrame(at offset: Int, firstRecord: Int) throws {
    if hasDebris { try removeDebris() }
    if frameStart > 0 {
      let head = BlockHead(identity: file.identity, firstRecord: firstRecord, index: blockIndex)
      frame.replaceSubrange(..<BlockHead.size, with: head.bytes)
    }
    Frame.seal(&frame, from: frameStart, kind, at: offset + frameStart, identity: file.identity)
    do {
      try write(frame, at: offset)
    } catch {
      hasDebris = true
      try? removeDebris()
      throw error
    }
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws {
    try RecordLogError.naming(file.path, at: offset) {
      try bytes.withUnsafeBytes { try file.disk.write($0, at: offset) }
    }
  }

  private func moveBehindFrame() {
    end += frame.count
    wholeEnd = end
    skipRestIfSmall()
    // The records of a block are read without those before it.
    if blockOffset == 0 { needsScope = true }
  }

  /// Cuts off what a write has left that failed. It must not come back either, behind what is written there later.
  private func removeDebris() throws {
    if hasFailedToSynchronize { throw RecordLogError(file: file.path, .synchronizationFailed) }
    try RecordLogError.naming(file.path, at: wholeEnd) {
      try file.disk.truncate(to: wholeEnd)
      do {
        try file.disk.synchronize()
      } catch {
        hasFailedToSynchronize = true
        throw error
      }
    }
    hasDebris = false
  }

  // MARK: - Compaction

  /// Writes where the records of this log came from; the first frame of the file. Written again with the same size
  /// when their number is known.
  func write(_ origin: Origin) throws {
    var bytes = [UInt8](repeating: 0, count: Frame.headSize)
    origin.append(to: &bytes)
    Frame.seal(&bytes, from: 0, .origin, at: BlockHead.size, identity: file.identity)
    try write(bytes, at: BlockHead.size)
    if end == BlockHead.size {
      end += bytes.count
      wholeEnd = end
    }
  }
}
