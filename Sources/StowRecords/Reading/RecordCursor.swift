/// Walks over the records of a file, from a number on, up to where they ended when it set out. Needs memory for one
/// block, or for one record if that is larger.
///
/// What is damaged is passed over and reported: a block without a whole head, the rest of a block behind a frame that
/// is not whole, and a record of several blocks of which one is missing. The number in the head of the next block
/// says how many records that were.
struct RecordCursor {
  private let file: LogFile
  private let tail: Tail
  private let maximumRecordSize: Int
  private let report: (RecordLog.Damage) -> Void

  /// No record before this is wanted. The walk begins with the block that it should be in, so that a part which was
  /// lost is reported as a whole.
  private let start: Int
  /// The number of the record that comes next.
  private(set) var next: Int
  /// The block that is to be read next.
  private var index: Int
  private var block: Block?
  private var store: RecordStore?
  /// Where the last frame ended that was whole.
  private var wholeEnd = 0
  /// What could not be read behind that.
  private var hole: (bytes: Range<Int>, reason: RecordLog.Damage.Reason)?

  init(
    _ file: LogFile, from number: Int, _ tail: Tail, maximumRecordSize: Int,
    report: @escaping (RecordLog.Damage) -> Void
  ) {
    self.file = file
    self.tail = tail
    self.maximumRecordSize = maximumRecordSize
    self.report = report
    start = min(number, tail.count)
    // Where heads cannot be read, the walk begins at the front and reports them.
    let found = try? file.lastBlock(notBehind: start, before: tail.end)
    index = found ?? 0
    next = found == nil ? 0 : start
    wholeEnd = index * BlockHead.blockSize
  }

  mutating func nextRecord() -> RecordLog.Record? {
    while let record = anyRecord() {
      if record.number >= start { return record }
    }
    return nil
  }

  private mutating func anyRecord() -> RecordLog.Record? {
    while next < tail.count {
      if let store, next - store.firstNumber < store.count {
        next += 1
        return RecordLog.Record(store: store, index: next - 1 - store.firstNumber)
      }
      if let record = longRecord() { return record }
      guard readBlock() else { break }
    }
    finish()
    return nil
  }

  // MARK: - Blocks

  /// Goes on to the next block that can be read; false if there is none.
  private mutating func readBlock() -> Bool {
    leaveBlock()
    while index * BlockHead.blockSize < tail.end {
      let offset = index * BlockHead.blockSize
      index += 1
      do {
        if let block = try file.block(index - 1, before: tail.end) {
          if block.head.context == 0 {
            enter(block)
            return true
          }
          addHole(offset, .context)
        } else {
          addHole(offset, .head)
        }
      } catch {
        addHole(offset, (error as? RecordLogError)?.unreadable ?? .head)
      }
    }
    return false
  }

  /// Adds a block to what could not be read.
  private mutating func addHole(_ offset: Int, _ reason: RecordLog.Damage.Reason) {
    let end = min(offset + BlockHead.blockSize, tail.end)
    hole = ((hole?.bytes.lowerBound ?? offset)..<end, hole?.reason ?? reason)
  }

  private mutating func leaveBlock() {
    guard let block else { return }
    if block.isDamaged {
      hole = ((block.start + block.end)..<(block.start + block.bytes.count), .frame)
    }
    self.block = nil
    store = nil
  }

  private mutating func enter(_ block: Block) {
    if next == start { next = min(next, block.nextRecord) }
    let lostEnd = block.continuation.map { block.start + $0.payload.upperBound } ?? block.start
    reportLost(before: block.head.firstRecord, before: lostEnd)
    take(block)
  }

  private mutating func take(_ block: Block) {
    self.block = block
    store = RecordStore(block)
    wholeEnd = block.start + block.end
  }

  /// Reports what could not be read up to here, and the records that are missing.
  private mutating func reportLost(before number: Int, before end: Int) {
    let records = next..<max(next, number)
    if hole == nil && records.isEmpty { return }
    let bytes = hole?.bytes ?? min(wholeEnd, end)..<end
    report(RecordLog.Damage(records: records, bytes: bytes, reason: hole?.reason ?? .missing))
    hole = nil
    next = records.upperBound
  }

  private mutating func finish() {
    leaveBlock()
    if next < tail.count || hole != nil { reportLost(before: tail.count, before: tail.end) }
  }

  // MARK: - Records of several blocks

  /// The record that begins at the end of the block and is the next, put together; nil if there is none.
  private mutating func longRecord() -> RecordLog.Record? {
    guard let block, let beginning = block.beginning, block.nextRecord - 1 == next else { return nil }
    var message = Array(block.bytes[beginning])
    var failure = RecordLog.Damage.Reason.unfinished
    while let part = part(of: next, &failure), let continuation = part.continuation {
      guard continuation.payload.count <= maximumRecordSize - message.count else {
        failure = .recordTooLarge
        break
      }
      message += part.bytes[continuation.payload]
      index += 1
      if continuation.isLast {
        take(part)
        next += 1
        return RecordLog.Record(store: RecordStore(next - 1, message: message), index: 0)
      }
      if part.isDamaged { break }
    }
    self.block = nil
    store = nil
    hole = ((block.start + block.end)..<(index * BlockHead.blockSize), failure)
    return nil
  }

  /// The next block, if it goes on with a record.
  private func part(of number: Int, _ failure: inout RecordLog.Damage.Reason) -> Block? {
    do {
      let block = try file.block(index, before: tail.end)
      return block?.continuation != nil && block?.head.firstRecord == number + 1 ? block : nil
    } catch {
      failure = (error as? RecordLogError)?.unreadable ?? failure
      return nil
    }
  }
}

extension RecordLogError {
  fileprivate var unreadable: RecordLog.Damage.Reason? {
    if case .system(_, let code) = reason { .unreadable(code) } else { nil }
  }
}
