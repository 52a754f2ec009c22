import Synchronization

extension RecordLog {
  /// Replaces the log by one with only some of its records, which are numbered anew from 0 on.
  ///
  /// The new file is written beside the old one, whose place it takes in the end at one moment: a crash at any time leaves
  /// one or the other. Needs room for both on the disk, and memory for a block or two. Others wait with appending
  /// meanwhile. Records that were lost are not in the new file; ``damage`` names them.
  ///
  /// Iterations that are under way go on in the old file. Readers go over to the new one, and those who follow the log go
  /// on behind the records that they have seen.
  ///
  /// ```swift
  /// let oldest = Date.now.addingTimeInterval(-86_400)
  /// try log.compact(keeping: { try $0.decode(Event.self).date > oldest })
  /// ```
  ///
  /// - Parameter isKept: Asked for each record, in their order. Must not use this log.
  /// - Throws: `RecordLogError`, and what `isKept` throws. The log is then as it was.
  public func compact(keeping isKept: (Record) throws -> Bool) throws {
    try synchronization.withLock { done in
      try withWriter { state, writer in try compact(&state, &done, writer, isKept) }
    }
  }

  private func compact(
    _ state: inout LogState, _ done: inout Int?, _ old: LogWriter, _ isKept: (Record) throws -> Bool
  ) throws {
    try throwLateError(&state)
    try old.flush()
    let path = LogOpening.pathOfCompaction(of: path)
    let new: LogWriter
    do {
      new = try copy(old, to: path, isKept)
      try RecordLogError.naming(self.path) { try disk.rename(path, to: self.path) }
    } catch {
      try? disk.remove(path)
      throw error
    }
    state.file = new.file
    state.writer = new
    done = new.written
    do {
      try RecordLogError.naming(self.path) { try disk.synchronizeFolder(of: self.path) }
    } catch {
      hasFailed.store(true, ordering: .relaxed)
      throw error
    }
  }

  /// A new file with the records that are kept, all of it on the disk, and with its lock.
  private func copy(_ old: LogWriter, to newPath: String, _ isKept: (Record) throws -> Bool) throws
    -> LogWriter
  {
    let file = try RecordLogError.naming(newPath) {
      let file = try disk.open(newPath, .making(permissions: try old.file.disk.permissions()))
      guard try file.lock() else { throw RecordLogError(file: newPath, .inUse) }
      return file
    }
    let writer = try LogOpening(disk: disk, path: path, maximumRecordSize: maximumRecordSize).newLog(in: file)
    try writer.write(Origin(identity: old.file.identity, count: 0))
    try copyRecords(of: old, to: writer, isKept)
    try writer.flush()
    try writer.write(Origin(identity: old.file.identity, count: writer.written))
    try RecordLogError.naming(newPath) { try file.synchronize() }
    return writer
  }

  private func copyRecords(
    of old: LogWriter, to new: LogWriter, _ isKept: (Record) throws -> Bool
  ) throws {
    let copier = RecordCopier()
    let met = DamageReport()
    var cursor = cursor(over: old.file, from: 0, old.tail, noting: met)
    var scope: (store: RecordStore, first: Int)?
    while let record = cursor.nextRecord() {
      let first = record.store.scope(of: record.index)
      if scope?.store !== record.store || scope?.first != first {
        scope = (record.store, first)
        copier.beginReading()
        new.endScope()
      }
      if try isKept(record) {
        try new.append(CopySource(record: record, copier: copier))
      } else {
        try record.store.withBytes(of: record.index) { try copier.skip($0) }
      }
    }
    try throwUnreadable(met.list)
    // What is appended later is encoded, and by somebody who knows nothing of the definitions that were copied.
    new.endScope()
  }

  /// What the system could not read may be whole all the same, and must not be left out.
  private func throwUnreadable(_ list: [Damage]) throws {
    for damage in list {
      guard case .unreadable(let code) = damage.reason else { continue }
      throw RecordLogError(
        file: path, offset: damage.bytes.lowerBound, SystemError(operation: "read", code: code))
    }
  }
}
