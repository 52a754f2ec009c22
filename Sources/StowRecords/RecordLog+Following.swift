extension RecordLog {
  /// The records from a number on, those that are there and those that are still to come, from any process.
  ///
  /// Waits for what is written, and looks for it some fifty times a second. A reader sees a record when its writer
  /// has written it; ``Durability`` says when. The sequence ends when its task is cancelled or the log is closed.
  ///
  /// When the log is compacted, the sequence yields what is left of the old file, and goes on after the records that
  /// the new one took over from it; the numbers are then those of the new file.
  ///
  /// ```swift
  /// for try await record in log.follow(from: log.count) {
  ///   print(try record.decode(Event.self))
  /// }
  /// ```
  ///
  /// - Parameter number: The number of the first record that is wanted, as the log is numbered now; it may still have to
  ///   come.
  public func follow(from number: Int) -> FollowedRecords {
    let file = state.withLock { $0.file }
    return FollowedRecords(log: self, file: file, start: min(max(0, number), BlockHead.recordLimit))
  }

  /// The file that is the log now, and how far it goes; nil if the log was closed.
  fileprivate func newest() throws -> (file: LogFile, tail: Tail)? {
    try state.withLock { state in
      if state.isClosed { return nil }
      if let writer = state.writer {
        try writer.flush()
        return (state.file, writer.tail)
      }
      try update(&state)
      return (state.file, state.tail)
    }
  }

  /// The records of a log, as they come.
  public struct FollowedRecords: AsyncSequence, Sendable {
    public typealias Element = Record

    let log: RecordLog
    /// The file whose records `start` counts.
    let file: LogFile
    let start: Int

    public func makeAsyncIterator() -> Iterator { Iterator(log: log, file: file, next: start) }

    /// Waits for one record after the other.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
      private let log: RecordLog
      /// The number of the record that comes next.
      private var next: Int
      private var file: LogFile
      private var cursor: RecordCursor?
      private let calls = BlockingCalls()

      init(log: RecordLog, file: LogFile, next: Int) {
        self.log = log
        self.file = file
        self.next = next
      }

      /// The next record, as soon as it is there; nil if the task was cancelled or the log was closed.
      ///
      /// - Throws: `RecordLogError`: `replaced` if another log took the place of this one, or two compactions followed
      ///   each other before this looked for records again.
      public mutating func next() async throws -> Record? {
        if let record = cursor?.nextReadRecord() { return see(record) }
        while !Task.isCancelled {
          // Files are read on a thread that may wait.
          let (iterator, finding) = try await calls.run { [self] in
            var iterator = self
            let finding = try iterator.read()
            return (iterator, finding)
          }
          self = iterator
          switch finding {
          case .record(let record): return see(record)
          case .closed: return nil
          case .nothingYet:
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return nil }
          }
        }
        return nil
      }

      private mutating func see(_ record: Record) -> Record {
        next = record.number + 1
        return record
      }

      private enum Finding: Sendable {
        case record(Record)
        case nothingYet
        case closed
      }

      /// Looks for the next record in the file.
      private mutating func read() throws -> Finding {
        while true {
          if let record = cursor?.nextRecord() { return .record(record) }
          if let cursor { next = Swift.max(next, cursor.next) }
          cursor = nil
          guard let (newest, tail) = try log.newest() else { return .closed }
          if try !look(in: newest, tail) { return .nothingYet }
        }
      }

      /// Looks for records after those that were seen; false if there are none.
      private mutating func look(in newest: LogFile, _ tail: Tail) throws -> Bool {
        if file === newest { return begin(newest, tail) }
        // The old file first: nothing is added to it any more.
        if begin(file, try file.tailForReading()) { return true }
        guard let origin = try newest.block(0, before: tail.end)?.origin, origin.identity == file.identity
        else {
          throw log.error(.replaced)
        }
        next = origin.count + Swift.max(0, next - (try file.tailForReading().count))
        self.file = newest
        return begin(newest, tail)
      }

      private mutating func begin(_ file: LogFile, _ tail: Tail) -> Bool {
        guard next < tail.count else { return false }
        cursor = log.cursor(over: file, from: next, tail)
        return true
      }
    }
  }
}
