import Stow
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A log that is opened for reading, beside its writer in this or another process.
///
/// ```swift
/// let reader = try RecordLogReader(at: url)
/// for record in reader.records {
///   let event = try record.decode(Event.self)
/// }
/// ```
///
/// A reader sees the records that are written, including later ones. When the writer compacts the log, the
/// reader switches to the new file; when the writer removes segments, the reader begins with the first one
/// left. Any number of readers may be open, and one may be used from many threads at once.
///
/// If the file is removed, the reader keeps it. If another log takes its place, whatever looks for new records
/// and can throw, as a cursor and ``follow(from:)`` do, throws an error with the reason `replaced`; ``count``,
/// ``records`` and ``record(at:)`` stay with the records that there were. Open another reader for the other log.
///
/// A ``RecordLog`` is a reader too, so that a function which only reads takes either.
public class RecordLogReader: @unchecked Sendable {
  // Unchecked because the class is not final. All its properties are constant and `Sendable`.
  /// The path of the file or folder.
  let path: String
  let disk: any Disk
  let files: SegmentFiles
  let maximumRecordSize: Int
  let decoder: StowDecoder

  /// What opening the log found after the last record that is whole.
  ///
  /// ```swift
  /// if !log.recovery.bytes.isEmpty { print(log.recovery) }
  /// ```
  public let recovery: RecordLog.Recovery

  let damageReport = DamageReport()
  let knownRecords: KnownRecords
  let state: Mutex<LogState>
  let stateHolder = LockHolder()

  /// Opens a log for reading.
  ///
  /// ```swift
  /// let reader = try RecordLogReader(at: url)
  /// print(reader.count)
  /// ```
  ///
  /// - Parameters:
  ///   - url: A log: a file, or a folder of segments.
  ///   - decoder: Decodes the records, with its options.
  ///   - maximumRecordSize: The most bytes of a record that is assembled from several blocks of 64 KB; larger
  ///     ones are reported as damage. 1 GiB by default.
  ///   - cacheSize: The approximate limit in bytes for what is remembered of blocks whose records are looked
  ///     up by number. 16 MiB by default.
  /// - Throws: `RecordLogError`: `notALog` if the file is something else, or the folder has no segments.
  public convenience init(
    at url: URL, decoder: StowDecoder = StowDecoder(), maximumRecordSize: Int = 1 << 30,
    cacheSize: Int = 1 << 24
  ) throws {
    try self.init(
      at: Self.path(of: url), on: SystemDisk(), decoder: decoder, maximumRecordSize: maximumRecordSize,
      cacheSize: cacheSize)
  }

  convenience init(
    at path: String, on disk: any Disk, decoder: StowDecoder = StowDecoder(),
    maximumRecordSize: Int = 1 << 30,
    cacheSize: Int = 1 << 24
  ) throws {
    let isFolder = try RecordLogError.naming(path) { try disk.status(of: path)?.isFolder ?? false }
    let files = SegmentFiles(disk, path, isFolder: isFolder)
    guard let (segments, file) = try files.current() else { throw RecordLogError(file: path, .notALog) }
    let tail = try file.tailForReading()
    self.init(
      path, disk, files, decoder, maximumRecordSize, cacheSize, tail.recovery,
      LogState(segments: segments, file: file, tail: tail))
  }

  init(
    _ path: String, _ disk: any Disk, _ files: SegmentFiles, _ decoder: StowDecoder, _ maximumRecordSize: Int,
    _ cacheSize: Int, _ recovery: RecordLog.Recovery, _ state: sending LogState
  ) {
    self.path = path
    self.disk = disk
    self.files = files
    self.decoder = decoder
    self.maximumRecordSize = maximumRecordSize
    self.recovery = recovery
    knownRecords = KnownRecords(limit: cacheSize)
    self.state = Mutex(state)
  }

  /// Ends following, and stops looking for new records. Existing ones can still be read.
  ///
  /// - Throws: Nothing, unless this is a log that is open for appending: see ``RecordLog/close()``.
  public func close() throws {
    state.withLock { state in
      state.isClosed = true
      state.followers.wake()
    }
  }

  /// Returns the path with all links resolved: renaming a new file over a link would leave the old file where it is.
  ///
  /// - Throws: `RecordLogError` if the URL is not that of a file, or its path is not UTF-8 or has a zero byte: what is
  ///   left of it would be the path of another file.
  static func path(of url: URL) throws -> String {
    let named = url.path(percentEncoded: false)
    guard url.scheme == nil || url.isFileURL, !named.isEmpty, !named.utf8.contains(0) else {
      let error = SystemError(operation: "open", code: SystemError.invalidName)
      throw RecordLogError(file: url.absoluteString, offset: nil, error)
    }
    var path = resolved(url)
    // A link to a file that does not exist yet is still unresolved. Links may form a cycle.
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
      let folder = URL(filePath: path).deletingLastPathComponent()
      path = resolved(target.hasPrefix("/") ? URL(filePath: target) : folder.appending(path: target))
    }
    // The path of a folder ends in a slash.
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// Returns the path with all links resolved, except a link to a file that does not exist yet. At a path without a
  /// file Foundation resolves `..` before the links, so the folder is resolved by itself.
  private static func resolved(_ url: URL) -> String {
    let path = url.path(percentEncoded: false)
    let isThere = FileManager.default.fileExists(atPath: path)
    let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
    let whole = isThere ? url.resolvingSymlinksInPath() : folder.appending(component: url.lastPathComponent)
    let resolved = whole.path(percentEncoded: false)
    // A URL cannot name the current folder if its name is not UTF-8, and so cannot resolve a path that is relative to
    // it.
    return isThere && !FileManager.default.fileExists(atPath: resolved) ? path : resolved
  }

  func error(_ reason: RecordLogError.Reason) -> RecordLogError { RecordLogError(file: path, reason) }

  /// Throws if this thread runs code of the caller under a lock, which that code must not ask for again.
  func checkUse(of holder: borrowing LockHolder) throws { if holder.isThisThread { throw error(.usedWithin) } }
}

// MARK: - Reading

extension RecordLogReader {
  /// The number of records, including lost and removed ones. It is also the number of the next record. A
  /// reader counts only records that are written whole.
  ///
  /// Takes a system call or two for a reader, and none for a writer.
  public var count: Int {
    state.withLock { state in
      if let writer = state.writer { return writer.count }
      refresh(&state)
      return state.tail.count
    }
  }

  /// The number of the first record that may exist: 0, unless segments were removed from the front of the
  /// log. Equal to ``count`` if there are no records.
  ///
  /// ```swift
  /// for try await record in log.follow(from: max(next, log.firstNumber)) { … }
  /// ```
  ///
  /// Takes a system call or two for a reader, and none for a writer.
  public var firstNumber: Int {
    state.withLock { state in
      if state.writer == nil { refresh(&state) }
      return state.segments[0].first
    }
  }

  /// All records that exist now and can be read, in order. What cannot be read, even because of a system
  /// error, is skipped without an error, and is then in ``damage``: look there after reading.
  ///
  /// The sequence is lazy, may be iterated repeatedly, and takes memory for one block.
  ///
  /// ```swift
  /// for record in log.records {
  ///   let event = try record.decode(Event.self)
  /// }
  /// ```
  public var records: Records { records(from: 0) }

  /// Returns the records that exist now, from a number on. Earlier ones are not read, except some in the same block.
  ///
  /// - Parameter number: The first number, 0 or more. If it has no record, the sequence begins with the next
  ///   one.
  public func records(from number: Int) -> Records { Records(log: self, snapshot: snapshot(), start: max(0, number)) }

  /// Decodes one record, without reading what is before its block.
  ///
  /// Reads some 32 bytes for each doubling of the file's size, and the block of the record. What is learned
  /// about a block is remembered, within the `cacheSize` of the log, so that the next record of the same
  /// block takes one or two kilobytes, and mostly a sixth of the time.
  ///
  /// ```swift
  /// let event = try log.decode(Event.self, at: 1_234)
  /// ```
  ///
  /// - Throws: `RecordLogError`: `noSuchRecord`, also if a compaction has left the record out; `removed` if
  ///   its segment was removed; `damaged` if the record was lost; what `Record.decode(_:)` throws.
  public func decode<Value: Decodable>(_ type: Value.Type, at number: Int) throws -> Value {
    try record(at: number).decode(type)
  }

  /// Returns one record, as `decode(_:at:)` finds it.
  ///
  /// - Throws: `RecordLogError`: `noSuchRecord`, `removed`, or `damaged` if the record was lost.
  public func record(at number: Int) throws -> Record {
    try checkUse(of: stateHolder)
    return try record(at: number, of: snapshot(with: number))
  }

  /// Returns a record of the log as it was in a snapshot.
  func record(at number: Int, of snapshot: LogSnapshot) throws -> Record {
    let count = snapshot.tail.count
    guard number >= 0, number < count else { throw error(.noSuchRecord(number, count: count)) }
    guard number >= snapshot.first else { throw error(.removed(number, first: snapshot.first)) }
    let met = newReport()
    let record = readRecord(number...number, of: snapshot, noting: met)
    if let record, record.number == number { return record }
    if let first = met.firstAfterRemoval { throw error(.removed(number, first: first)) }
    guard let damage = met.list.first(where: { $0.records.contains(number) }) else {
      throw error(.noSuchRecord(number, count: count))
    }
    throw RecordLogError(damage)
  }

  /// Returns the first readable record with one of some numbers, or nil. May return a later one instead. Remembers its
  /// block.
  func readRecord(_ numbers: ClosedRange<Int>, of snapshot: LogSnapshot, noting met: DamageReport) -> Record? {
    let number = numbers.lowerBound
    // Opening the file may show that it was replaced. What is known is then of the file before it.
    if let file = snapshot.file(of: number), files.generation == snapshot.generation,
      let record = knownRecords.record(number, of: file, snapshot.generation)
    {
      return record
    }
    var walk = walk(over: snapshot, from: number, noting: met)
    guard let record = walk.nextRecord(upTo: numbers.upperBound) else { return nil }
    return walk.knownRun.flatMap {
      knownRecords.record(record.number, of: $0.file, in: $0.block, $0.run, snapshot.generation)
    } ?? record
  }

  /// The damaged parts that reading this log has met and passed over so far, in the order of the files. ``verify()``
  /// looks for all of them.
  public var damage: [Damage] { damageReport.list }

  /// Reads the whole log and returns its damaged parts; an empty array if it is whole.
  ///
  /// What follows the last whole record is not damage, unless it is more than a crash leaves: see ``recovery``.
  ///
  /// ```swift
  /// for damage in try log.verify() { print(damage) }
  /// ```
  ///
  /// - Throws: `RecordLogError` if the log cannot be read at all.
  public func verify() throws -> [Damage] {
    let met = newReport()
    var walk = try walk(over: flushedSnapshot(), from: 0, noting: met)
    while walk.nextRecord() != nil {}
    return met.list
  }

  // MARK: - Snapshots

  /// Returns a report for some walks, whose damage is added to that of the log, too.
  func newReport() -> DamageReport { DamageReport(within: damageReport) }

  /// Returns a walk over the records of a log.
  func walk(over snapshot: LogSnapshot, from number: Int, noting report: DamageReport) -> LogWalk {
    LogWalk(snapshot, from: number, maximumRecordSize: maximumRecordSize, decoder, report)
  }

  /// Returns the segments, and how far the last one reaches now. Writes what was appended first, unless only
  /// a record is wanted that is already written.
  func snapshot(with number: Int = .max) -> LogSnapshot {
    state.withLock { state in
      if let writer = state.writer {
        // What cannot be written now is kept, and the next call that writes throws.
        if !(0..<writer.written).contains(number) { try? writer.flush() }
      } else if number >= state.tail.count || !isUnchanged(state) {
        refresh(&state)
      }
      return state.snapshot(files)
    }
  }

  /// Returns whether the file was neither written nor replaced since it was last looked at. What others do to
  /// links or folders on its path is not noticed here, so the path is looked at every second.
  private func isUnchanged(_ state: LogState) -> Bool {
    guard let settled = state.settled, settled.end > .now, let status = try? state.file.disk.status() else {
      return false
    }
    return status.changed == settled.change
  }

  /// Returns a snapshot after writing what was appended. Throws if a reader cannot find out how far the log reaches.
  func flushedSnapshot() throws -> LogSnapshot {
    try checkUse(of: stateHolder)
    return try state.withLock { try flushedSnapshot(&$0) }
  }

  func flushedSnapshot(_ state: inout LogState) throws -> LogSnapshot {
    if let writer = state.writer { try? writer.flush() } else { try update(&state) }
    return state.snapshot(files)
  }

  /// Finds out how far the log reaches now. If that fails, the previous state stays.
  private func refresh(_ state: inout LogState) { try? update(&state) }

  /// Finds out how far the log reaches now.
  func update(_ state: inout LogState) throws {
    guard !state.isClosed else { return }
    if files.isFolder { try followSegments(&state) } else { try followReplacement(&state) }
    try updateTail(&state)
  }

  private func updateTail(_ state: inout LogState) throws {
    let file = state.file
    let status = try RecordLogError.naming(file.path) { try file.disk.status() }
    // What stands after the end may be a large group that was never finished.
    let isSame = state.tail.end == status.size || state.tailChange == status.changed
    if isSame, state.tail.size == status.size { return }
    // Some file systems count only seconds.
    let change = isOld(status.changed, milliseconds: 2_000) ? status.changed : nil
    (state.tail, state.tailChange) = (try file.tailForReading(), change)
  }

  /// Returns whether a later change cannot look like this one: the clock of a file system ticks slowly.
  private func isOld(_ change: UInt64, milliseconds: UInt64 = 100) -> Bool {
    change / 1_000_000 + milliseconds < disk.now
  }

  /// Switches to the file that a compaction has put in the place of this one.
  private func followReplacement(_ state: inout LogState) throws {
    state.settled = nil
    let place = try RecordLogError.naming(path) { try disk.place(of: path) }
    // A file server may no longer know a file that was replaced.
    let status = try? state.file.disk.status()
    guard let place, status?.place != place else {
      if let status, place != nil, isOld(status.changed) { state.settled = (status.changed, .now + .seconds(1)) }
      return
    }
    if let found = try files.current() { try take(found, &state) }
  }

  /// Takes in new segments, and drops those that were removed.
  private func followSegments(_ state: inout LogState) throws {
    if try !isThere(state.segments[0], of: state) { try listSegments(&state) }
    // A segment that is no longer the last may have been replaced, and a file server may no longer know the old one.
    do { try updateTail(&state) } catch { try listSegments(&state) }
    // The next segment is named by the number at which this one ends.
    while state.tail.count > state.file.first, let next = try files.segment(from: state.tail.count),
      let file = try files.file(of: next)
    {
      try take((state.segments + [next], file.belonging(to: state.file.origin.log)), &state)
      if try !isThere(state.segments[0], of: state) { try listSegments(&state) }
    }
    // If the end of a segment is damaged, the name of the next one is unknown.
    if state.listed.duration(to: .now) > .seconds(1) { try listSegments(&state) }
  }

  /// Returns whether the file of a segment is there; for the last segment, whether it is the open one.
  private func isThere(_ segment: Segment, of state: LogState) throws -> Bool {
    let place = try RecordLogError.naming(segment.path) { try disk.place(of: segment.path) }
    if segment != state.segments.last { return place != nil }
    return (try? state.file.disk.status().place) == place
  }

  /// Lists the segments. What changes meanwhile is found by the next listing.
  private func listSegments(_ state: inout LogState) throws {
    state.listed = .now
    // Without any, the log was renamed or removed, and its segments stay.
    guard let (segments, file) = try files.current() else { return }
    // A copy of a file has the same identity.
    if segments == state.segments, try !isReplaced(state.file, by: file) { return }
    try take((segments, file), &state)
  }

  /// Goes over to other files, unless they are of another log: a number means one record for as long as this is open.
  private func take(_ found: (segments: [Segment], file: LogFile), _ state: inout LogState) throws {
    guard found.file.origin.log == state.file.origin.log else { throw error(.replaced) }
    let tail = try found.file.tailForReading()
    if try isReplaced(state.file, by: found.file) { files.noteReplacement() }
    // A removed file takes room on the disk while it is open.
    for segment in state.segments.prefix(while: { $0.first < found.segments[0].first }) { files.forget(segment) }
    (state.segments, state.file, state.tail, state.tailChange) = (found.segments, found.file, tail, nil)
  }

  /// Returns whether the file that was the last one was replaced: by the one that is the last now, or by another of its
  /// name.
  private func isReplaced(_ file: LogFile, by last: LogFile) throws -> Bool {
    let place = try RecordLogError.naming(file.path) {
      try last.first <= file.first ? last.disk.status().place : disk.place(of: file.path)
    }
    // A file server may no longer know a file that was replaced; one that was removed has no place.
    return place != nil && (try? file.disk.status().place) != place
  }
}

// MARK: - Records

extension RecordLogReader {
  /// A record of a log, not decoded yet.
  ///
  /// A record may be kept, and decoded later, repeatedly, as another type, and on any thread. It keeps its block in
  /// memory, of up to 64 KB, or all of its own bytes if it is larger; a record looked up by its number keeps less.
  ///
  /// ```swift
  /// for record in log.records {
  ///   let event = try record.decode(Event.self)
  /// }
  /// ```
  public struct Record: Sendable {
    let store: RecordStore
    let index: Int

    /// The number of the record in its log: 0 for the first one appended, and one more for each that follows.
    public var number: Int { store.run.numbers.number(at: index) }

    /// The size of the encoded record, in bytes.
    public var size: Int { store.withBytes(of: index) { $0.count } }

    /// Decodes the record.
    ///
    /// Takes time in proportion to the record. The first call for one of the records that were read together also takes
    /// in what all of them define.
    ///
    /// - Throws: `DecodingError` if the record holds no value of the type, and whatever an `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try store.open(at: index) { try $0.decode(type, $1, in: $2) }
    }

    /// Decodes a record that may lack some of its keys, for example because an earlier version of the type
    /// wrote it. What is missing is taken from a template.
    ///
    /// ```swift
    /// let event = try record.decode(Event.self, defaults: Event(date: .distantPast, place: "unknown"))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the value, and of the template.
    ///   - template: A value that supplies what the record lacks.
    ///   - strategy: Whether the template also replaces values of the record that do not fit.
    /// - Throws: What ``decode(_:)`` throws, and what encoding the template throws.
    public func decode<Value: Codable>(
      _ type: Value.Type, defaults template: Value, strategy: StowDecoder.DefaultsStrategy = .strict
    ) throws -> Value {
      try store.open(at: index) { try $0.decode(type, $1, in: $2, defaults: template, strategy) }
    }

    /// Opens the record as a message, to read parts of it.
    ///
    /// ```swift
    /// let place = try record.message().decode(String.self, at: ["place", "name"])
    /// ```
    ///
    /// The message holds a copy of the record's bytes. Of the rest of its block it keeps only keys and strings.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the record is not a message.
    public func message() throws -> StowMessage { try store.open(at: index) { try $0.message($1, in: $2) } }
  }
}
