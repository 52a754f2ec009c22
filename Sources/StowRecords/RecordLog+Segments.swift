import Stow

extension RecordLog {
  /// Which of the oldest segments of a log in a folder are removed: those without which there is still enough. The segment that is
  /// written always stays. Several limits are written as an array, and each removes what it would remove by itself.
  ///
  /// ```swift
  /// let log = try RecordLog(at: folder, retention: [.bytes(10 << 30), .age(.seconds(30 * 86_400))])
  /// ```
  public struct Retention: Hashable, Sendable, ExpressibleByArrayLiteral {
    var bytes = Int.max
    var records = Int.max
    var age: Duration?

    /// The log takes no more than so many bytes on the disk, unless the segment that is written does, or goes beyond its size by a
    /// large record or group. Compaction needs room for one segment beside that.
    public static func bytes(_ most: Int) -> Retention {
      var retention = Retention()
      retention.bytes = most
      return retention
    }

    /// The last records are kept, at least so many, those included that were lost or left out.
    public static func records(_ least: Int) -> Retention {
      var retention = Retention()
      retention.records = max(0, least)
      return retention
    }

    /// Segments are kept that have records not older than this, by the clock of the system when the next segment was begun.
    public static func age(_ least: Duration) -> Retention {
      var retention = Retention()
      retention.age = least
      return retention
    }

    private init() {}

    /// All of these.
    public init(arrayLiteral limits: Retention...) {
      bytes = limits.map(\.bytes).min() ?? .max
      records = limits.map(\.records).min() ?? .max
      age = limits.compactMap(\.age).min()
    }
  }

  /// Removes the segments whose records all have lower numbers. Segments are removed as a whole, the oldest first, and the one
  /// that is written stays: some records before the number may stay, too.
  ///
  /// ```swift
  /// try log.removeRecords(before: consumed)
  /// ```
  ///
  /// Takes constant time for each segment. Who reads such a segment goes on to its end; who comes later is told the first number
  /// there is. In a log in one file nothing is removed.
  ///
  /// - Parameter number: Of the first record that must stay.
  /// - Returns: The number of the first record that there may be.
  /// - Throws: `RecordLogError`, also if a segment is not certainly one of this log, and stays with all that follow.
  @discardableResult
  public func removeRecords(before number: Int) throws -> Int {
    try withWriter { state, _ in
      try throwLateError(&state)
      try remove(state.segments.dropFirst().count { $0.first <= number }, &state)
      return state.segments[0].first
    }
  }

  /// Removes so many of the first segments.
  private func remove(_ count: Int, _ state: inout LogState) throws {
    guard count > 0 else { return }
    // What was removed stays so, also if the next cannot be.
    defer { state.followers.wake() }
    for segment in state.segments.prefix(count) {
      _ = try openCertainly(segment, of: state.file.origin.log)
      try RecordLogError.naming(segment.path) { try disk.remove(segment.path) }
      files.forget(segment)
      state.segments.removeFirst()
    }
    try RecordLogError.naming(path) { try disk.synchronizeFolder(of: state.file.path) }
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

  /// Removes what need not be kept. What goes wrong is thrown by the next call.
  func removeOutdated(_ state: inout LogState) {
    guard segmentSize != nil, retention != [] else { return }
    do {
      try remove(outdated(state), &state)
    } catch let error as RecordLogError {
      state.lateError = error
    } catch {
      preconditionFailure("Removing throws errors of logs only, not \(error)")
    }
  }

  /// How many of the first segments need not be kept.
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
    while outdated < finished, let age = retention.age, try self.age(of: segments[outdated + 1], state) > age
    {
      outdated += 1
    }
    return outdated
  }

  /// When a segment was begun, before now; nothing if that is not known.
  private func age(of segment: Segment, _ state: LogState) throws -> Duration {
    let isLast = segment == state.segments.last
    let file = isLast ? state.file : try files.open(segment, of: state.file.origin.log)?.file
    let now = disk.now
    guard let begun = file?.origin.begun, begun > 0, begun < now else { return .zero }
    return .milliseconds(now - begun)
  }

  // MARK: - Going on

  /// What records are written with: a new segment is begun if the last one is full.
  func writerWithRoom(_ state: inout LogState) throws -> LogWriter {
    guard let writer = state.writer else { throw error(.closed) }
    guard let segmentSize, writer.isFull(segmentSize) else { return writer }
    return try beginSegment(&state, after: writer)
  }

  /// Begins a segment, after all of the one before was brought to the disk.
  private func beginSegment(_ state: inout LogState, after old: LogWriter) throws -> LogWriter {
    try old.finish()
    let segment = Segment(from: old.written, in: path)
    let origin = Origin(log: old.file.origin.log, begun: disk.now)
    let new = try opening(of: segment).newSegment(segment, like: old.file.disk, origin)
    old.isFinished = true
    try? old.file.disk.unlock()
    state.segments.append(segment)
    (state.file, state.writer) = (new.file, new)
    do {
      try disk.synchronizeFolder(of: segment.path)
    } catch {
      // After a crash the segment may not be there, nor anything that would be appended from now on.
      new.failToSynchronize()
    }
    if let failure = new.failure { throw failure }
    removeOutdated(&state)
    return new
  }

  // MARK: - Compaction

  /// Compacts all segments but the one that is written, one after the other, while others append and read.
  func compactSegments(keeping isKept: (Record) throws -> Bool) throws {
    try compaction.withLock { _ in
      let segments = try finishedSegments()
      // In the end: until then an index knows which records are the last of their keys.
      defer { files.noteReplacement() }
      for segment in segments { try compact(segment, isKept) }
      guard let segment = segments.first else { return }
      try RecordLogError.naming(path) { try disk.synchronizeFolder(of: segment.path) }
    }
  }

  /// The segments that have all records so far.
  private func finishedSegments() throws -> [Segment] {
    try withWriter { state, writer in
      try throwLateError(&state)
      if writer.count > writer.file.first { _ = try beginSegment(&state, after: writer) }
      return state.segments.dropLast()
    }
  }

  private func compact(_ segment: Segment, _ isKept: (Record) throws -> Bool) throws {
    let log = state.withLock { $0.file.origin.log }
    // One that was removed meanwhile, or by somebody else, has no records to keep.
    guard let old = try openCertainly(segment, of: log) else { return }
    let opening = opening(of: segment)
    let tail = Tail(end: old.size, count: old.count, size: old.size)
    _ = try replacement(of: old.file, tail, opening, isKept) { new in
      try withWriter { state, _ in
        // It must not come back.
        guard state.segments.contains(segment) else { return opening.remove(new) }
        try opening.putInPlace(new, of: old.file.disk)
        files.forget(segment)
      }
    }
  }
}
