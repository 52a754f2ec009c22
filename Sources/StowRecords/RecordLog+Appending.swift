import Synchronization

extension RecordLog {
  /// Appends a record.
  ///
  /// When this returns, the record has its number, and is found by every read through this log, for which it is written
  /// to the file first. While the disk is too full for that, it is kept in memory, and reads do not find it yet.
  /// ``Durability`` says when it is on the disk. If it throws, the log is as it was, and whole, and appending may be
  /// tried again. After some errors nothing more is appended before the log is opened anew: where the disk fails to
  /// synchronize, nobody knows whether the record is there; and the file may have been removed, replaced or cut off by
  /// somebody else.
  ///
  /// Takes time in proportion to the value; one call in some hundred writes a block of 64 KB.
  ///
  /// ```swift
  /// let number = try log.append(event)
  /// ```
  ///
  /// - Returns: The number of the record.
  /// - Throws: `RecordLogError`, for example `diskFull`; `EncodingError`, and whatever an `encode(to:)` throws.
  @discardableResult
  public func append<Value: Encodable>(_ value: Value) throws -> Int {
    try appending { state in
      let encoder = state.encoder.encoder
      try writerWithRoom(&state).append(in: encoder) { try encoder.encode(value, $0) }
    }.lowerBound
  }

  /// Appends records, which get numbers in a row, and are brought to the disk together.
  ///
  /// A crash may leave some of them; `append(group:)` appends all or nothing. If this throws, the records before the one
  /// that failed may have been appended: ``RecordLogReader/count`` says so, and they are as durable as others.
  ///
  /// ```swift
  /// try log.append(contentsOf: events)
  /// ```
  ///
  /// - Returns: The numbers of the records.
  /// - Throws: As `append(_:)` does.
  @discardableResult
  public func append<Values: Sequence>(contentsOf values: Values) throws -> Range<Int>
  where Values.Element: Encodable {
    try appending { state in
      let encoder = state.encoder.encoder
      func append(_ value: Values.Element) throws {
        try writerWithRoom(&state).append(in: encoder) { try encoder.encode(value, $0) }
      }
      // Elements of an array are not copied out of it.
      let isDone: Void? = try values.withContiguousStorageIfAvailable {
        for index in $0.indices { try append($0[index]) }
      }
      if isDone == nil { for value in values { try append(value) } }
    }
  }

  /// Appends records that belong together: after a crash, and for whoever reads, all of them are there or none is.
  ///
  /// A group that has no room in a block of 64 KB is written in parts, and is read as a whole when one of its records is,
  /// which takes memory for all of it. So a group is for what must not be half done, not for many records.
  ///
  /// ```swift
  /// try log.append(group: [Booking(-100, from: "Ada"), Booking(100, to: "Grace")])
  /// ```
  ///
  /// - Parameter values: Encoded once more if there is no room for them in the block.
  /// - Returns: The numbers of the records, in a row.
  /// - Throws: As ``append(_:)`` does; nothing is appended then. All records together have at most as many bytes as
  ///   `maximumRecordSize` says.
  @discardableResult
  public func append<Values: Collection>(group values: Values) throws -> Range<Int>
  where Values.Element: Encodable {
    try appending { state in
      let encoder = state.encoder.encoder
      try writerWithRoom(&state).appendGroup(in: encoder) { body in
        for value in values {
          guard try encoder.encode(value, body) else { return false }
        }
        return true
      }
    }
  }

  /// Has `body` append records, and brings them as far as durability says. Returns their numbers.
  private func appending(_ body: (inout LogState) throws -> Void) throws -> Range<Int> {
    let (writer, numbers, result) = try withWriter { state, writer in
      try throwLateError(&state)
      let first = writer.count
      let result = Result {
        // First what an earlier process has written: if that fails, nothing must have been appended.
        if durability == .everyAppend { try writer.prepareToSynchronize() }
        try body(&state)
        if durability == .everyAppend { try state.writer?.flush() }
      }
      // A segment may have been begun.
      let writer = state.writer ?? writer
      // Who is told that nothing was appended must not find it later.
      if durability == .everyAppend, case .failure = result { writer.dropCollected() }
      // The records before the one that failed are as durable as any.
      if writer.count > first {
        counts.appended.add(writer.count - first, ordering: .relaxed)
        scheduleWriting(&state)
        wakeFollowersSoon(&state)
      }
      return (writer, first..<writer.count, result)
    }
    let synchronization = Result {
      if durability == .everyAppend, !numbers.isEmpty { try synchronize(writer, upTo: numbers.upperBound) }
    }
    // The records are there, and their caller is told otherwise.
    if case .failure = synchronization { state.withLock { _ in writer.failToSynchronize() } }
    try result.get()
    try synchronization.get()
    return numbers
  }

  /// Writes what was appended to the file, without waiting for the disk: it survives the process, and readers see it.
  ///
  /// - Throws: `RecordLogError`. What could not be written is kept, and written by a later call.
  public func flush() throws {
    try withWriter { state, writer in
      try throwLateError(&state)
      try writer.flush()
    }
  }

  /// Writes what was appended, and returns when it is on the disk.
  ///
  /// ```swift
  /// try log.append(contentsOf: events)
  /// try log.synchronize()
  /// ```
  ///
  /// - Throws: `RecordLogError`. If it was the disk that failed, nothing more is appended: open the log anew.
  public func synchronize() throws {
    let (writer, count) = try withWriter { state, writer in
      try throwLateError(&state)
      try writer.prepareToSynchronize()
      return (writer, writer.written)
    }
    try synchronize(writer, upTo: count)
  }

  /// What closing does, once.
  func closeWriting() throws {
    let closing = state.withLock { state -> (LogWriter, Result<Void, any Error>)? in
      state.isClosed = true
      defer { state.followers.wake() }
      guard let writer = state.writer else { return nil }
      // What is in memory is written, whatever went wrong before.
      let writing = Result { try writer.prepareToSynchronize() }
      let result = Result {
        try throwLateError(&state)
        try writing.get()
      }
      (state.tail, state.writer) = (writer.tail, nil)
      return (writer, result)
    }
    guard let (writer, result) = closing else { return }
    defer {
      try? writer.file.disk.unlock()
      try? folderLock?.unlock()
    }
    // What was written is brought to the disk even where something was not.
    let synchronization = Result { try synchronize(writer, upTo: writer.written) }
    try result.get()
    try synchronization.get()
    // Without it the next opening writes the end of the log anew, and nothing else.
    try? writer.writeCheckpoint()
    state.withLock { $0.tail = writer.tail }
  }

  // MARK: - Writing

  func withWriter<Result>(_ body: (inout LogState, LogWriter) throws -> Result) throws -> Result {
    try state.withLock { state in
      guard let writer = state.writer else { throw error(.closed) }
      return try body(&state, writer)
    }
  }

  /// Throws what went wrong since the last call, while nobody waited.
  func throwLateError(_ state: inout LogState) throws {
    if let error = state.lateError.take() ?? state.writer?.failure { throw error }
  }

  /// Brings at least so many records to the disk. They must be written. What an earlier process has written is among them
  /// only if it could be written anew.
  func synchronize(_ writer: LogWriter, upTo count: Int) throws {
    try synchronization.withLock { done in
      if let done, done >= count { return }
      // Before the call: it brings all of them along.
      let before: (written: Int, end: Int, isPrepared: Bool)? = try state.withLock { _ in
        // All of a finished segment is on the disk.
        if writer.isFinished { return nil }
        try writer.checkFile()
        return (writer.written, writer.wholeEnd, writer.isPrepared)
      }
      guard let (written, end, isPrepared) = before else { return }
      do {
        try writer.synchronizeFile()
      } catch {
        // The system may have dropped what it could not write, and would not say so again.
        state.withLock { _ in writer.failToSynchronize() }
        throw error
      }
      counts.synchronizations.add(1, ordering: .relaxed)
      guard isPrepared else { return }
      state.withLock { _ in writer.noteSynchronized(before: end) }
      done = written
    }
  }

  // MARK: - Writing later

  /// Is called with what goes wrong in the background, at once and on any thread: records could not be brought to the disk
  /// in their interval. They are kept, and it is tried again after the same time, unless the error is one after which
  /// nothing more is written. The next call of the log throws the same error.
  ///
  /// ```swift
  /// log.onBackgroundError = { logger.error("events are not on the disk: \($0)") }
  /// ```
  public var onBackgroundError: (@Sendable (RecordLogError) -> Void)? {
    get { state.withLock { $0.onBackgroundError } }
    set { state.withLock { $0.onBackgroundError = newValue } }
  }

  /// Has the records written in time, if durability asks for it and nobody is about to.
  private func scheduleWriting(_ state: inout LogState) {
    guard case .interval(let interval) = durability, !state.isWritingScheduled else { return }
    state.isWritingScheduled = true
    writingCalls.run(after: interval) { [weak self] in self?.writeLater() }
  }

  private func writeLater() {
    do {
      let (writer, count) = try withWriter { state, writer in
        state.isWritingScheduled = false
        try writer.prepareToSynchronize()
        return (writer, writer.written)
      }
      try synchronize(writer, upTo: count)
    } catch let error as RecordLogError {
      noteBackgroundError(error)
    } catch {
      preconditionFailure("Writing throws errors of logs only, not \(error)")
    }
  }

  private func noteBackgroundError(_ error: RecordLogError) {
    let handler = state.withLock { state -> (@Sendable (RecordLogError) -> Void)? in
      // Whoever closed the log has synchronized it, or was told that this failed.
      guard !state.isClosed else { return nil }
      state.lateError = error
      if state.writer?.failure == nil { scheduleWriting(&state) }
      return state.onBackgroundError
    }
    handler?(error)
  }
}
