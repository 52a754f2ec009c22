/// Opening a log that is a folder of segments.
///
/// A segment gets its name once its head is on the disk, and the next one is begun once all of it is. So
/// whenever the system stops, the last segment is a log and the others are whole. Only the holder of the
/// folder's lock gives and removes names in it.
extension LogOpening {
  /// A log that was opened for appending.
  typealias Opened = (
    writer: LogWriter, recovery: RecordLog.Recovery, segments: [Segment], folderLock: (any DiskFile)?
  )

  /// Opens a log for appending, or creates it: a folder of segments if one is asked for, or exists.
  func forAppending(inFolder: Bool) throws -> Opened {
    let status = try naming { try disk.status(of: path) }
    if let status, inFolder, !status.isFolder { throw RecordLogError(file: path, .notAFolder) }
    guard status?.isFolder ?? inFolder else {
      let (writer, recovery) = try forAppending()
      return (writer, recovery, [Segment(file: path)], nil)
    }
    if status == nil { try makeFolder() }
    // An existing folder becomes a log only if that is asked for.
    if !inFolder, try SegmentFiles(disk, folder: path).list().isEmpty {
      throw RecordLogError(file: path, .notALog)
    }
    let lock = try lockedFolder()
    do {
      return try lastSegment(lock)
    } catch {
      try? lock.unlock()
      throw error
    }
  }

  private func makeFolder() throws {
    try naming {
      do {
        try disk.makeFolder(path)
      } catch let error as SystemError where SystemDisk.isTaken(error.code) {}
    }
  }

  /// Locks the folder, by an empty file that stays in it.
  private func lockedFolder() throws -> any DiskFile {
    let opening = LogOpening(disk: disk, path: "\(path)/stowlog-lock")
    do {
      return try opening.lockedFile().0
    } catch let error as RecordLogError where error.reason == .inUse {
      throw RecordLogError(file: path, .inUse)
    }
  }

  /// Opens the last segment for appending, or makes the first.
  private func lastSegment(_ lock: any DiskFile) throws -> Opened {
    let files = SegmentFiles(disk, folder: path)
    let segments = try files.list()
    let opened: Opened
    if let last = segments.last {
      let (writer, recovery) = try opening(of: last).forGoingOn {
        try files.lastForWriting(
          LogFile(reading: last.path, $0, first: last.first), after: segments.dropLast())
      }
      opened = (writer, recovery, segments, lock)
    } else {
      let first = Segment(from: 0, in: path)
      let origin = Origin(log: identity, begun: disk.now)
      let writer = try opening(of: first).newSegment(first, like: nil, origin)
      opened = (writer, RecordLog.Recovery(bytes: 0..<0, records: 0..<0), [first], lock)
    }
    try removeLeftovers(of: opened.writer.file.origin.log)
    // The creator of the folder, or of the last file in it, may have stopped before its name was on the disk.
    try naming {
      try disk.synchronizeFolder(of: path)
      try disk.synchronizeFolder(of: opened.writer.path)
    }
    return opened
  }

  private func opening(of segment: Segment) -> LogOpening {
    LogOpening(disk: disk, path: segment.path, options: options, identity: identity)
  }

  /// Opens a segment for appending.
  private func forGoingOn(
    _ read: (any DiskFile) throws -> LogFile
  ) throws -> (writer: LogWriter, recovery: RecordLog.Recovery) {
    let file = try naming { try disk.open(path, .appending) }
    guard try naming({ try file.lock() }) else { throw RecordLogError(file: path, .inUse) }
    do {
      return try recovered(read(file))
    } catch {
      try? file.unlock()
      throw error
    }
  }

  /// Makes a segment without records. Its name is on the disk only once the folder is synchronized.
  func newSegment(_ segment: Segment, like old: (any DiskFile)?, _ origin: Origin) throws -> LogWriter {
    let new = try newFile(like: old, mayKeepOwner: true, from: segment.first, origin)
    do {
      try putInPlace(new, of: nil)
    } catch {
      remove(new)
      throw error
    }
    return new
  }

  /// Removes the new files that a crash has left during a compaction, or when a segment was to be begun.
  private func removeLeftovers(of log: UInt64) throws {
    for name in try naming({ try disk.names(in: path) }) where name.hasSuffix(Self.newEnding) {
      guard let segment = Segment(named: name.dropLast(Self.newEnding.count), in: path) else { continue }
      try opening(of: segment).removeLeftover(of: log)
    }
  }

  // MARK: - Reading

  /// Returns all segments, and the file of the last one.
  func segmentsForReading(_ files: SegmentFiles) throws -> (segments: [Segment], file: LogFile) {
    var missing: Segment?
    while true {
      let segments = try files.list()
      guard let last = segments.last, last != missing else {
        throw RecordLogError(file: missing?.path ?? path, .notALog)
      }
      if let file = try segmentForReading(last) {
        return (segments, try files.last(file, after: segments.dropLast()))
      }
      // The segment was removed meanwhile, and another one is the last; or its name is a dangling link.
      missing = last
    }
  }

  /// Returns the file of a segment, or nil if it does not exist.
  func segmentForReading(_ segment: Segment) throws -> LogFile? {
    try RecordLogError.naming(segment.path) {
      do {
        return try LogFile(
          reading: segment.path, disk.open(segment.path, .reading), first: segment.first)
      } catch let error as SystemError where SystemDisk.isMissing(error.code) {
        return nil
      }
    }
  }
}
