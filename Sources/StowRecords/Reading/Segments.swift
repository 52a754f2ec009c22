import Stow
import Synchronization

/// A file of a log. A log in one file has one segment; a log in a folder has a sequence of them, each named
/// by the number of the first record that it may have.
///
/// ```
///  00000000000000000000.stowlog   00000000000000001234.stowlog   00000000000000002500.stowlog
///  records 0 to 1233              1234 to 2499                   from 2500 on; this one is written
/// ```
package struct Segment: Sendable, Hashable {
  package let first: Int
  package let path: String

  private static let ending = ".stowlog"
  private static let digits = 20

  /// The only segment of a log in one file.
  init(file path: String) { (first, self.path) = (0, path) }

  init(from first: Int, in folder: String) {
    let number = String(first)
    self.first = first
    path = "\(folder)/" + String(repeating: "0", count: Self.digits - number.count) + number + Self.ending
  }

  /// Nil if no segment has such a name.
  package init?(named name: some StringProtocol, in folder: String) {
    guard let number = Int(name.prefix(Self.digits)), (0..<BlockHead.recordLimit).contains(number) else { return nil }
    self.init(from: number, in: folder)
    guard path == "\(folder)/\(name)" else { return nil }
  }
}

/// A log at one moment: its segments, the last of which is open, and how far that reaches.
struct LogSnapshot: Sendable {
  /// In the order of their numbers. Never empty.
  private(set) var segments: [Segment]
  /// The last segment.
  let file: LogFile
  let tail: Tail
  /// How often files of the log had been replaced, as far as noticed.
  let generation: Int
  private let files: SegmentFiles

  init(_ segments: [Segment], _ file: LogFile, _ tail: Tail, _ files: SegmentFiles) {
    (self.segments, self.file, self.tail, self.files) = (segments, file, tail, files)
    generation = files.generation
  }

  /// The number of the first record that may exist.
  var first: Int { segments[0].first }

  /// Returns the index of the segment that the record of a number is in.
  func index(of number: Int) -> Int { max(0, segments.partitionPoint { $0.first <= number } - 1) }

  /// Returns the file of a segment and how far it reaches, or nil if there is no such file any more.
  ///
  /// - Throws: `RecordLogError`, also if it is not a file of this log.
  mutating func part(_ index: Int) throws -> (file: LogFile, tail: Tail)? {
    if index == segments.count - 1 { return (file, tail) }
    guard let part = try files.open(segments[index], of: file.origin.log) else { return nil }
    // A system that lists a folder may leave out a file that is replaced meanwhile.
    if part.count < segments[index + 1].first, part.count > part.file.first,
      let missed = try files.segment(from: part.count)
    {
      segments.insert(missed, at: index + 1)
    }
    // Nothing more is written to it: a part that is not whole is damaged.
    return (part.file, Tail(end: part.size, count: segments[index + 1].first, size: part.size))
  }

  /// Returns the file that the record of a number is in, if it can be opened.
  func file(of number: Int) -> LogFile? {
    if number >= file.first { return file }
    return try? files.open(segments[index(of: number)], of: file.origin.log)?.file
  }

  /// The identity of the segment that begins with a number; nil if it cannot be opened.
  func identity(ofSegment first: Int) -> UInt64? {
    let file = file(of: first)
    return file?.first == first ? file?.identity : nil
  }

  /// Returns the index of the segment with which a walk continues if one was removed from the front. Returns
  /// nil if it was not removed, and so should be there.
  func indexAfterRemoval(of index: Int) throws -> Int? {
    guard let first = try files.list().first?.first, first > segments[index].first else { return nil }
    return segments.firstIndex { $0.first >= first } ?? segments.count - 1
  }
}

/// The files of a log. Keeps a few of its finished segments open.
final class SegmentFiles: Sendable {
  /// A file whose records are all written.
  struct Part: Sendable {
    fileprivate let segment: Segment
    fileprivate let place: FilePlace
    let file: LogFile
    /// The size in bytes.
    let size: Int
    /// The number after its last record, as far as the file is whole.
    let count: Int
  }

  private let disk: any Disk
  /// The path of the folder, or of the only file.
  private let path: String
  let isFolder: Bool
  private let replacements = Atomic<Int>(0)
  /// The files that were used last, in the order of their use.
  private let opened = Mutex<[Part]>([])

  private static let mostOpen = 8

  init(_ disk: any Disk, _ path: String, isFolder: Bool) {
    (self.disk, self.path, self.isFolder) = (disk, path, isFolder)
  }

  /// Returns all segments, and the file of the last one, for reading; nil if there is no folder, or no segment in it.
  func current() throws -> (segments: [Segment], file: LogFile)? {
    guard isFolder else {
      let file = try RecordLogError.naming(path) { try disk.open(path, .reading) }
      return ([Segment(file: path)], try LogFile(reading: path, file))
    }
    var missing: Segment?
    while true {
      guard try RecordLogError.naming(path, { try disk.status(of: path) }) != nil else { return nil }
      let segments = try list()
      guard let last = segments.last else { return nil }
      // Its name is a dangling link.
      if last == missing { throw RecordLogError(file: last.path, .notALog) }
      if let file = try file(of: last) { return (segments, try self.last(file, after: segments.dropLast())) }
      // The segment was removed meanwhile, and another one is the last.
      missing = last
    }
  }

  /// Returns the segments in the folder, in order. Ignores other files there.
  func list() throws -> [Segment] {
    // A system may leave out a file that is replaced while it lists the folder, and the records of the first segment
    // would seem removed. That hardly happens twice to one file.
    try RecordLogError.naming(path) { Set(try disk.names(in: path) + disk.names(in: path)) }
      .compactMap { Segment(named: $0, in: path) }.sorted { $0.first < $1.first }
  }

  /// Returns the segment that begins with a number, or nil.
  func segment(from number: Int) throws -> Segment? {
    let segment = Segment(from: number, in: path)
    return try RecordLogError.naming(segment.path) { try disk.place(of: segment.path) }.map { _ in segment }
  }

  /// Opens a finished segment. Returns nil if there is no such file.
  ///
  /// - Throws: `RecordLogError`, also if it is not a file of the log.
  func open(_ segment: Segment, of log: UInt64) throws -> Part? {
    let status = try RecordLogError.naming(segment.path) { try disk.status(of: segment.path) }
    var known = opened.withLock { $0.takeOut(segment) }
    guard let status else { return nil }
    if let known, known.place != status.place { noteReplacement() }
    // Opening a segment as a file of its own cuts off its damaged end.
    if known?.place != status.place || known?.size != status.size { known = nil }
    let found = try known ?? read(segment, of: log)
    if let found { opened.withLock { $0.putBack(found, Self.mostOpen) } }
    return found
  }

  private func read(_ segment: Segment, of log: UInt64) throws -> Part? {
    guard let file = try file(of: segment)?.belonging(to: log) else { return nil }
    guard file.origin.log == log else { throw RecordLogError(file: segment.path, .replaced) }
    let status = try RecordLogError.naming(segment.path) { try file.disk.status() }
    return Part(
      segment: segment, place: status.place, file: file, size: status.size,
      count: try file.tailForReading().count)
  }

  /// Opens the file of a segment for reading. Returns nil if there is no such file.
  func file(of segment: Segment) throws -> LogFile? {
    try RecordLogError.naming(segment.path) {
      do {
        return try LogFile(reading: segment.path, disk.open(segment.path, .reading), first: segment.first)
      } catch let error as SystemError where SystemDisk.isMissing(error.code) {
        return nil
      }
    }
  }

  /// Returns the file of the last segment. If the frame that names its log is damaged, the file is taken for one of the
  /// log that the segments before it name.
  ///
  /// - Throws: `RecordLogError`, also if no segment names the log, and the system cannot read one that may do so.
  func last(_ file: LogFile, after segments: [Segment]) throws -> LogFile {
    if file.namesOrigin { return file }
    var failure: RecordLogError?
    for segment in segments.reversed() {
      do {
        if let log = try log(of: segment) { return try file.belonging(to: log) }
      } catch let error as RecordLogError {
        if case .system = error.reason { failure = error }
      }
    }
    if let failure { throw failure }
    return file
  }

  /// The same for a writer.
  ///
  /// - Throws: `RecordLogError` if segments before it name a log, and none of them that of the last one.
  func lastForWriting(_ file: LogFile, after segments: [Segment]) throws -> LogFile {
    let file = try last(file, after: segments)
    // One that cannot be read says nothing.
    let logs = segments.reversed().lazy.compactMap { try? self.log(of: $0) }
    if logs.contains(file.origin.log) || logs.isEmpty { return file }
    throw RecordLogError(file: file.path, .replaced)
  }

  /// Returns the log that a segment names; nil if it names none, or does not exist.
  private func log(of segment: Segment) throws -> UInt64? {
    try file(of: segment).flatMap { $0.namesOrigin ? $0.origin.log : nil }
  }

  /// Returns whether the first bytes of a file without a whole head have the identity of the log where its first frame
  /// names it.
  func names(_ log: UInt64, in segment: Segment) throws -> Bool {
    try RecordLogError.naming(segment.path) {
      let file = try disk.open(segment.path, .inspecting)
      let bytes = try LogFile.bytes(of: file, segment.path, from: BlockHead.size + Frame.headSize, count: 8)
      return bytes.count == 8 && bytes.littleEndian(at: 0, size: 8) == log
    }
  }

  /// Forgets the open file of a segment, which is opened again when needed.
  func forget(_ segment: Segment) { _ = opened.withLock { $0.takeOut(segment) } }

  var generation: Int { replacements.load(ordering: .relaxed) }

  /// Takes note that a file was replaced.
  func noteReplacement() { replacements.add(1, ordering: .relaxed) }
}

extension [SegmentFiles.Part] {
  fileprivate mutating func takeOut(_ segment: Segment) -> SegmentFiles.Part? {
    firstIndex { $0.segment == segment }.map { remove(at: $0) }
  }

  fileprivate mutating func putBack(_ part: SegmentFiles.Part, _ limit: Int) {
    removeAll { $0.segment == part.segment }
    if count == limit { removeFirst() }
    append(part)
  }
}

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
  /// Receives the damage.
  var report: DamageReport { didSet { cursor?.report = report } }
  /// The index of the segment being read.
  private var index: Int
  /// The cursor in the segment; nil if the segment cannot be read.
  private var cursor: RecordCursor?

  init(
    _ snapshot: LogSnapshot, from number: Int, maximumRecordSize: Int, _ decoder: StowDecoder,
    _ report: DamageReport
  ) {
    self.snapshot = snapshot
    start = number
    self.maximumRecordSize = maximumRecordSize
    self.decoder = decoder
    self.report = report
    index = snapshot.index(of: number)
    enter()
  }

  /// The number of the record that comes next.
  var next: Int { cursor?.next ?? snapshot.segments[index].first }

  /// The file of the record that came last; nil if it cannot be read.
  var file: LogFile? { cursor?.file }

  /// Returns the next record without reading from a file; nil if reading is needed.
  mutating func nextReadRecord() -> RecordLog.Record? { cursor?.nextReadRecord() }

  /// - Parameter last: The highest number that is wanted. The walk ends when only records with higher ones are left,
  ///   which it may or may not return.
  mutating func nextRecord(upTo last: Int = .max) -> RecordLog.Record? {
    repeat {
      if let record = cursor?.nextRecord(upTo: last) { return record }
    } while next <= last && goOn()
    return nil
  }

  /// Returns the records around the number that the walk begins with, or the next ones; nil if there are no more.
  mutating func firstStore() -> RecordStore? {
    repeat {
      if let store = cursor?.firstStore() { return store }
    } while next <= start && goOn()
    return nil
  }

  /// The range of given-up records that holds the number with which the walk begins; nil if the walk met no such range.
  var abandoned: Range<Int>? { cursor?.abandoned }

  /// What is known of the block of the last record; nil if the record spans several blocks.
  var knownRun: (file: LogFile, block: Block, run: KnownRun)? { cursor?.knownRun }

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
        cursor = RecordCursor(part.file, from: start, part.tail, maximumRecordSize: maximumRecordSize, decoder, report)
      } else if let next = try snapshot.indexAfterRemoval(of: index) {
        index = next
        report.firstAfterRemoval = snapshot.segments[index].first
        enter()
      } else {
        reportLost(segment, .missing)
      }
    } catch {
      reportLost(segment, RecordLog.Damage.Reason(reading: error, orElse: .head))
    }
  }

  /// Reports that all records of a segment are lost.
  private func reportLost(_ segment: Segment, _ reason: RecordLog.Damage.Reason) {
    let records = segment.first..<snapshot.segments[index + 1].first
    report.add(RecordLog.Damage(file: segment.path, records: records, bytes: 0..<0, reason: reason))
  }
}
