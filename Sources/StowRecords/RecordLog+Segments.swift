extension RecordLog {
  /// Which of the oldest segments of a log in a folder are removed: those that a limit does not require. The segment
  /// being written always stays. An array combines several limits; each removes what it would remove by itself.
  ///
  /// If a segment cannot be removed, or is not certainly one of this log, it stays with all that follow, and
  /// ``RecordLog/onBackgroundError`` gets the error. Appending continues.
  ///
  /// ```swift
  /// let log = try RecordLog(at: folder, retention: [.bytes(10 << 30), .age(.seconds(30 * 86_400))])
  /// ```
  public struct Retention: Hashable, Sendable, ExpressibleByArrayLiteral {
    let bytes: Int
    let records: Int
    let age: Duration?

    /// Limits the log to `most` bytes on the disk, unless the segment being written takes more, or a large
    /// record or group goes beyond its size. Compaction needs room for one more segment.
    public static func bytes(_ most: Int) -> Retention { Retention(bytes: most) }

    /// Keeps at least the last `least` records, counting those that were lost or left out.
    public static func records(_ least: Int) -> Retention { Retention(records: max(0, least)) }

    /// Keeps segments with records no older than this, by the clock of the system when the next segment was
    /// begun. If the clock was ahead then, the segment goes when the next one does.
    ///
    /// - Warning: This trusts the clock. If it is ahead by the age when the log is opened or a segment is begun, all
    ///   segments but the last are removed. Use ``bytes(_:)`` or ``records(_:)`` where nobody sets the clock.
    public static func age(_ least: Duration) -> Retention { Retention(age: least) }

    private init(bytes: Int = .max, records: Int = .max, age: Duration? = nil) {
      (self.bytes, self.records, self.age) = (bytes, records, age)
    }

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
    for (segment, next) in zip(state.segments, state.segments.dropFirst()).prefix(count) {
      _ = try openCertainly(segment, before: next.first, of: state.file.origin.log)
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

  /// A finished segment that is to be removed or replaced; nil if there is no such file, or if nothing of it can be
  /// read.
  ///
  /// - Parameter end: The number of the first record of the next segment.
  /// - Throws: `RecordLogError`, also if it is not certainly a file of the log.
  func openCertainly(_ segment: Segment, before end: Int, of log: UInt64) throws -> SegmentFiles.Part? {
    do {
      guard let part = try files.open(segment, of: log) else { return nil }
      guard try part.file.isCertainly(of: log) else { throw RecordLogError(file: segment.path, .replaced) }
      return part
    } catch let error as RecordLogError where error.isOfAnotherFile {
      damageReport.add(Damage(file: segment.path, records: segment.first..<end, bytes: 0..<0, reason: .head))
      guard error.reason == .notALog, try files.names(log, in: segment) else { throw error }
      return nil
    }
  }

  // MARK: - Retention

  /// Removes segments that need not be kept. An error makes no call fail, unless nothing more can be written.
  func removeOutdated(_ state: inout LogState) {
    guard segmentSize != nil, retention != [] else { return }
    do {
      let count = try outdated(state)
      // The records that are to be left may be only in the memory of the system, if an earlier process has written
      // them.
      if count > 0, let writer = state.writer, !writer.isSynchronized { try writer.finish() }
      try remove(count, &state)
    } catch let error as RecordLogError {
      report(error, &state)
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
      guard let age = age(of: segments[index], state) else { continue }
      if age <= least { break }
      outdated = index
    }
    return outdated
  }

  /// Returns how long ago a segment was begun; nil if that is not known, also because the clock was ahead.
  private func age(of segment: Segment, _ state: LogState) -> Duration? {
    let isLast = segment == state.segments.last
    let file = isLast ? state.file : try? files.open(segment, of: state.file.origin.log)?.file
    let now = disk.now
    guard let begun = file?.origin.begun, begun > 0, begun <= now else { return nil }
    return .milliseconds(now - begun)
  }

  // MARK: - Beginning

  /// Returns the writer for the next record, after beginning a new segment if the last one is full.
  func writerWithRoom(_ state: inout LogState) throws -> LogWriter {
    guard let writer = state.writer else { throw error(.closed) }
    guard let segmentSize, writer.isFull(segmentSize) else { return writer }
    return try beginSegment(&state, after: writer)
  }

  /// Begins a segment, once all of the previous one is on the disk.
  func beginSegment(_ state: inout LogState, after old: LogWriter) throws -> LogWriter {
    try old.finish()
    let segment = Segment(from: old.written, in: path)
    // A process that has too many files open must notice that before the segment has its name.
    let synchronizeNames = try RecordLogError.naming(path) { try disk.openFolder(of: segment.path) }
    let origin = Origin(log: old.file.origin.log, begun: disk.now)
    let new: LogWriter
    do {
      new = try opening(of: segment).newLog(inPlaceOf: nil, like: old.file.disk, from: segment.first, origin)
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
      try RecordLogError.naming(path, synchronizeNames)
    } catch {
      // A crash may lose the segment, with everything appended to it from now on.
      new.failToSynchronize()
      throw error
    }
    removeOutdated(&state)
    return new
  }

  func opening(of segment: Segment, _ identity: UInt64 = .random(in: .min ... .max)) -> LogOpening {
    LogOpening(disk: disk, path: segment.path, options: options, identity: identity)
  }
}
