import Stow

/// Walks over the records of a log, one segment after the other, from a number on up to where they ended when
/// the walk began.
///
/// A segment that cannot be opened is damage, and the walk continues after it. One that was removed from the
/// front meanwhile is not: the walk continues with the first one left.
struct LogWalk: Sendable {
  private var snapshot: LogSnapshot
  private let start: Int
  private let maximumRecordSize: Int
  private let decoder: StowDecoder
  private let known: DamageReport
  var noting: DamageReport? { didSet { cursor?.noting = noting } }
  /// The index of the segment being read.
  private var index: Int
  /// The cursor in the segment; nil if the segment cannot be read.
  private var cursor: RecordCursor?

  init(
    _ snapshot: LogSnapshot, from number: Int, maximumRecordSize: Int, _ decoder: StowDecoder,
    _ known: DamageReport, _ noting: DamageReport?
  ) {
    self.snapshot = snapshot
    start = number
    self.maximumRecordSize = maximumRecordSize
    self.decoder = decoder
    (self.known, self.noting) = (known, noting)
    index = snapshot.index(of: number)
    enter()
  }

  /// The number of the record that comes next.
  var next: Int { cursor?.next ?? snapshot.segments[index].first }

  /// The file of the record that came last; nil if it cannot be read.
  var file: LogFile? { cursor?.file }

  /// Returns the next record without reading from a file; nil if reading is needed.
  mutating func nextReadRecord() -> RecordLog.Record? { cursor?.nextReadRecord() }

  mutating func nextRecord() -> RecordLog.Record? {
    repeat {
      if let record = cursor?.nextRecord() { return record }
    } while goOn()
    return nil
  }

  /// Returns the records around the number that the walk begins with, or the next ones; nil if there are no
  /// more.
  mutating func firstStore() -> RecordStore? {
    repeat {
      if let store = cursor?.firstStore() { return store }
    } while goOn()
    return nil
  }

  /// The range of given-up records that holds the number with which the walk begins; nil if the walk met no
  /// such range.
  var abandoned: Range<Int>? { cursor?.abandoned }

  /// The file and the block of the last record, and the run that the record is in; nil if the record spans
  /// several blocks.
  var knownRun: (file: LogFile, block: Block, run: KnownRun)? {
    guard let cursor, let known = cursor.knownRun else { return nil }
    return (cursor.file, known.block, known.run)
  }

  // MARK: - Segments

  /// Moves to the next segment. Returns false after the last.
  private mutating func goOn() -> Bool {
    guard index + 1 < snapshot.segments.count else { return false }
    index += 1
    enter()
    return true
  }

  private mutating func enter() {
    cursor = nil
    let segment = snapshot.segments[index]
    do {
      if let part = try snapshot.part(index) {
        cursor = RecordCursor(
          part.file, from: start, part.tail, maximumRecordSize: maximumRecordSize, decoder, known, noting)
      } else if let next = try snapshot.indexAfterRemoval(of: index) {
        index = next
        noting?.firstAfterRemoval = snapshot.segments[index].first
        enter()
      } else {
        report(segment, .missing)
      }
    } catch {
      report(segment, RecordLog.Damage.Reason(opening: error))
    }
  }

  /// Reports that all records of a segment are lost.
  private func report(_ segment: Segment, _ reason: RecordLog.Damage.Reason) {
    let records = segment.first..<snapshot.segments[index + 1].first
    let damage = RecordLog.Damage(file: segment.path, records: records, bytes: 0..<0, reason: reason)
    known.add(damage)
    noting?.add(damage)
  }
}

extension RecordLog.Damage.Reason {
  /// Why a file of a log could not be opened.
  fileprivate init(opening error: any Error) {
    if case .system(_, let code) = (error as? RecordLogError)?.reason {
      self = .unreadable(code)
    } else {
      self = .head
    }
  }
}
