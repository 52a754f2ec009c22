import Synchronization

extension RecordLog {
  /// Replaces the file of the log by one with only some of its records, which keep their numbers.
  ///
  /// The new file is written beside the old one, whose place it takes in the end at one moment: a crash at any time
  /// leaves one or the other. Needs room for both on the disk, and memory for a block or two. Others wait with
  /// appending meanwhile. Records that were lost are not in the new file; ``RecordLogReader/damage`` names them.
  ///
  /// When this returns, the log is the new file. If the system could not bring the name of that to the disk, the next call
  /// throws, and nothing more is appended before the log is opened anew.
  ///
  /// A log in a folder is compacted from segment to segment, without anybody who waits, and needs room for one segment. The one that
  /// is written is ended before. If this throws, some segments are compacted and the others are as they were.
  ///
  /// The name of the new file ends in `.stowlog-new` until it takes the place of the log. Opening the log removes one
  /// that a crash has left. A file of somebody else that has this name is an error.
  ///
  /// Iterations that are under way go on in the old file. Readers go over to the new one, and those who follow the log go on
  /// after the records that they have seen. The numbers of records that were left out are given to no others.
  ///
  /// ```swift
  /// let oldest = Date.now.addingTimeInterval(-86_400)
  /// try log.compact(keeping: { try $0.decode(Event.self).date > oldest })
  /// ```
  ///
  /// - Parameter isKept: Called for each record, in their order. It must not compact this log, nor use it at all if the log is
  ///   one file.
  /// - Throws: `RecordLogError`, and what `isKept` throws. The file is then as it was: also if the system cannot read a block,
  ///   or if another file is at its path. A record that is larger than the
  ///   `maximumRecordSize` of this opening is such an error, also one that grows beyond it because it brings along the
  ///   definitions of records that are left out: open the log with a higher limit.
  public func compact(keeping isKept: (Record) throws -> Bool) throws {
    try compact(keeping: isKept, identity: .random(in: .min ... .max))
  }

  /// The same, with the identity that the new file gets.
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
          try disk.synchronizeFolder(of: path)
        } catch {
          // A crash may bring back the old file, without what was appended last and what would be from now on.
          writer.failToSynchronize()
          new.failToSynchronize()
          done = nil
        }
      }
    }
  }

  func opening(of segment: Segment, _ identity: UInt64 = .random(in: .min ... .max)) -> LogOpening {
    let options = WritingOptions(maximumRecordSize: maximumRecordSize, packing: packing, counts: counts)
    return LogOpening(disk: disk, path: segment.path, options: options, identity: identity)
  }

  /// A file with the records of another that are kept, all of it on the disk and with its lock.
  ///
  /// - Parameter putInPlace: Puts it in the place of the old one.
  func replacement(
    of old: LogFile, _ tail: Tail, _ opening: LogOpening, _ isKept: (Record) throws -> Bool,
    putInPlace: (LogWriter) throws -> Void
  ) throws -> LogWriter {
    let new = try opening.newFile(like: old.disk, from: old.first, old.origin)
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
    // What is appended later is encoded, and by somebody who knows nothing of the definitions that were copied.
    new.endScope()
  }
}
