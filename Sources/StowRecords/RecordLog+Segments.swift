import Stow
import Synchronization

extension RecordLog {
  /// Which of the oldest segments of a log in a folder are removed: those that a limit does not require. The
  /// segment being written always stays. An array combines several limits; each removes what it would remove
  /// by itself.
  ///
  /// If a segment cannot be removed, or is not certainly one of this log, it stays with all that follow, and the next call
  /// of the log throws the error.
  ///
  /// ```swift
  /// let log = try RecordLog(at: folder, retention: [.bytes(10 << 30), .age(.seconds(30 * 86_400))])
  /// ```
  public struct Retention: Hashable, Sendable, ExpressibleByArrayLiteral {
    var bytes = Int.max
    var records = Int.max
    var age: Duration?

    /// Limits the log to `most` bytes on the disk, unless the segment being written takes more, or a large
    /// record or group goes beyond its size. Compaction needs room for one more segment.
    public static func bytes(_ most: Int) -> Retention {
      var retention = Retention()
      retention.bytes = most
      return retention
    }

    /// Keeps at least the last `least` records, counting those that were lost or left out.
    public static func records(_ least: Int) -> Retention {
      var retention = Retention()
      retention.records = max(0, least)
      return retention
    }

    /// Keeps segments with records no older than this, by the clock of the system when the next segment was
    /// begun. If the clock was ahead then, the segment goes when the next one does.
    public static func age(_ least: Duration) -> Retention {
      var retention = Retention()
      retention.age = least
      return retention
    }

    private init() {}

    /// Combines several limits.
    public init(arrayLiteral limits: Retention...) {
      bytes = limits.map(\.bytes).min() ?? .max
      records = limits.map(\.records).min() ?? .max
      age = limits.compactMap(\.age).min()
    }
  }

  /// Removes the segments whose records all have lower numbers. Segments are removed whole, the oldest first,
  /// and the one being written stays, so some records before the number may stay, too.
  ///
  /// ```swift
  /// try log.removeRecords(before: consumed)
  /// ```
  ///
  /// Takes constant time for each segment. A read under way in a removed segment continues to its end; later
  /// reads get an error that names the first number left. From a log in one file nothing is removed.
  ///
  /// This does not synchronize the records that stay. If they take the place of removed ones, call
  /// ``RecordLog/synchronize()`` first.
  ///
  /// - Parameter number: The number of the first record that must stay.
  /// - Returns: The number of the first record that may be left.
  /// - Throws: `RecordLogError`, also if a segment is not certainly one of this log; it stays, with all that
  ///   follow.
  @discardableResult
  public func removeRecords(before number: Int) throws -> Int {
    try withWriter { state, _ in
      try throwLateError(&state)
      try remove(state.segments.dropFirst().count { $0.first <= number }, &state)
      return state.segments[0].first
    }
  }

  /// Removes the first `count` segments.
  private func remove(_ count: Int, _ state: inout LogState) throws {
    guard count > 0 || state.hasRemoved else { return }
    // Another folder may be at the path by now.
    try state.writer?.checkFile()
    // Followers wake even if a later segment cannot be removed: the earlier ones are gone.
    defer { state.followers.wake() }
    for segment in state.segments.prefix(count) {
      _ = try openCertainly(segment, of: state.file.origin.log)
      // A crash must not bring one back that has a gap after it.
      try synchronizeRemoval(&state)
      try RecordLogError.naming(segment.path) { try disk.remove(segment.path) }
      files.forget(segment)
      state.segments.removeFirst()
      state.hasRemoved = true
    }
    try synchronizeRemoval(&state)
  }

  private func synchronizeRemoval(_ state: inout LogState) throws {
    guard state.hasRemoved else { return }
    try RecordLogError.naming(path) { try disk.synchronizeFolder(of: state.file.path) }
    state.hasRemoved = false
  }

  /// A finished segment that is to be removed or replaced; nil if there is no such file.
  ///
  /// - Throws: `RecordLogError`, also if it is not certainly a file of the log.
  private func openCertainly(_ segment: Segment, of log: UInt64) throws -> SegmentFiles.Part? {
    guard let part = try files.open(segment, of: log) else { return nil }
    guard part.file.namesOrigin else { throw RecordLogError(file: segment.path, .replaced) }
    return part
  }

  // MARK: - Retention

  /// Removes segments that need not be kept. An error is thrown by the next call.
  func removeOutdated(_ state: inout LogState) {
    guard segmentSize != nil, retention != [] else { return }
    do {
      let count = try outdated(state)
      // The records that are to be left may be only in the memory of the system, if an earlier process has written them.
      if count > 0, let writer = state.writer, !writer.isSynchronized { try writer.finish() }
      try remove(count, &state)
    } catch let error as RecordLogError {
      state.lateError = error
    } catch {
      preconditionFailure("Removing throws errors of logs only, not \(error)")
    }
  }

  /// Returns how many of the first segments need not be kept.
  private func outdated(_ state: LogState) throws -> Int {
    let segments = state.segments
    let finished = segments.count - 1
    let count = state.writer?.count ?? 0
    var outdated = segments.dropFirst().count { count - $0.first >= retention.records }
    if retention.bytes < .max {
      var (room, kept) = (max(0, retention.bytes) - (segmentSize ?? 0), 0)
      while kept < finished {
        let path = segments[finished - 1 - kept].path
        let size = try RecordLogError.naming(path) { try disk.status(of: path)?.size ?? 0 }
        if size > room { break }
        (room, kept) = (room - size, kept + 1)
      }
      outdated = max(outdated, finished - kept)
    }
    guard let least = retention.age else { return outdated }
    // Where it is not known how old a segment is, a later one tells how old it is at least.
    for index in segments.indices.dropFirst(outdated + 1) {
      guard let age = try age(of: segments[index], state) else { continue }
      if age <= least { break }
      outdated = index
    }
    return outdated
  }

  /// Returns how long ago a segment was begun; nil if that is not known, also because the clock was ahead.
  private func age(of segment: Segment, _ state: LogState) throws -> Duration? {
    let isLast = segment == state.segments.last
    let file = isLast ? state.file : try files.open(segment, of: state.file.origin.log)?.file
    let now = disk.now
    guard let begun = file?.origin.begun, begun > 0, begun <= now else { return nil }
    return .milliseconds(now - begun)
  }

  // MARK: - Going on

  /// Returns the writer for the next record, after beginning a new segment if the last one is full.
  func writerWithRoom(_ state: inout LogState) throws -> LogWriter {
    guard let writer = state.writer else { throw error(.closed) }
    guard let segmentSize, writer.isFull(segmentSize) else { return writer }
    return try beginSegment(&state, after: writer)
  }

  /// Begins a segment, once all of the previous one is on the disk.
  private func beginSegment(_ state: inout LogState, after old: LogWriter) throws -> LogWriter {
    try old.finish()
    let segment = Segment(from: old.written, in: path)
    let origin = Origin(log: old.file.origin.log, begun: disk.now)
    let new: LogWriter
    do {
      new = try opening(of: segment).newSegment(segment, like: old.file.disk, origin)
    } catch {
      // If something has its name, records that are appended to this segment from now on would not count.
      if (try? disk.place(of: segment.path) == nil) != true { old.failToSynchronize() }
      throw error
    }
    old.isFinished = true
    try? old.file.disk.unlock()
    state.segments.append(segment)
    (state.file, state.writer) = (new.file, new)
    do {
      try RecordLogError.naming(path) { try disk.synchronizeFolder(of: segment.path) }
    } catch {
      // A crash may lose the segment, with everything appended to it from now on.
      new.failToSynchronize()
      throw error
    }
    removeOutdated(&state)
    return new
  }

  // MARK: - Compaction

  /// Compacts all segments except the one being written, one after the other, while others append and read.
  func compactSegments(keeping isKept: (Record) throws -> Bool) throws {
    try compaction.withLock { _ in
      let segments = try finishedSegments()
      // Deferred to the end: until then an index knows which records are the last of their keys.
      defer { files.noteReplacement() }
      for segment in segments { try compact(segment, isKept) }
      guard let segment = segments.first else { return }
      try RecordLogError.naming(path) { try disk.synchronizeFolder(of: segment.path) }
    }
  }

  /// Ends the segment being written, and returns the finished ones, which then have all records so far.
  private func finishedSegments() throws -> [Segment] {
    try withWriter { state, writer in
      try throwLateError(&state)
      if writer.count > writer.file.first { _ = try beginSegment(&state, after: writer) }
      return state.segments.dropLast()
    }
  }

  private func compact(_ segment: Segment, _ isKept: (Record) throws -> Bool) throws {
    let log = state.withLock { $0.file.origin.log }
    // A segment that was removed meanwhile, or by somebody else, has no records to keep.
    guard let old = try openCertainly(segment, of: log) else { return }
    let opening = opening(of: segment)
    let tail = Tail(end: old.size, count: old.count, size: old.size)
    _ = try replacement(of: old.file, tail, opening, isKept) { new in
      // A record may be left out because of one that was appended meanwhile, which a crash must not take then.
      try synchronize()
      try withWriter { state, writer in
        // Another folder may be at the path by now.
        try writer.checkFile()
        // A removed segment must not come back.
        guard state.segments.contains(segment) else { return opening.remove(new) }
        try opening.putInPlace(new, of: old.file.disk)
        files.forget(segment)
      }
    }
  }
}

// MARK: - Compaction of a log in one file, and of a segment

extension RecordLog {
  /// Replaces the file of the log with one that has only some of its records, under the same numbers.
  ///
  /// The new file is written beside the old one, and replaces it atomically in the end: a crash at any time
  /// leaves one or the other. Needs room for both on the disk, and memory for a block or two. Other threads
  /// wait to append meanwhile. Lost records are not in the new file; ``RecordLogReader/damage`` names them.
  ///
  /// When this returns, the log is the new file. If the system could not bring its name to the disk, the next
  /// call throws, and nothing more is appended until the log is opened again.
  ///
  /// A log in a folder is compacted one segment at a time, without making anyone wait, and needs room for one
  /// segment. The segment being written is ended first, and all that is appended meanwhile is synchronized before
  /// a segment is replaced. If this throws, some segments are compacted and the others are unchanged.
  ///
  /// The name of the new file ends in `.stowlog-new` until it takes the place of the log. Opening the log
  /// removes such a file if a crash has left it. A file of this name that is not the log's is an error.
  ///
  /// Iterations under way continue in the old file. Readers switch to the new one, and followers continue
  /// after the records that they have seen. The numbers of left-out records are never reused.
  ///
  /// ```swift
  /// let oldest = Date.now.addingTimeInterval(-86_400)
  /// try log.compact(keeping: { try $0.decode(Event.self).date > oldest })
  /// ```
  ///
  /// - Parameter isKept: Whether a record is kept; called for each record, in order. It must not compact
  ///   this log, nor use it at all if the log is one file.
  /// - Throws: `RecordLogError`, and what `isKept` throws. The file is then unchanged. Errors include a block
  ///   that the system cannot read, another file at the log's path, and a record larger than the
  ///   `maximumRecordSize` of this opening, even if it only became so by taking along the definitions of
  ///   left-out records: open the log with a higher limit.
  public func compact(keeping isKept: (Record) throws -> Bool) throws {
    try compact(keeping: isKept, identity: .random(in: .min ... .max))
  }

  /// Compacts the log into a file with the given identity.
  func compact(keeping isKept: (Record) throws -> Bool, identity: UInt64) throws {
    if segmentSize != nil { return try compactSegments(keeping: isKept) }
    try synchronization.withLock { done in
      try withWriter { state, writer in
        try throwLateError(&state)
        try writer.flush()
        let opening = opening(of: state.segments[0], identity)
        let new = try replacement(of: writer.file, writer.tail, opening, isKept) { new in
          try opening.putInPlace(new, of: writer.file.disk)
        }
        (state.file, state.writer, done) = (new.file, new, new.written)
        files.noteReplacement()
        state.followers.wake()
        do {
          try RecordLogError.naming(path) { try disk.synchronizeFolder(of: path) }
        } catch {
          // A crash may bring back the old file, without the last records and all later ones.
          writer.failToSynchronize()
          new.failToSynchronize()
          done = nil
          state.lateError = error as? RecordLogError
        }
      }
    }
  }

  func opening(of segment: Segment, _ identity: UInt64 = .random(in: .min ... .max)) -> LogOpening {
    let options = WritingOptions(maximumRecordSize: maximumRecordSize, packing: packing, counts: counts)
    return LogOpening(disk: disk, path: segment.path, options: options, identity: identity)
  }

  /// Makes a file with the kept records of another, locked and entirely on the disk.
  ///
  /// - Parameter putInPlace: Puts the new file in the place of the old one.
  func replacement(
    of old: LogFile, _ tail: Tail, _ opening: LogOpening, _ isKept: (Record) throws -> Bool,
    putInPlace: (LogWriter) throws -> Void
  ) throws -> LogWriter {
    // A segment that was opened as a file keeps its first number, too.
    let first = old.namesOrigin ? try old.head(of: 0)?.firstRecord ?? 0 : 0
    let new = try opening.newFile(like: old.disk, from: max(old.first, first), old.origin)
    do {
      try copyRecords(of: old, tail, to: new, isKept)
      try new.flush()
      try new.synchronizeFile()
      new.noteSynchronized(before: new.wholeEnd)
      try putInPlace(new)
    } catch {
      opening.remove(new)
      throw error
    }
    return new
  }

  private func copyRecords(
    of old: LogFile, _ tail: Tail, to new: LogWriter, _ isKept: (Record) throws -> Bool
  ) throws {
    let copier = RecordCopier()
    let met = DamageReport()
    var cursor = RecordCursor(
      old, from: 0, tail, maximumRecordSize: maximumRecordSize, decoder, damageReport, met)
    var scope: (store: RecordStore, first: Int)?
    while let record = cursor.nextRecord() {
      let first = record.store.scope(of: record.index)
      if scope?.store !== record.store || scope?.first != first {
        scope = (record.store, first)
        copier.beginReading()
        new.endScope()
      }
      if try isKept(record) {
        new.leaveOut(record.number - new.count)
        try new.append(in: copier) { body in
          try record.store.withBytes(of: record.index) { try copier.copy($0, body) }
        }
      } else {
        try record.store.withBytes(of: record.index) { try copier.skip($0) }
      }
    }
    try throwUnreadable(met.list)
    new.leaveOut(tail.count - new.count)
    // The encoder of later records does not know the copied definitions.
    new.endScope()
  }
}
