/// Opening files for a log: the lock, the first block of a new one, and the end of one that a crash has left.
struct LogOpening {
  let disk: any Disk
  let path: String
  var options = WritingOptions()
  /// That of a log which is made.
  var identity = UInt64.random(in: .min ... .max)

  /// Where a compaction writes, until its file takes the place of the log.
  static func pathOfCompaction(of path: String) -> String { path + ".compacting" }

  /// Opens a log for appending, or makes it. What stands behind the last whole record is cut off.
  func forAppending() throws -> (writer: LogWriter, recovery: RecordLog.Recovery) {
    let file = try lockedFile()
    do {
      try naming { try disk.remove(Self.pathOfCompaction(of: path)) }
      let opened =
        try isUnborn(file)
        ? (newLog(in: file), RecordLog.Recovery(bytes: 0..<0, records: 0)) : recovered(file)
      // Whoever made the file may have been stopped before its name was safe.
      try naming { try disk.synchronizeFolder(of: path) }
      return opened
    } catch {
      try? file.unlock()
      throw error
    }
  }

  func forReading() throws -> LogFile {
    try LogFile(reading: path, naming { try disk.open(path, .reading) })
  }

  private func naming<Result>(_ call: () throws -> Result) throws -> Result {
    try RecordLogError.naming(path, call)
  }

  /// The file with its lock. A compaction may have put another file in its place meanwhile, whose lock is the one
  /// that counts.
  private func lockedFile() throws -> any DiskFile {
    while true {
      let file = try naming { try disk.open(path, .appending) }
      guard try naming({ try file.lock() }) else { throw RecordLogError(file: path, .inUse) }
      if try naming({ try disk.place(of: path) == file.place() }) { return file }
    }
  }

  // MARK: - New logs

  /// Whether a file is new, or was just being made when its maker was stopped.
  private func isUnborn(_ file: any DiskFile) throws -> Bool {
    let size = try naming { try file.size() }
    guard size > 0 else { return true }
    guard size <= BlockHead.size else { return false }
    let bytes = try LogFile.bytes(of: file, path, from: 0, count: size)
    return BlockHead.mayBeTorn(bytes) && BlockHead(bytes) == nil
  }

  /// Makes a log of an empty file, or of one that is to be emptied.
  func newLog(in file: any DiskFile) throws -> LogWriter {
    try naming {
      try file.truncate(to: 0)
      try BlockHead(identity: identity, firstRecord: 0, index: 0).bytes.withUnsafeBytes {
        try file.write($0, at: 0)
      }
      try file.synchronize()
    }
    let log = LogFile(path: path, disk: file, identity: identity)
    return LogWriter(log, end: BlockHead.size, written: 0, options)
  }

  // MARK: - Logs that are there

  private func recovered(_ file: any DiskFile) throws -> (LogWriter, RecordLog.Recovery) {
    let log = try LogFile(reading: path, file)
    let tail = try log.tail()
    if tail.end < tail.size {
      try RecordLogError.naming(path, at: tail.end) {
        try file.truncate(to: tail.end)
        // What was cut off must not come back behind what is written next.
        try file.synchronize()
      }
    }
    let writer = LogWriter(log, end: tail.end, written: tail.count, options)
    return (writer, tail.recovery)
  }
}
