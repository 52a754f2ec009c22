import Dispatch

extension RecordLogReader {
  /// The records from a number on, those that are there and those that are still to come, from any process.
  ///
  /// A reader sees a record when its writer has written it; ``RecordLog/Durability`` says when. Whoever follows a log by its writer
  /// sees it a moment after it was appended, and has it written for that. The sequence ends when its task is cancelled or
  /// the log is closed.
  ///
  /// The system tells when the file has changed, on Linux by inotify and on Apple's platforms by a dispatch source. Once
  /// a second the file is looked at all the same, because a file system of a network may not tell. Where the system has
  /// no watch to give, the file is looked at fifty times a second.
  ///
  /// What cannot be read is passed over, as by ``records``: ``damage`` names it.
  ///
  /// When the log is compacted, the sequence yields what is left of the file that it reads, and goes on in the new one. Where
  /// segments were removed whose records it has not yielded yet, it throws an error with the reason `removed`, which says with
  /// which number one can follow from there.
  ///
  /// ```swift
  /// for try await record in log.follow(from: log.count) {
  ///   print(try record.decode(Event.self))
  /// }
  /// ```
  ///
  /// - Parameter number: The number of the first record that is wanted; it may still have to come.
  public func follow(from number: Int) -> FollowedRecords {
    let file = state.withLock { $0.file }
    return FollowedRecords(log: self, file: file, start: min(max(0, number), BlockHead.recordLimit))
  }

  /// What there is of the log now; nil if it was closed.
  fileprivate func newest() throws -> LogSnapshot? {
    try state.withLock { try $0.isClosed ? nil : flushedSnapshot(&$0) }
  }

  /// What changes when there is something new.
  fileprivate var watched: [String] {
    // Where the system tells nothing of the files in a folder, it tells of the last one.
    files.folder == nil ? [path] : [path, state.withLock { $0.file.path }]
  }

  /// The records of a log, as they come.
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
      private let met = DamageReport()
      private let calls = BlockingCalls()
      /// What wakes this when there may be more. Made, for each file, when its records are read for the first time to the end.
      private var waking: FollowerWaking?

      init(log: RecordLogReader, file: LogFile, next: Int) {
        self.log = log
        self.file = file
        self.next = next
      }

      /// The next record, as soon as it is there; nil if the task was cancelled or the log was closed.
      ///
      /// - Throws: `RecordLogError`: `replaced` if another log took the place of this one; `removed` if the next records were
      ///   removed.
      public mutating func next() async throws -> Record? {
        if let record = walk?.nextReadRecord() { return see(record) }
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
            // What comes from here on wakes; what has come before is looked for once more.
            if let waking {
              if await !waking.wait() { self.waking = nil }
            } else {
              waking = FollowerWaking(log)
            }
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
            if try !look(in: newest) { return .nothingYet }
          } catch let error as RecordLogError where error.reason == .replaced {
            if try !beginRest() { throw error }
          }
        }
      }

      /// Looks for records after those that were seen; false if there are none.
      private mutating func look(in newest: LogSnapshot) throws -> Bool {
        if file !== newest.file {
          if try beginRest() { return true }
          (file, waking) = (newest.file, nil)
        }
        return try begin(newest)
      }

      /// Reads what is left of a file in whose place there is another: nothing is added to it any more. False if nothing is left.
      /// Segments keep their place.
      private mutating func beginRest() throws -> Bool {
        guard log.files.folder == nil else { return false }
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

/// Wakes somebody who waits for records.
final class Waker: Sendable {
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  init() { (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  /// Ends a wait, or the next one if nobody waits now.
  func wake() { signal.yield() }

  /// Waits until it is woken; false if a task was cancelled that waited, after which nobody can wait for it.
  func wait() async -> Bool {
    var iterator = signals.makeAsyncIterator()
    return await iterator.next() != nil
  }
}

/// What tells one follower that its log may have more records: the log itself, the system, or a clock. The clock may be
/// used from any thread.
final class FollowerWaking: @unchecked Sendable {
  private let waker = Waker()
  private let watches: [any FileWatch]
  private let timer: any DispatchSourceTimer

  /// - Parameter interval: After which the file is looked at in any case.
  init(_ log: RecordLogReader, lookingEvery interval: DispatchTimeInterval = .seconds(1)) {
    let isWriter = log.state.withLock { [waker] state in
      state.followers.add(waker)
      return state.writer != nil
    }
    // Nobody else writes what a writer has open.
    let watched = isWriter ? [] : log.watched
    watches = watched.compactMap { [waker] in log.disk.watch($0) { waker.wake() } }
    timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    let interval = watches.count == watched.count ? interval : .milliseconds(20)
    timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(1))
    timer.setEventHandler { [waker] in waker.wake() }
    timer.resume()
  }

  deinit { timer.cancel() }

  func wait() async -> Bool { await waker.wait() }
}

/// Those who follow a log by this object, while they wait or may.
struct FollowersOfLog: Sendable {
  private struct Reference: Sendable {
    weak var waker: Waker?
  }

  private var references: [Reference] = []
  fileprivate var isWakingScheduled = false

  fileprivate var isEmpty: Bool { references.isEmpty }

  fileprivate mutating func add(_ waker: Waker) {
    references.removeAll { $0.waker == nil }
    references.append(Reference(waker: waker))
  }

  mutating func wake() {
    references.removeAll { $0.waker == nil }
    for reference in references { reference.waker?.wake() }
    isWakingScheduled = false
  }
}

extension RecordLogReader {
  /// Wakes those who follow the log, a moment later: they have what was appended written, and many records together take
  /// fewer frames.
  func wakeFollowersSoon(_ state: inout LogState) {
    guard !state.followers.isEmpty, !state.followers.isWakingScheduled else { return }
    state.followers.isWakingScheduled = true
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .microseconds(200)) { [weak self] in
      self?.state.withLock { $0.followers.wake() }
    }
  }
}
