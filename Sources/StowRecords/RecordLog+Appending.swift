import Synchronization

extension RecordLog {
  /// Appends a record.
  ///
  /// When this returns, the record has its number, and every read through this log finds it: reading writes
  /// it to the file first. While the disk is too full for that, it is kept in memory, and reads do not find
  /// it yet. ``Durability`` says when it is on the disk. If this throws, the log is unchanged and whole, and
  /// appending may be tried again. After some errors nothing more is appended until the log is opened again:
  /// if the disk failed to synchronize, it is unknown whether the record is there; or the file may have been
  /// removed, replaced or truncated by somebody else.
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
    try appending { try append(value, &$0) }.lowerBound
  }

  /// Appends records, which get consecutive numbers and are brought to the disk together.
  ///
  /// A crash may leave only some of them; `append(group:)` appends all or nothing. If this throws, the records before
  /// the one that failed may have been appended: ``RecordLogReader/count`` tells, and they are as durable as others.
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
      for value in values { try append(value, &state) }
    }
  }

  /// Appends records that belong together: after a crash, and for every reader, either all of them are there or none.
  ///
  /// A group that does not fit in a block of 64 KB is written in parts, and reading any of its records takes
  /// memory for the whole group. So use a group for what must not be half done, not for many records.
  ///
  /// ```swift
  /// try log.append(group: [Booking(-100, from: "Ada"), Booking(100, to: "Grace")])
  /// ```
  ///
  /// - Parameter values: The values of the records, encoded once more if the block has no room for them.
  /// - Returns: The numbers of the records, in a row.
  /// - Throws: What ``append(_:)`` throws; nothing is appended then. `maximumRecordSize` limits the size of
  ///   all records together.
  @discardableResult
  public func append<Values: Collection>(group values: Values) throws -> Range<Int>
  where Values.Element: Encodable {
    try appending { state in
      try writerWithRoom(&state).append(in: encoder) { body in
        for value in values {
          guard try encoder.encode(value, body) else { return false }
        }
        return true
      }
    }
  }

  /// Has `body` append a record, unless there is one that it wants. Returns the number of either, as durable as the log
  /// requires.
  func appendUnlessKnown(_ body: (inout LogState) throws -> Int) throws -> Int {
    var number = 0
    let numbers = try appending { number = try body(&$0) }
    // Whoever has appended it may still be waiting for the disk.
    if numbers.isEmpty, durability == .everyAppend { try synchronize() }
    return number
  }

  /// Appends a record, and returns its number.
  @discardableResult
  func append(_ value: some Encodable, _ state: inout LogState) throws -> Int {
    let writer = try writerWithRoom(&state)
    try writer.append(in: encoder) { try encoder.encode(value, $0) }
    return writer.count - 1
  }

  /// Has `body` append records, and makes them as durable as the log requires. Returns their numbers.
  private func appending(_ body: (inout LogState) throws -> Void) throws -> Range<Int> {
    let (writer, numbers, result) = try withWriter { state, writer in
      try throwLateError(&state)
      let first = writer.count
      let result = Result {
        // Prepares the bytes of an earlier process first: if that fails, nothing must have been appended.
        if durability == .everyAppend { try writer.prepareToSynchronize() }
        try body(&state)
        if durability == .everyAppend { try state.writer?.flush() }
      }
      // A segment may have been begun.
      let writer = state.writer ?? writer
      // A caller who was told that nothing was appended must not find it later.
      if durability == .everyAppend, case .failure = result { writer.dropCollected() }
      // The records before the one that failed are as durable as any.
      if writer.count > first {
        options.counts.appended.add(writer.count - first, ordering: .relaxed)
        scheduleWriting(&state)
        wakeFollowersSoon(&state)
      }
      return (writer, first..<writer.count, result)
    }
    let synchronization = Result {
      if durability == .everyAppend, !numbers.isEmpty { try synchronize(writer, upTo: numbers.upperBound) }
    }
    // The records are in the file, although their caller gets an error.
    if case .failure = synchronization { state.withLock { _ in writer.failToSynchronize() } }
    try result.get()
    try synchronization.get()
    return numbers
  }

  /// Writes appended records to the file, without waiting for the disk. They then survive the process, and
  /// readers see them.
  ///
  /// - Throws: `RecordLogError`. What could not be written is kept, and written by a later call.
  public func flush() throws {
    try withWriter { state, writer in
      try throwLateError(&state)
      try writer.flush()
    }
  }

  /// Writes appended records, and returns once they are on the disk.
  ///
  /// ```swift
  /// try log.append(contentsOf: events)
  /// try log.synchronize()
  /// ```
  ///
  /// - Throws: `RecordLogError`. If the disk failed, nothing more is appended until the log is opened again.
  public func synchronize() throws { try synchronize(after: throwLateError) }

  /// Does the work of closing. Called once.
  func closeWriting() throws {
    let closing = state.withLock { state -> (LogWriter, Result<Void, any Error>)? in
      state.isClosed = true
      defer { state.followers.wake() }
      guard let writer = state.writer else { return nil }
      // Writes what is in memory, whatever went wrong before.
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
    // Synchronizes what was written, even if something else could not be.
    let synchronization = Result { try synchronize(writer, upTo: writer.written) }
    try result.get()
    try synchronization.get()
    // Without the checkpoint, the next opening merely rewrites the end of the log.
    try? writer.writeCheckpoint()
    state.withLock { $0.tail = writer.tail }
  }

  // MARK: - Writing

  func withWriter<Result>(_ body: (inout LogState, LogWriter) throws -> Result) throws -> Result {
    try checkUse(of: stateHolder)
    return try state.withLock { state in
      guard let writer = state.writer else { throw error(.closed) }
      stateHolder.begin()
      defer { stateHolder.end() }
      return try body(&state, writer)
    }
  }

  /// Throws the error that work in the background has met since the last call.
  func throwLateError(_ state: inout LogState) throws {
    if let error = state.lateError.take() ?? state.writer?.failure { throw error }
  }

  /// Brings all records to the disk, after `body` was called under the lock.
  private func synchronize(after body: (inout LogState) throws -> Void) throws {
    let (writer, count) = try withWriter { state, writer in
      try body(&state)
      try writer.prepareToSynchronize()
      return (writer, writer.written)
    }
    try synchronize(writer, upTo: count)
  }

  /// Brings at least `count` records to the disk. They must be written already. Those of an earlier process
  /// are among them only if they could be rewritten.
  func synchronize(_ writer: LogWriter, upTo count: Int) throws {
    try synchronization.withLock { done in
      if let done, done >= count { return }
      // Taken before the disk synchronizes, which covers all of them.
      let before: (written: Int, end: Int, isPrepared: Bool)? = try state.withLock { _ in
        // All of a finished segment is on the disk.
        if writer.isFinished { return nil }
        try writer.checkFile()
        return (writer.written, writer.wholeEnd, writer.isPrepared)
      }
      guard let (written, end, isPrepared) = before else { return }
      do {
        let former = busyThread.exchange(SystemDisk.thread, ordering: .relaxed)
        defer { busyThread.store(former, ordering: .relaxed) }
        try writer.synchronizeFile()
      } catch {
        // The system may have dropped what it could not write, and would not report it again.
        state.withLock { _ in writer.failToSynchronize() }
        throw error
      }
      guard isPrepared else { return }
      state.withLock { _ in writer.noteSynchronized(before: end) }
      done = written
    }
  }

  // MARK: - Writing later

  /// Called at once, on any thread, with the error when records could not be brought to the disk in their
  /// interval. They are kept, and tried again after the same interval, unless the error is one after which
  /// nothing more is written. The next call of the log throws the same error.
  ///
  /// It is also called if ``Retention`` could not remove a segment, also when the log was opened. No call throws that
  /// error.
  ///
  /// ```swift
  /// log.onBackgroundError = { logger.error("events are not on the disk: \($0)") }
  /// ```
  public var onBackgroundError: (@Sendable (RecordLogError) -> Void)? {
    get { state.withLock { $0.onBackgroundError } }
    set {
      // What the old closure keeps may use the log when it is let go.
      var closure = newValue
      let untold = state.withLock { state in
        swap(&state.onBackgroundError, &closure)
        return newValue == nil ? nil : state.untoldError.take()
      }
      if let untold { newValue?(untold) }
    }
  }

  /// Reports an error that no call throws, once the state is unlocked.
  func report(_ error: RecordLogError, _ state: inout LogState) {
    guard let handler = state.onBackgroundError else {
      state.untoldError = error
      return
    }
    writingCalls.start { handler(error) }
  }

  /// Schedules the writing of records, if durability asks for it and it is not scheduled yet.
  private func scheduleWriting(_ state: inout LogState) {
    guard case .interval(let interval) = durability, !state.isWritingScheduled else { return }
    state.isWritingScheduled = true
    writingCalls.run(after: interval) { [weak self] in self?.writeLater() }
  }

  func writeLater() {
    do {
      try synchronize { $0.isWritingScheduled = false }
    } catch let error as RecordLogError {
      noteBackgroundError(error)
    } catch {
      preconditionFailure("Writing throws errors of logs only, not \(error)")
    }
  }

  private func noteBackgroundError(_ error: RecordLogError) {
    let handler = state.withLock { state -> (@Sendable (RecordLogError) -> Void)? in
      // Closing has synchronized the log, or has thrown the error.
      guard !state.isClosed else { return nil }
      state.lateError = error
      if state.writer?.failure == nil { scheduleWriting(&state) }
      return state.onBackgroundError
    }
    handler?(error)
  }
}

// MARK: - Appending for tasks that wait for the disk

extension RecordLog {
  /// Appends a record, and returns when it is on the disk, whatever the durability of the log.
  ///
  /// ```swift
  /// let number = try await log.appendDurably(event)
  /// ```
  ///
  /// Tasks that wait at the same time share one synchronization: the records of all of them are written together. The
  /// value is encoded, written and synchronized on a thread of the log; no thread of Swift's pool waits. Records of one
  /// task are in the order of its calls. A waiting call keeps its value in memory, and nothing else.
  ///
  /// - Returns: The number of the record.
  /// - Throws: What ``append(_:)`` throws; `CancellationError` if the task is cancelled before the record is
  ///   appended. Once it is appended, the call waits for the disk. After an error of the disk it is unknown
  ///   whether the record is there; after any other error it is not.
  @discardableResult
  public func appendDurably<Value: Encodable & Sendable>(_ value: Value) async throws -> Int {
    try await durably { try self.append(value, &$0) }
  }

  /// Returns the number that `append` returns, called under the lock of the log, once that record is on the disk.
  func durably(_ append: @escaping @Sendable (inout LogState) throws -> Int) async throws -> Int {
    try Task.checkCancellation()
    let key = durableWishes.makeKey()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let wish = DurableWish(continuation: continuation, append: append)
        if durableWishes.add(wish, key) { writingCalls.start { self.fulfillWishes() } }
        // A cancellation before the wish was added has found nothing to cancel.
        if Task.isCancelled { durableWishes.cancel(key) }
      }
    } onCancel: {
      durableWishes.cancel(key)
    }
  }

  /// Appends the records that tasks wait for, until no task waits.
  private func fulfillWishes() {
    while let wishes = durableWishes.takeAll() {
      let results = fulfill(wishes)
      for (wish, result) in zip(wishes, results) { wish.continuation.resume(with: result) }
    }
  }

  /// Appends records and brings all of them to the disk at once.
  private func fulfill(_ wishes: [DurableWish]) -> [Result<Int, any Error>] {
    do {
      let (writer, results) = try withWriter { state, writer in
        try throwLateError(&state)
        // Records that others have appended stay, whatever happens to these.
        try writer.prepareToSynchronize()
        let first = writer.count
        var results = wishes.map { wish in Result { try wish.append(&state) } }
        // A segment may have been begun.
        let writer = state.writer ?? writer
        do {
          try writer.flush()
        } catch {
          // A caller who was told that nothing was appended must not find it later.
          writer.dropCollected()
          results = results.map { $0.failing(with: error, from: writer.written) }
        }
        options.counts.appended.add(writer.count - first, ordering: .relaxed)
        wakeFollowersSoon(&state)
        return (writer, results)
      }
      let count = results.compactMap { try? $0.get() }.max().map { $0 + 1 } ?? 0
      guard count > 0 else { return results }
      do {
        try synchronize(writer, upTo: count)
        return results
      } catch {
        return results.map { $0.failing(with: error, from: 0) }
      }
    } catch {
      return wishes.map { _ in .failure(error) }
    }
  }
}

extension Result<Int, any Error> {
  /// Returns the error in place of all numbers from the given one on.
  fileprivate func failing(with error: any Error, from number: Int) -> Self {
    flatMap { $0 < number ? .success($0) : .failure(error) }
  }
}

/// A record that a task wants to be on the disk.
struct DurableWish: Sendable {
  let continuation: CheckedContinuation<Int, any Error>
  /// Appends the record, unless there is one already, and returns its number. Called under the lock of the log.
  let append: @Sendable (inout LogState) throws -> Int
}

/// The records that tasks wait for.
final class DurableWishes: Sendable {
  private struct State {
    /// Those that are not being appended yet, by their keys.
    var waiting: [Int: DurableWish] = [:]
    /// Whether a thread is appending, and will look for more.
    var isFulfilling = false
  }

  private let state = Mutex(State())
  private let keys = Atomic<Int>(0)

  /// How many records were added and are not being appended yet.
  var count: Int { state.withLock { $0.waiting.count } }

  /// Returns a key for a record. Those of earlier calls come first.
  func makeKey() -> Int { keys.add(1, ordering: .relaxed).newValue }

  /// Adds a record, and returns whether the caller must start appending.
  func add(_ wish: DurableWish, _ key: Int) -> Bool {
    state.withLock { state in
      state.waiting[key] = wish
      defer { state.isFulfilling = true }
      return !state.isFulfilling
    }
  }

  /// Withdraws a record, if it is not being appended yet.
  func cancel(_ key: Int) {
    let wish = state.withLock { $0.waiting.removeValue(forKey: key) }
    wish?.continuation.resume(throwing: CancellationError())
  }

  /// Takes all waiting records. Returns nil if there are none; whoever adds the next must then start appending again.
  func takeAll() -> [DurableWish]? {
    state.withLock { state in
      let waiting = state.waiting.sorted { $0.key < $1.key }.map(\.value)
      state.waiting = [:]
      state.isFulfilling = !waiting.isEmpty
      return waiting.isEmpty ? nil : waiting
    }
  }
}
