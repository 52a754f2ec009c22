import Synchronization

extension RecordLog {
  /// Appends a record, and returns when it is on the disk, whatever the durability of the log.
  ///
  /// ```swift
  /// let number = try await log.appendDurably(event)
  /// ```
  ///
  /// Tasks that wait at the same time share one synchronization: the records of all of them are written
  /// together. The value is encoded, written and synchronized on a thread of the log; no thread of Swift's
  /// pool waits. Records of one task are in the order of its calls. A waiting call keeps its value in memory,
  /// and nothing else.
  ///
  /// - Returns: The number of the record.
  /// - Throws: What ``append(_:)`` throws; `CancellationError` if the task is cancelled before the record is
  ///   appended. Once it is appended, the call waits for the disk. After an error of the disk it is unknown
  ///   whether the record is there; after any other error it is not.
  @discardableResult
  public func appendDurably<Value: Encodable & Sendable>(_ value: Value) async throws -> Int {
    try Task.checkCancellation()
    let wish = DurableWish { writer, encoder in
      try writer.append(in: encoder) { try encoder.encode(value, $0) }
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if durableWishes.add(wish, continuation) { writingCalls.start { self.fulfillWishes() } }
        // A cancellation before the wish was added has found nothing to cancel.
        if Task.isCancelled { wish.cancel() }
      }
    } onCancel: {
      wish.cancel()
    }
  }

  /// Appends the records that tasks wait for, until no task waits.
  private func fulfillWishes() {
    while let wishes = durableWishes.takeAll() {
      let results = fulfill(wishes.map(\.wish))
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
        let encoder = state.encoder.encoder
        var results = wishes.map { wish in
          Result {
            let writer = try writerWithRoom(&state)
            try wish.append(writer, encoder)
            return writer.count - 1
          }
        }
        // A segment may have been begun.
        let writer = state.writer ?? writer
        do {
          try writer.flush()
        } catch {
          // A caller who was told that nothing was appended must not find it later.
          writer.dropCollected()
          results = results.map { $0.failing(with: error, from: writer.written) }
        }
        counts.appended.add(results.count { (try? $0.get()) != nil }, ordering: .relaxed)
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
final class DurableWish: Sendable {
  /// Appends the record. Called under the lock of the log.
  let append: @Sendable (LogWriter, RecordEncoder) throws -> Void
  /// Nil once somebody is going to resume the task.
  private let continuation = Mutex<CheckedContinuation<Int, any Error>?>(nil)

  init(append: @escaping @Sendable (LogWriter, RecordEncoder) throws -> Void) { self.append = append }

  fileprivate func wait(with continuation: CheckedContinuation<Int, any Error>) {
    self.continuation.withLock { $0 = continuation }
  }

  fileprivate func takeContinuation() -> CheckedContinuation<Int, any Error>? {
    continuation.withLock { $0.take() }
  }

  /// Withdraws the record, if it is not being appended yet.
  func cancel() { takeContinuation()?.resume(throwing: CancellationError()) }
}

/// The records that tasks wait for, in the order of the calls.
final class DurableWishes: Sendable {
  typealias Waiting = (wish: DurableWish, continuation: CheckedContinuation<Int, any Error>)

  private struct State {
    /// Also those that were withdrawn since the last time that all were taken.
    var waiting: [DurableWish] = []
    /// Whether a thread is appending, and will look for more.
    var isFulfilling = false
  }

  private let state = Mutex(State())

  /// How many records were added and are not being appended yet.
  var count: Int { state.withLock { $0.waiting.count } }

  /// Adds a record, and returns whether the caller must start appending.
  func add(_ wish: DurableWish, _ continuation: CheckedContinuation<Int, any Error>) -> Bool {
    wish.wait(with: continuation)
    return state.withLock { state in
      state.waiting.append(wish)
      defer { state.isFulfilling = true }
      return !state.isFulfilling
    }
  }

  /// Takes all waiting records. Returns nil if there are none; whoever adds the next must then start
  /// appending again.
  func takeAll() -> [Waiting]? {
    state.withLock { state in
      let waiting = state.waiting.compactMap { wish in wish.takeContinuation().map { (wish, $0) } }
      state.waiting = []
      state.isFulfilling = !waiting.isEmpty
      return waiting.isEmpty ? nil : waiting
    }
  }
}
