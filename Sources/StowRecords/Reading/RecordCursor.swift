import Stow

/// Walks over the records of a file, from a number on up to where they ended when the walk began. Needs
/// memory for one block, or for one record if that is larger.
///
/// Damage is skipped and reported: a block in which nothing is whole, unreadable parts of other blocks, and a group in
/// several blocks that lacks a part. The number in the next whole frame or head tells how many records were lost.
struct RecordCursor: Sendable {
  let file: LogFile
  private let tail: Tail
  /// Nothing after this offset is read.
  private var end: Int { tail.endOfFrames ?? tail.end }
  private let maximumRecordSize: Int
  private let decoder: StowDecoder
  /// Receives the damage.
  var report: DamageReport

  /// The first number that is wanted. The walk begins with the block that it should be in, so that a lost
  /// part is reported as a whole.
  private let start: Int
  /// The number of the record that comes next.
  private(set) var next: Int
  /// The index of the block to read next.
  private var index = 0
  /// The block being read, and the index of its next piece.
  private var block: Block?
  private var piece = 0
  private var store: RecordStore?
  /// Where the records of the next block begin: if heads contradict each other, a record belongs to the later block.
  private var limit = Int.max
  /// The number after the last record of the block that was read last: no head has a lower one.
  private var claimed: Int
  /// Lower numbers do not count, by the heads at the middle parts of lost groups.
  private var passed = 0
  /// The range of given-up records that holds the number with which the walk begins; nil until it is met.
  private(set) var abandoned: Range<Int>?
  /// The end of the last frame that was read.
  private var wholeEnd = 0
  /// The unreadable bytes after that.
  private var hole: (bytes: Range<Int>, reason: RecordLog.Damage.Reason)?

  init(
    _ file: LogFile, from number: Int, _ tail: Tail, maximumRecordSize: Int, _ decoder: StowDecoder,
    _ report: DamageReport
  ) {
    self.file = file
    self.tail = tail
    self.maximumRecordSize = min(maximumRecordSize, Block.Place.mostBytes)
    self.decoder = decoder
    self.report = report
    start = min(number, tail.count)
    next = file.first
    claimed = file.first
    // If heads cannot be read, the walk begins at the front and reports them. If they contradict each other,
    // what is read from the front counts.
    if start > file.first, let head = try? file.lastHead(notAfter: start, before: end) {
      (index, next) = (head.index, max(file.first, head.firstRecord))
      wholeEnd = index * BlockHead.blockSize
    }
  }

  /// Returns the next record without reading from the file; nil if reading is needed.
  mutating func nextReadRecord() -> RecordLog.Record? {
    guard let store else { return nil }
    let end = store.counting.upperBound
    next = max(next, min(start, end))
    guard next < end else { return nil }
    let numbers = store.run.numbers
    let place = numbers.place(from: next)
    guard place < numbers.count, numbers.number(at: place) < end else {
      // The last ones were left out.
      next = end
      return nil
    }
    next = numbers.number(at: place) + 1
    return RecordLog.Record(store: store, index: place)
  }

  /// Returns the records around the number that the walk begins with, or the next ones; nil if there are no
  /// more, or if that record turns out to be lost.
  mutating func firstStore() -> RecordStore? {
    while store.map({ $0.counting.upperBound <= start }) ?? true {
      // These are skipped, not lost.
      if let store { next = max(next, store.counting.upperBound) }
      if next > start { return nil }
      guard goOn() else {
        _ = nextRecord()
        return nil
      }
    }
    return store
  }

  /// - Parameter last: The highest number that is wanted. Once the head of a block says that all others are higher,
  ///   this returns nil.
  mutating func nextRecord(upTo last: Int = .max) -> RecordLog.Record? {
    while true {
      if let record = nextReadRecord() { return record }
      if next > last { return nil }
      guard goOn() else { break }
    }
    if next < tail.count || hole != nil { reportLost(before: tail.count, before: end) }
    if let damage = tail.damage { report.add(RecordLog.Damage(file: file.path, displacing: damage, from: tail.count)) }
    return nil
  }

  /// Moves to the next piece or block. Returns false after the last.
  private mutating func goOn() -> Bool {
    guard let block else { return readBlock() }
    guard piece < block.pieces.count else { return readGroup() || readBlock() }
    piece += 1
    switch block.pieces[piece - 1] {
    case .damage(let range):
      addDamage(range, of: block)
    case .records(let run):
      guard run.numbers.first < min(limit, tail.count) else {
        // None of them counts, so later blocks may have lower numbers.
        store = nil
        break
      }
      let start = block.start + (run.records.first?.range.lowerBound ?? 0)
      reportLost(before: run.numbers.first, before: start)
      let end = max(next, min(run.numbers.end, limit, tail.count))
      store = RecordStore(file, run, counting: next..<end, block.bytes, decoder)
      wholeEnd = block.start + run.end
    }
    return true
  }

  /// The file and the block of the last record, and the run that the record is in; nil if the record spans
  /// several blocks.
  var knownRun: (file: LogFile, block: Block, run: KnownRun)? {
    guard let block, let store, piece > 0, case .records(let run) = block.pieces[piece - 1] else { return nil }
    return KnownRun(run, of: block, counting: store.counting, file, decoder).map { (file, block, $0) }
  }

  // MARK: - Blocks

  /// Moves to the next readable block. Returns false after the last.
  private mutating func readBlock() -> Bool {
    (block, store) = (nil, nil)
    while index * BlockHead.blockSize < end {
      let offset = index * BlockHead.blockSize
      index += 1
      var reason = RecordLog.Damage.Reason.head
      do {
        if let block = try file.block(index - 1, before: end) {
          enter(block)
          return true
        }
        index = try file.nextBlock(from: index, before: end)
      } catch {
        reason = RecordLog.Damage.Reason(reading: error, orElse: .unreadable(SystemError.shortRead))
      }
      addHole(offset..<min(index * BlockHead.blockSize, end), reason)
    }
    return false
  }

  private mutating func enter(_ block: Block) {
    let limit = firstRecord(of: index) ?? .max
    let least = max(passed, min(block.head?.firstRecord ?? 0, limit))
    if let abandoned = block.abandoned {
      // No caller was told that these records exist.
      reportLost(before: min(abandoned.lowerBound, limit), before: block.start)
      let numbers = next..<max(next, min(abandoned.upperBound, limit))
      if numbers.contains(start) { self.abandoned = numbers }
      next = numbers.upperBound
    }
    if let first = block.head?.firstRecord, first < claimed { addDamage(0..<BlockHead.size, of: block) }
    if block.head != nil || next < least {
      let end = block.continuation.map { block.start + $0.bytes.upperBound } ?? block.start
      reportLost(before: least, before: end)
    }
    take(block, limit)
  }

  private mutating func take(_ block: Block, _ limit: Int) {
    (self.block, piece, store) = (block, 0, nil)
    self.limit = limit
    claimed = block.nextRecord
    wholeEnd = block.start + (block.continuation?.bytes.upperBound ?? BlockHead.size)
  }

  /// Returns the first record of a block, or nil if its head is not whole.
  private func firstRecord(of index: Int) -> Int? {
    guard index * BlockHead.blockSize < end else { return nil }
    return (try? file.head(of: index))?.firstRecord
  }

  /// Returns the least number with which a record can count in a block and after it, as far as heads say.
  private func leastNumber(from index: Int) -> Int {
    max(passed, min(firstRecord(of: index) ?? 0, firstRecord(of: index + 1) ?? .max))
  }

  // MARK: - What is lost

  private mutating func addHole(_ bytes: Range<Int>, _ reason: RecordLog.Damage.Reason) {
    var first = hole?.reason ?? reason
    // What the system cannot read may be whole, whatever is damaged before it.
    if case .unreadable = reason { first = reason }
    hole = ((hole?.bytes.lowerBound ?? bytes.lowerBound)..<bytes.upperBound, first)
  }

  private mutating func addDamage(_ bytes: Range<Int>, of block: Block) {
    let reason: RecordLog.Damage.Reason = bytes.lowerBound == 0 ? .head : .frame
    addHole((block.start + bytes.lowerBound)..<(block.start + bytes.upperBound), reason)
  }

  /// Reports what could not be read up to here, and the missing records.
  private mutating func reportLost(before number: Int, before end: Int) {
    let records = next..<max(next, min(number, tail.count))
    if hole == nil && records.isEmpty { return }
    let bytes = hole?.bytes ?? min(wholeEnd, end)..<end
    report.add(RecordLog.Damage(file: file.path, records: records, bytes: bytes, reason: hole?.reason ?? .missing))
    hole = nil
    next = records.upperBound
  }

  // MARK: - Groups of several blocks

  /// Assembles the group that begins at the end of the block. Returns false if there is no such group, or if
  /// it is not whole.
  private mutating func readGroup() -> Bool {
    guard let block, let beginning = block.beginning, beginning.number < min(limit, tail.count) else { return false }
    let (first, offset) = (beginning.numbers.lowerBound, block.start + block.endOfRecords)
    guard next <= first else { return false }
    self.block = nil
    var damage: [Range<Int>] = []
    switch group(from: beginning, of: block, noting: &damage) {
    case .success(let (bytes, places, last)):
      reportLost(before: first, before: offset)
      reportAll(damage)
      index += 1
      take(last, firstRecord(of: index) ?? .max)
      // They count, whatever the head says after the block of the last part: they begin in that of the first.
      let run = Block.Run(RecordNumbers(first: first, count: places.count), places)
      store = RecordStore(file, run, bytes, decoder)
    case .failure(let lost):
      for middle in (block.index + 1)..<index { passed = leastNumber(from: middle) }
      // None of its numbers counts, so a later block may have lower ones.
      reportLost(before: min(first, leastNumber(from: index)), before: offset)
      if let reason = lost.reason {
        addHole(offset..<(index * BlockHead.blockSize), reason)
      } else {
        reportAll(damage)
      }
      return false
    }
    return true
  }

  private struct Lost: Error {
    /// Nil if the group was given up.
    let reason: RecordLog.Damage.Reason?
  }

  /// Reports damaged bytes that held no records.
  private mutating func reportAll(_ damage: [Range<Int>]) {
    for bytes in damage {
      addHole(bytes, bytes.lowerBound % BlockHead.blockSize == 0 ? .head : .frame)
      reportLost(before: next, before: bytes.upperBound)
    }
  }

  /// Returns the bytes of a group, from its first part and those in the next blocks, the places of its records
  /// in them, and the block of its last part, at `index`. Notes the damaged bytes of the blocks between.
  private mutating func group(
    from beginning: Block.Part, of block: Block, noting damage: inout [Range<Int>]
  ) -> Result<(bytes: [UInt8], places: [Block.Place], last: Block), Lost> {
    // The bytes also hold the length of a single record of that size.
    let isTooLarge = beginning.size - Varint.longest > maximumRecordSize
    var bytes = isTooLarge ? [] : Array(block.bytes[beginning.bytes])
    // The size in the first part is trusted only as far as the file goes.
    if !isTooLarge { bytes.reserveCapacity(min(beginning.size, end - block.start)) }
    var missing = beginning.size - beginning.bytes.count
    do {
      while index * BlockHead.blockSize < end, let next = try file.block(index, before: end) {
        guard let part = next.continuation, part.number == beginning.number else {
          let isGivenUp = next.abandoned?.upperBound == beginning.number + 1
          return .failure(Lost(reason: isGivenUp ? nil : .unfinished))
        }
        missing -= part.bytes.count
        // Parts with more bytes than the first one announces are no group, and are not collected.
        if !isTooLarge, missing >= 0 { bytes += next.bytes[part.bytes] }
        guard part.kind == .last else {
          damage += next.damage.map { (next.start + $0.lowerBound)..<(next.start + $0.upperBound) }
          index += 1
          continue
        }
        guard missing == 0 else { break }
        if isTooLarge { return .failure(Lost(reason: .recordTooLarge)) }
        guard let places = Block.places(ofGroup: bytes, count: beginning.count) else {
          return .failure(Lost(reason: .frame))
        }
        return .success((bytes, places, next))
      }
      return .failure(Lost(reason: .unfinished))
    } catch {
      let reason = RecordLog.Damage.Reason(reading: error, orElse: .unreadable(SystemError.shortRead))
      return .failure(Lost(reason: reason))
    }
  }
}
