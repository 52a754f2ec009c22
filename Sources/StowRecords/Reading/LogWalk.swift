import Stow

/// Walks over the records of a log, from a number on, up to where they ended when it set out: through one segment after the
/// other.
///
/// A segment that cannot be opened is damage, and the walk goes on after it. One that was removed from the front meanwhile is
/// not: the walk goes on with the first one that is there.
struct LogWalk: Sendable {
  private var snapshot: LogSnapshot
  private let start: Int
  private let maximumRecordSize: Int
  private let decoder: StowDecoder
  private let known: DamageReport
  var noting: DamageReport? { didSet { cursor?.noting = noting } }
  /// The segment that is read.
  private var index: Int
  /// Nil if the segment cannot be read.
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

  /// The next record, without reading from a file; nil if that is needed.
  mutating func nextReadRecord() -> RecordLog.Record? { cursor?.nextReadRecord() }

  mutating func nextRecord() -> RecordLog.Record? {
    repeat {
      if let record = cursor?.nextRecord() { return record }
    } while goOn()
    return nil
  }

  /// The records around the number that the walk begins with, or the next ones; nil if there are none.
  mutating func firstStore() -> RecordStore? {
    repeat {
      if let store = cursor?.firstStore() { return store }
    } while goOn()
    return nil
  }

  /// The range of records that were given up which holds the number that the walk begins with; nil if that was not met.
  var abandoned: Range<Int>? { cursor?.abandoned }

  /// The block of the record that came last, the file that this is in, and the records in it that this stands among; nil if
  /// that record has bytes in several blocks, or if the definitions there are not valid.
  var knownRun: (file: LogFile, block: Block, run: KnownRun)? {
    guard let cursor, let known = cursor.knownRun else { return nil }
    return (cursor.file, known.block, known.run)
  }

  // MARK: - Segments

  /// Goes on to the next segment; false if there is none.
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
