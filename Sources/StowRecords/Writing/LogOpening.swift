/// Opening files for a log: the lock, the first block of a new one, and the end of one that a crash has left.
struct LogOpening {
  let disk: any Disk
  let path: String
  var options = WritingOptions()
  /// The identity of a log that is created.
  var identity = UInt64.random(in: .min ... .max)

  /// Opens a log for appending, or creates it. Cuts off what is torn after the last whole frame.
  func forAppending() throws -> (writer: LogWriter, recovery: RecordLog.Recovery) {
    while true {
      let file = try lockedFile()
      var locked = file
      do {
        let opened: (LogWriter, RecordLog.Recovery)
        if let file, try naming({ try file.status() }).size > 0 {
          opened = try recovered(LogFile(reading: path, file))
          let place = try naming { try file.status() }.place
          try removeLeftover(of: opened.0.file.origin.log, besidesFileAt: place)
        } else {
          // A log has its head before it has its name, and takes the place of an empty file as a compacted one does.
          let log = try newLog(inPlaceOf: file, like: file, from: 0, nil)
          opened = (log, RecordLog.Recovery(bytes: 0..<0, records: 0..<0, isDamage: false))
          locked = log.file.disk
        }
        // The file's creator may have stopped before its name was on the disk.
        try naming { try disk.synchronizeFolder(of: path) }
        return opened
      } catch {
        try? locked?.unlock()
        // Somebody else may have made the file at the same time.
        guard file == nil, (error as? RecordLogError)?.reason == .replaced else { throw error }
      }
    }
  }

  func naming<Result>(_ call: () throws -> Result) throws -> Result { try RecordLogError.naming(path, call) }

  // MARK: - The lock

  /// Returns the locked file; nil if there is none. If a compaction has replaced the file meanwhile, the lock of
  /// the new one counts.
  func lockedFile() throws -> (any DiskFile)? {
    while true {
      let file: any DiskFile
      do {
        file = try disk.open(path, .appending)
      } catch let error as SystemError {
        if SystemDisk.isMissing(error.code) { return nil }
        throw RecordLogError(file: path, offset: nil, error)
      }
      let status = try naming { try file.status() }
      guard status.isRegular else { throw RecordLogError(file: path, .notALog) }
      guard try naming({ try file.lock() }) else { throw RecordLogError(file: path, .inUse) }
      if try naming({ try disk.place(of: path) }) == status.place { return file }
    }
  }

  // MARK: - New files

  /// Where a new file is written until it takes the place of the log.
  private var newPath: String { path + Self.newEnding }

  static let newEnding = ".stowlog-new"

  /// Makes a file without records, which gets the name of the log. That is on the disk only once the folder is
  /// synchronized.
  ///
  /// - Parameters:
  ///   - empty: The empty file whose place it takes; nil if there must be none.
  ///   - old: The file whose owner and permissions it gets.
  func newLog(
    inPlaceOf empty: (any DiskFile)?, like old: (any DiskFile)?, from first: Int, _ origin: Origin?
  ) throws -> LogWriter {
    try newFile(like: old, mayKeepOwner: empty == nil, from: first, origin) { try putInPlace($0, of: empty) }
  }

  /// Makes a file without records beside this one, locked and with its head on the disk, and removes it if `body`
  /// throws.
  ///
  /// - Parameters:
  ///   - old: The file that it replaces or follows, whose owner and permissions it gets.
  ///   - mayKeepOwner: Whether it may belong to the user of this process instead: it takes no file's place.
  ///   - first: The number of its first record.
  ///   - origin: The log that it belongs to, if there is one.
  func newFile(
    like old: (any DiskFile)?, mayKeepOwner: Bool = false, from first: Int, _ origin: Origin?,
    _ body: (LogWriter) throws -> Void
  ) throws -> LogWriter {
    let status = try naming { try old?.status() }
    return try RecordLogError.naming(newPath) {
      let file = try madeFile(origin?.log, status?.place)
      let head = BlockHead(identity: identity, firstRecord: first, index: 0).bytes
      let bytes = head + (origin?.frame(identity: identity) ?? [])
      let log = LogFile(path: path, disk: file, identity: identity, origin: origin, first: first)
      let tail = Tail(end: bytes.count, count: first, size: bytes.count, synchronizedEnd: bytes.count)
      let new = LogWriter(log, on: disk, at: newPath, tail, options)
      do {
        // Another process that creates the log may have taken the file for a leftover before it was locked.
        guard try file.lock(), try disk.place(of: newPath) == file.status().place else {
          throw RecordLogError(file: path, .inUse)
        }
        if let status { try file.takeOwner(of: status, mayKeepOwner: mayKeepOwner) }
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.synchronize()
        try body(new)
      } catch {
        remove(new)
        throw error
      }
      return new
    }
  }

  private func madeFile(_ log: UInt64?, _ old: FilePlace?) throws -> any DiskFile {
    let purpose: OpeningPurpose = old == nil ? .making : .makingPrivately
    do {
      return try disk.open(newPath, purpose)
    } catch let error as SystemError where SystemDisk.isTaken(error.code) {
      // Somebody who creates the log at the same time holds the lock of the file.
      guard try removeLeftover(of: log, besidesFileAt: old, isInTheWay: true) else {
        throw RecordLogError(file: path, .inUse)
      }
      return try disk.open(newPath, purpose)
    } catch let error as SystemError where SystemDisk.isMissing(error.code) {
      throw RecordLogError(file: path, offset: nil, error)
    }
  }

  /// Puts a new file in the place of the log. The old file must still be there; if it is nil, nothing may be there.
  func putInPlace(_ new: LogWriter, of old: (any DiskFile)?) throws {
    try naming {
      guard try disk.place(of: path) == old?.status().place else { throw RecordLogError(file: path, .replaced) }
      do {
        try disk.rename(newPath, to: path, replacing: old != nil)
      } catch {
        // A file server may have done it although its answer was lost.
        guard try disk.place(of: path) == new.file.disk.status().place else {
          let isTaken = (error as? SystemError).map { SystemDisk.isTaken($0.code) } ?? false
          throw isTaken ? RecordLogError(file: path, .replaced) : error
        }
      }
    }
    new.path = path
  }

  /// Removes a new file that does not take the place of the log.
  func remove(_ new: LogWriter) {
    guard let place = try? disk.place(of: newPath), (try? new.file.disk.status().place) == place else { return }
    try? disk.remove(newPath)
  }

  /// Removes a new file that a crash has left, if it certainly is one: an empty file, a part of its head and its first
  /// frame or zeros in their place, the beginning of a log made from this one, a first segment without records, or a
  /// second name of the log's own file.
  ///
  /// After a crash there may be other bytes in a file than were written to it. Such a file that is in the way gets
  /// another name.
  ///
  /// - Parameter own: The place of the log's own file, whose lock is held.
  /// - Returns: False if somebody is making the file.
  @discardableResult
  func removeLeftover(of log: UInt64?, besidesFileAt own: FilePlace?, isInTheWay: Bool = false) throws -> Bool {
    try RecordLogError.naming(newPath) {
      guard let file = try? disk.open(newPath, .inspecting) else { return true }
      let status = try file.status()
      // Where the file has two names, it keeps the other one.
      let isSecondName = try status.links > 1 && status.place == own && disk.place(of: path) == own
      let isLeftover = try isSecondName ? true : isLeftover(file, of: log)
      guard isLeftover ?? isInTheWay else { return true }
      // Whoever is making the file holds its lock. Where the lock of a file opened for reading is an error, it tells
      // nothing.
      if !isSecondName, (try? file.lock()) == false { return false }
      // Meanwhile whoever made the file may have given it the name of the log, and have let go of it.
      let place = try disk.place(of: newPath)
      guard place == status.place else { return place == nil }
      if isLeftover == nil { try moveAside() } else { try disk.remove(newPath) }
      return true
    }
  }

  private func moveAside() throws {
    var number = 1
    while try disk.place(of: "\(newPath)-\(number)") != nil { number += 1 }
    try disk.rename(newPath, to: "\(newPath)-\(number)", replacing: false)
  }

  /// Returns whether a file is certainly what a crash has left; nil if its bytes do not tell what it is.
  private func isLeftover(_ file: any DiskFile, of log: UInt64?) throws -> Bool? {
    let status = try file.status()
    guard status.isRegular else { return false }
    let originEnd = BlockHead.size + Frame.headSize + Origin.size
    let bytes = try LogFile.bytes(of: file, newPath, from: 0, count: min(status.size, originEnd))
    // The head and the frame are one write, and a crash may leave its first bytes.
    let isPart = status.size <= originEnd
    guard let head = BlockHead(bytes) else {
      let isBeginning = bytes.starts(with: BlockHead.beginning.prefix(bytes.count)) || bytes.allSatisfy { $0 == 0 }
      return isPart && isBeginning ? true : nil
    }
    if bytes[BlockHead.size...].allSatisfy({ $0 == 0 }) { return true }
    guard let frame = Frame(in: bytes, at: BlockHead.size, blockStart: 0, identity: head.identity) else {
      return isPart ? true : nil
    }
    guard frame.kind == .origin, let origin = Origin(bytes, frame.payload) else { return false }
    return origin.log == log || (origin.log == head.identity && status.size == originEnd)
  }

  // MARK: - Existing logs

  func recovered(_ log: LogFile) throws -> (LogWriter, RecordLog.Recovery) {
    // A name that leaves no room for that of a new file is an error here, and not of a later compaction.
    try RecordLogError.naming(newPath) { _ = try disk.status(of: newPath) }
    let tail = try log.tailForWriting()
    if tail.end < tail.size {
      try RecordLogError.naming(path, at: tail.end) {
        try log.disk.truncate(to: tail.end)
        // What was cut off must not come back after what is written next.
        try log.disk.synchronize()
      }
    }
    let writer = LogWriter(log, on: disk, at: path, tail, options)
    if let numbers = tail.unfinished { try writer.writeAbandonment(of: numbers) }
    return (writer, tail.recovery)
  }
}

/// The options for writing a log.
struct WritingOptions: Sendable {
  /// The most bytes that an encoded record may have.
  var maximumRecordSize = 1 << 30
  var packing = RecordLog.Packing.none
  /// Counts what is written.
  var counts = LogCounts()
}

// MARK: - Segments

/// Opening a log that is a folder of segments.
///
/// A segment gets its name once its head is on the disk, and the next one is begun once all of it is. So
/// whenever the system stops, the last segment is a log and the others are whole. Only the holder of the
/// folder's lock gives and removes names in it.
extension LogOpening {
  /// A log that was opened for appending.
  typealias Opened = (writer: LogWriter, recovery: RecordLog.Recovery, segments: [Segment], folderLock: (any DiskFile)?)

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
    if !inFolder, try SegmentFiles(disk, path, isFolder: true).list().isEmpty {
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
      if let file = try opening.lockedFile() { return file }
      try opening.naming {
        do {
          _ = try disk.open(opening.path, .making)
        } catch let error as SystemError where SystemDisk.isTaken(error.code) {}
      }
      return try opening.lockedFile() ?? opening.naming { try disk.open(opening.path, .appending) }
    } catch let error as RecordLogError where error.reason == .inUse {
      throw RecordLogError(file: path, .inUse)
    }
  }

  /// Opens the last segment for appending, or makes the first.
  private func lastSegment(_ lock: any DiskFile) throws -> Opened {
    let files = SegmentFiles(disk, path, isFolder: true)
    var (segments, locked) = (try files.list(), (any DiskFile)?.none)
    do {
      let (writer, recovery): (LogWriter, RecordLog.Recovery)
      if let last = segments.last {
        let opening = opening(of: last)
        let file = try opening.naming { try disk.open(last.path, .appending) }
        guard try opening.naming({ try file.lock() }) else { throw RecordLogError(file: last.path, .inUse) }
        locked = file
        let log = try LogFile(reading: last.path, file, first: last.first)
        (writer, recovery) = try opening.recovered(files.lastForWriting(log, after: segments.dropLast()))
      } else {
        segments = [Segment(from: 0, in: path)]
        let origin = Origin(log: identity, begun: disk.now)
        writer = try opening(of: segments[0]).newLog(inPlaceOf: nil, like: nil, from: 0, origin)
        recovery = RecordLog.Recovery(bytes: 0..<0, records: 0..<0, isDamage: false)
        locked = writer.file.disk
      }
      try removeLeftovers(of: writer.file.origin.log)
      // The creator of the folder, or of the last file in it, may have stopped before its name was on the disk.
      try naming {
        try disk.synchronizeFolder(of: path)
        try disk.synchronizeFolder(of: writer.path)
      }
      return (writer, recovery, segments, lock)
    } catch {
      try? locked?.unlock()
      throw error
    }
  }

  private func opening(of segment: Segment) -> LogOpening {
    LogOpening(disk: disk, path: segment.path, options: options, identity: identity)
  }

  /// Removes the new files that a crash has left during a compaction, or when a segment was to be begun.
  private func removeLeftovers(of log: UInt64) throws {
    for name in try naming({ try disk.names(in: path) }) where name.hasSuffix(Self.newEnding) {
      guard let segment = Segment(named: name.dropLast(Self.newEnding.count), in: path) else { continue }
      let place = try naming { try disk.place(of: segment.path) }
      try opening(of: segment).removeLeftover(of: log, besidesFileAt: place)
    }
  }
}
