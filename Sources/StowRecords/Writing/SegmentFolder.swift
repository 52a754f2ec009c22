/// Opening a log that is a folder of segments.
///
/// A segment gets its name when its head is on the disk, and the next one is begun when all of it is. So the last one is always
/// a log, and the others are whole, whenever the system stops. Whoever has the lock of the folder is the only one who gives
/// and takes names in it.
extension LogOpening {
  /// A log that was opened for appending.
  typealias Opened = (
    writer: LogWriter, recovery: RecordLog.Recovery, segments: [Segment], folderLock: (any DiskFile)?
  )

  /// Opens a log for appending, or makes it: a folder of segments if one is asked for, or is there.
  func forAppending(inFolder: Bool) throws -> Opened {
    let status = try naming { try disk.status(of: path) }
    if let status, inFolder, !status.isFolder { throw RecordLogError(file: path, .notAFolder) }
    guard status?.isFolder ?? inFolder else {
      let (writer, recovery) = try forAppending()
      return (writer, recovery, [Segment(file: path)], nil)
    }
    if status == nil { try makeFolder() }
    // A folder of somebody's becomes a log only if that is asked for.
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

  /// The lock is that of a file which stays, and has nothing in it.
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
    // Whoever made the folder, or the last file in it, may have been stopped before its name was safe.
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

  /// Makes a segment without records. Its name is not safe before the folder is synchronized.
  func newSegment(_ segment: Segment, like old: (any DiskFile)?, _ origin: Origin) throws -> LogWriter {
    let new = try newFile(like: old, from: segment.first, origin)
    do {
      try putInPlace(new, of: nil)
    } catch {
      remove(new)
      throw error
    }
    return new
  }

  /// Removes the new files that a crash has left of compactions and of segments that were to be begun.
  private func removeLeftovers(of log: UInt64) throws {
    for name in try naming({ try disk.names(in: path) }) where name.hasSuffix(Self.newEnding) {
      guard let segment = Segment(named: name.dropLast(Self.newEnding.count), in: path) else { continue }
      try opening(of: segment).removeLeftover(of: log)
    }
  }

  // MARK: - Reading

  /// All segments, and the file of the last one.
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
      // It was removed meanwhile, and another is the last; or its name is a link that leads nowhere.
      missing = last
    }
  }

  /// The file of a segment; nil if there is none.
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
