/// Where the whole records of a file end.
struct Tail: Sendable, Hashable {
  /// The offset behind the last whole record.
  var end: Int
  /// How many records there are before it, the lost ones included.
  var count: Int
  /// The size that the file had, in bytes.
  var size: Int
  /// How many records are known to begin behind the end.
  var unfinished = 0

  var recovery: RecordLog.Recovery { RecordLog.Recovery(bytes: end..<max(end, size), records: unfinished) }
}

extension LogFile {
  /// Finds the end of the whole records. Reads the last block, and walks back only over blocks that are broken or
  /// belong to a record that is not whole.
  ///
  /// - Throws: `RecordLogError`, also if nothing of the log is whole.
  func tail() throws -> Tail {
    let size = try size()
    var known = 0
    var limit = Int.max
    for index in (0..<BlockHead.count(in: size)).reversed() {
      guard try isUsable(index), let block = try block(index, before: size) else { continue }
      known = max(known, block.nextRecord)
      if block.head.firstRecord > limit { continue }
      if try endsInUnfinishedRecord(block, before: size) {
        limit = block.head.firstRecord - 1
        continue
      }
      let count = block.head.firstRecord + block.records.count
      return Tail(end: block.start + block.end, count: count, size: size, unfinished: max(0, known - count))
    }
    throw RecordLogError(file: path, .notALog)
  }

  /// Whether the head of a block is whole and of this version. One of a later version is an error, so that nothing is
  /// cut off that only a later reader understands.
  private func isUsable(_ index: Int) throws -> Bool {
    let offset = index * BlockHead.blockSize
    let bytes = try Self.bytes(of: disk, path, from: offset, count: BlockHead.size)
    if let version = BlockHead.laterVersion(bytes) {
      throw RecordLogError(file: path, offset: offset, .laterVersion(version))
    }
    guard let head = try head(of: index) else { return false }
    if head.context != 0 { throw RecordLogError(file: path, offset: offset, .laterVersion(1)) }
    return true
  }

  /// Whether a block, the last that is left, has nothing but parts of a record whose last part is missing.
  private func endsInUnfinishedRecord(_ block: Block, before size: Int) throws -> Bool {
    if let continuation = block.continuation { return !continuation.isLast }
    guard block.end == BlockHead.size, block.head.index > 0,
      let previous = try self.block(block.head.index - 1, before: size)
    else { return false }
    return previous.beginning != nil || previous.continuation?.isLast == false
  }
}
