extension RecordLog {
  /// Replaces the file of the log with one that has only some of its records, under the same numbers.
  ///
  /// The new file is written beside the old one, and replaces it atomically in the end: a crash at any time
  /// leaves one or the other. Needs room for both on the disk, and memory for a block or a group. Other threads
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
  /// removes such a file if a crash has left it. If it is in the way and its bytes do not tell what it is, it is
  /// renamed to end in `.stowlog-new-1`, or the next free number. Another log of this name is an error.
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
  /// - Throws: `RecordLogError`, and what `isKept` throws; `DecodingError` if the definitions of a kept record, or of
  ///   one before it that it relies on, break the format; `DecodingError` or `EncodingError` if kept records of a large
  ///   group hold values that the log cannot read or write, and the new file would become much larger than the old one.
  ///   The file is then unchanged. Errors include a block that the system cannot read, another file at the log's path,
  ///   and a record larger than the `maximumRecordSize` of this opening, even if it only became so by taking along the
  ///   definitions of left-out records: open the log with a higher limit.
  public func compact(keeping isKept: (Record) throws -> Bool) throws {
    try compact(keeping: isKept, identity: .random(in: .min ... .max))
  }

  /// Compacts the log into a file with the given identity.
  func compact(keeping isKept: (Record) throws -> Bool, identity: UInt64) throws {
    try checkUse(of: stateHolder)
    if segmentSize != nil { return try compactSegments(keeping: isKept) }
    try synchronization.withLock { done in
      try withWriter { state, writer in
        try throwLateError(&state)
        try writer.flush()
        let opening = opening(of: state.segments[0], identity)
        // A process that has too many files open must notice that before the new file has its name.
        let synchronizeNames = try RecordLogError.naming(path) { try disk.openFolder(of: path) }
        let new = try replacement(of: writer.file, writer.tail, opening, isKept) { new in
          try opening.putInPlace(new, of: writer.file.disk)
        }
        (state.file, state.writer, done) = (new.file, new, new.written)
        files.noteReplacement()
        state.followers.wake()
        do {
          try RecordLogError.naming(path, synchronizeNames)
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

  // MARK: - Segments

  /// Compacts all segments except the one being written, one after the other, while others append and read.
  private func compactSegments(keeping isKept: (Record) throws -> Bool) throws {
    try checkUse(of: compactor)
    try compaction.withLock { _ in
      let segments = try finishedSegments()
      // Deferred to the end: until then an index knows which records are the last of their keys.
      defer { files.noteReplacement() }
      compactor.begin()
      defer { compactor.end() }
      for (segment, next) in zip(segments, segments.dropFirst()) { try compact(segment, before: next.first, isKept) }
      try RecordLogError.naming(path) { try disk.synchronizeFolder(of: segments[0].path) }
    }
  }

  /// Ends the segment being written, and returns the segments, of which those before the last have all records so far.
  private func finishedSegments() throws -> [Segment] {
    try withWriter { state, writer in
      try throwLateError(&state)
      if writer.count > writer.file.first { _ = try beginSegment(&state, after: writer) }
      return state.segments
    }
  }

  private func compact(_ segment: Segment, before end: Int, _ isKept: (Record) throws -> Bool) throws {
    let log = state.withLock { $0.file.origin.log }
    let old: SegmentFiles.Part
    do {
      // A segment that was removed meanwhile, or by somebody else, has no records to keep.
      guard let part = try openCertainly(segment, before: end, of: log) else { return }
      old = part
    } catch let error as RecordLogError where error.isOfAnotherFile {
      return
    }
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

  // MARK: - Copying

  /// Makes a file with the kept records of another, locked and entirely on the disk.
  ///
  /// - Parameter putInPlace: Puts the new file in the place of the old one.
  func replacement(
    of old: LogFile, _ tail: Tail, _ opening: LogOpening, _ isKept: (Record) throws -> Bool,
    putInPlace: (LogWriter) throws -> Void
  ) throws -> LogWriter {
    // A segment that was opened as a file keeps its first number, too, unless the next head says that it is too high.
    let heads = try (0...1).map { try old.head(of: $0)?.firstRecord }
    let first = old.namesOrigin ? min(heads[0] ?? 0, heads[1] ?? .max, tail.count) : 0
    return try opening.newFile(like: old.disk, from: max(old.first, first), old.origin) { new in
      try copyRecords(of: old, tail, to: new, isKept)
      try new.finish()
      try putInPlace(new)
    }
  }

  private func copyRecords(of old: LogFile, _ tail: Tail, to new: LogWriter, _ isKept: (Record) throws -> Bool) throws {
    let copier = RecordCopier(maximumDepth: decoder.maximumDepth, size: tail.end)
    let met = newReport()
    var cursor = RecordCursor(old, from: 0, tail, maximumRecordSize: maximumRecordSize, decoder, met)
    var scope: (store: RecordStore, first: Int)?
    while let record = cursor.nextRecord() {
      let first = record.store.run.scope(of: record.index)
      if scope?.store !== record.store || scope?.first != first {
        scope = (record.store, first)
        copier.beginReading()
        new.endScope()
      }
      if try isKept(record) {
        new.leaveOut(record.number - new.count)
        try copier.append(record, to: new)
      } else {
        copier.skip(record)
      }
    }
    try throwUnreadable(met.list)
    new.leaveOut(tail.count - new.count)
    // The encoder of later records does not know the copied definitions.
    new.endScope()
  }
}
