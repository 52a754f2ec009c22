import Dispatch

extension RecordLogReader {
  /// Returns the records from a number on: those that exist and those still to come, from any process.
  ///
  /// A reader sees a record once its writer has written it; ``RecordLog/Durability`` says when. A follower
  /// that uses the writing log itself sees a record a moment after it was appended, and has it written for
  /// that. The sequence ends when its task is cancelled or the log is closed.
  ///
  /// The system reports changes of the file, on Linux through inotify and on Apple's platforms through a
  /// dispatch source. The file is also checked once a second, because a network file system may not report
  /// changes. If the system cannot provide a watch, the file is checked fifty times a second.
  ///
  /// What cannot be read is skipped, as in ``records``; ``damage`` names it.
  ///
  /// When the log is compacted, the sequence yields the rest of the file that it reads, and continues in the
  /// new one. If segments are removed with records that it has not yielded yet, it throws an error with the
  /// reason `removed`, which names the number from which one can follow.
  ///
  /// ```swift
  /// for try await record in log.follow(from: log.count) {
  ///   print(try record.decode(Event.self))
  /// }
  /// ```
  ///
  /// - Parameter number: The number of the first record to yield; it may not exist yet.
  public func follow(from number: Int) -> FollowedRecords {
    let file = state.withLock { $0.file }
    return FollowedRecords(log: self, file: file, start: min(max(0, number), BlockHead.recordLimit))
  }

  /// Returns the log as it is now, or nil if it was closed.
  fileprivate func newest() throws -> LogSnapshot? {
    try state.withLock { try $0.isClosed ? nil : flushedSnapshot(&$0) }
  }

  /// The paths that change when there are new records.
  fileprivate var watched: [String] {
    // Some systems report no changes of the files in a folder, so the last file is watched, too.
    files.isFolder ? [path, state.withLock { $0.file.path }] : [path]
  }

  /// The records of a log, as they arrive.
  public struct FollowedRecords: AsyncSequence, Sendable {
    public typealias Element = Record

    let log: RecordLogReader
    let file: LogFile
    let start: Int

    public func makeAsyncIterator() -> Iterator { Iterator(log: log, file: file, next: start) }

    /// Waits for one record after the other.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
      private let log: RecordLogReader
      /// The number of the record that comes next.
      private var next: Int
      private var file: LogFile
      private var walk: LogWalk?
      private let met: DamageReport
      private let calls = BlockingCalls()
      /// Wakes this when there may be more records. Made for each file when its end is first reached.
      private var waking: FollowerWaking?

      init(log: RecordLogReader, file: LogFile, next: Int) {
        self.log = log
        self.file = file
        self.next = next
        met = log.newReport()
      }

      /// Returns the next record as soon as it is there, or nil if the task was cancelled or the log was closed.
      ///
      /// - Throws: `RecordLogError`: `replaced` if another log took the place of this one; `removed` if the next
      ///   records were removed.
      public mutating func next() async throws -> Record? {
        if let record = walk?.nextReadRecord() { return see(record) }
        while !Task.isCancelled {
          // Files are read on a thread that may block.
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
            if let waking, await !waking.wait() { self.waking = nil }
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
          let record = walk?.nextRecord()
          if let first = met.firstAfterRemoval { throw log.error(.removed(next, first: first)) }
          if let record { return .record(record) }
          if let walk { next = Swift.max(next, walk.next) }
          walk = nil
          do {
            guard let newest = try log.newest() else { return .closed }
            if try look(in: newest) { continue }
            if waking != nil { return .nothingYet }
            // Records from here on wake this; those that came before are found by looking once more.
            waking = FollowerWaking(log)
          } catch let error as RecordLogError where error.reason == .replaced {
            if try !beginRest() { throw error }
          }
        }
      }

      /// Looks for records after those already seen, and returns whether there are any.
      private mutating func look(in newest: LogSnapshot) throws -> Bool {
        if file !== newest.file {
          do {
            if try beginRest() { return true }
          } catch let error as RecordLogError where error.isForgotten {
            // A file server that no longer knows the old file cannot read the rest of it.
          }
          (file, waking) = (newest.file, nil)
        }
        return try begin(newest)
      }

      /// Reads what is left of a file in whose place there is another, or after which one was begun: nothing is added
      /// to it any more. False if nothing is left, or if what comes next is in a segment before it.
      private mutating func beginRest() throws -> Bool {
        guard next >= file.first else { return false }
        return try begin(LogSnapshot([Segment(file: file.path)], file, try file.tailForReading(), log.files))
      }

      private mutating func begin(_ snapshot: LogSnapshot) throws -> Bool {
        guard next >= snapshot.first else { throw log.error(.removed(next, first: snapshot.first)) }
        guard next < snapshot.tail.count else { return false }
        walk = log.walk(over: snapshot, from: next, noting: met)
        return true
      }
    }
  }
}

/// Tells one follower that its log may have more records: by the log itself, the system, or a timer. The
/// timer may be used from any thread.
final class FollowerWaking: @unchecked Sendable {
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let watches: [any FileWatch]
  private let timer: any DispatchSourceTimer

  /// - Parameter interval: The interval at which the file is looked at in any case.
  init(_ log: RecordLogReader, lookingEvery interval: DispatchTimeInterval = .seconds(1)) {
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    (self.signals, self.signal) = (signals, signal)
    // Nobody else writes to a log that is open for writing here.
    let watched = log.state.withLock { $0.writer != nil } ? [] : log.watched
    watches = watched.compactMap { log.disk.watch($0) { signal.yield() } }
    timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    let interval = watches.count == watched.count ? interval : .milliseconds(20)
    timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(1))
    timer.setEventHandler { signal.yield() }
    timer.resume()
    log.state.withLock { $0.followers.add(self) }
  }

  deinit { timer.cancel() }

  /// Ends a wait, or the next one if nobody waits now.
  func wake() { signal.yield() }

  /// Waits to be woken. Returns false if a waiting task was cancelled, after which nobody can wait any more.
  func wait() async -> Bool {
    var iterator = signals.makeAsyncIterator()
    return await iterator.next() != nil
  }
}

/// The followers of a log through this object, for as long as they may wait.
struct FollowersOfLog: Sendable {
  private struct Reference: Sendable {
    weak var follower: FollowerWaking?
  }

  private var references: [Reference] = []
  fileprivate var isWakingScheduled = false

  fileprivate var isEmpty: Bool { references.isEmpty }

  fileprivate mutating func add(_ follower: FollowerWaking) {
    references.removeAll { $0.follower == nil }
    references.append(Reference(follower: follower))
  }

  mutating func wake() {
    references.removeAll { $0.follower == nil }
    for reference in references { reference.follower?.wake() }
    isWakingScheduled = false
  }
}

extension RecordLogReader {
  /// Wakes the followers of the log a moment later. They have appended records written, and many records
  /// together take fewer frames.
  func wakeFollowersSoon(_ state: inout LogState) {
    guard !state.followers.isEmpty, !state.followers.isWakingScheduled else { return }
    state.followers.isWakingScheduled = true
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .microseconds(200)) { [weak self] in
      self?.state.withLock { $0.followers.wake() }
    }
  }
}
