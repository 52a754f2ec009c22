import Foundation
import StowRecords
import Synchronization

/// What somebody waits for who appends durably, or follows a log that another object writes.
struct LogWaiting: Sendable {
  let files: LogFiles
  let rounds: Int

  private static let tasks = 64

  /// Blocks until all is measured. The command itself stays on the main thread, whose memory is allocated in another way
  /// than that of threads.
  func measure() throws -> LogWaitingResult {
    StandardError.print("log: waiting")
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<LogWaitingResult, any Error>?>(nil)
    Task.detached {
      do {
        let measured = try await measureInTasks()
        result.withLock { $0 = .success(measured) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    return try result.withLock { $0! }.get()
  }

  private func measureInTasks() async throws -> LogWaitingResult {
    let events = Event.make(count: Self.tasks * rounds)
    var (alone, together): ([Double], [Double]) = ([], [])
    for round in 0..<3 {
      for turn in 0..<2 {
        if (round + turn) % 2 == 0 {
          alone.append(try appendAlone(events.prefix(4 * rounds)))
        } else {
          together.append(try await appendTogether(events))
        }
      }
    }
    let delays = try await follow(events.prefix(8 * rounds)).sorted()
    return LogWaitingResult(
      everyAppend: median(alone), together: median(together), seenMedian: delays[delays.count / 2],
      seenLate: delays[delays.count * 99 / 100])
  }

  /// The time of a record, each of which is brought to the disk before the next is appended.
  private func appendAlone(_ events: ArraySlice<Event>) throws -> Double {
    let log = try RecordLog(at: files.freshFile("durable.log"), durability: .everyAppend)
    let time = try Clock.time { for event in events { try log.append(event) } }
    try log.close()
    return time / Double(events.count)
  }

  /// The same from many tasks, each of which waits until its record is on the disk.
  private func appendTogether(_ events: [Event]) async throws -> Double {
    let log = try RecordLog(at: files.freshFile("durable.log"), durability: .manual)
    let clock = ContinuousClock()
    let time = try await clock.measure {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<Self.tasks {
          group.addTask {
            for index in stride(from: task, to: events.count, by: Self.tasks) {
              try await log.appendDurably(events[index])
            }
          }
        }
        try await group.waitForAll()
      }
    }
    try log.close()
    return time / .nanoseconds(1) / Double(events.count)
  }

  /// The times from the write of a record until somebody has it who follows the file.
  private func follow(_ events: ArraySlice<Event>) async throws -> [Double] {
    let log = try RecordLog(at: files.freshFile("followed.log"), durability: .manual)
    let reader = try RecordLogReader(at: files.file("followed.log"))
    let clock = ContinuousClock()
    var followed = reader.follow(from: 0).makeAsyncIterator()
    var delays: [Double] = []
    for event in events {
      let writing = Task.detached {
        // The follower is to wait when this is written.
        try await Task.sleep(for: .milliseconds(2))
        let begin = clock.now
        try log.append(event)
        try log.flush()
        return begin
      }
      guard try await followed.next() != nil else { break }
      let end = clock.now
      delays.append((end - (try await writing.value)) / .nanoseconds(1))
    }
    try log.close()
    return delays
  }
}

/// The times of a record, in nanoseconds.
struct LogWaitingResult: Codable {
  var everyAppend: Double
  var together: Double
  var seenMedian: Double
  var seenLate: Double
}

/// What the size of a log costs: opening it, opening it when its end is torn, and the memory to read all of it.
struct LargeLog {
  /// A record of about a kilobyte.
  private struct Entry: Codable {
    var event: Event
    var body: Data
  }

  let files: LogFiles
  let size: Int
  let rounds: Int

  func measure() throws -> LargeLogResult {
    let large = files.freshFile("large.log")
    let empty = files.freshFile("empty.log")
    StandardError.print("log: a log of \(Figures.memory(size))")
    try make(large)
    try RecordLog(at: empty).close()
    var samples: (empty: [Double], large: [Double], torn: [Double]) = ([], [], [])
    for _ in 0..<rounds {
      samples.empty.append(try open(empty))
      samples.large.append(try open(large))
      try tear(large)
      samples.torn.append(try open(large))
    }
    let peak = try ChildProcess.numbers([Options.logChild, large.path])
    let bytes = try files.size("large.log")
    try FileManager.default.removeItem(at: large)
    return LargeLogResult(
      bytes: bytes, openEmpty: median(samples.empty), open: median(samples.large),
      openTorn: median(samples.torn),
      readingPeak: Int(peak[0]))
  }

  private func make(_ url: URL) throws {
    var random = RandomSource(seed: 21)
    let entries = Event.make(count: 1000).map { event in
      Entry(
        event: event, body: Data((0..<125).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }))
    }
    let log = try RecordLog(at: url, durability: .manual)
    while try files.size("large.log") < size {
      try log.append(contentsOf: entries)
      try log.flush()
    }
    try log.close()
  }

  private func open(_ url: URL) throws -> Double {
    var log: RecordLog?
    let time = try Clock.time { log = try RecordLog(at: url, durability: .manual) }
    try log?.close()
    return time
  }

  /// Puts a part of a frame after the last one, as a crash leaves it.
  private func tear(_ url: URL) throws {
    let handle = try FileHandle(forWritingTo: url)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(repeating: 0xA5, count: 300))
    try handle.close()
  }

  /// What a child process does: reads all records of a log, and prints how far memory rose beyond what there was
  /// after the first of them.
  static func runChild(_ path: String) throws {
    let log = try RecordLogReader(at: URL(fileURLWithPath: path))
    var before = 0
    for record in log.records {
      blackHole(try record.decode(Entry.self))
      if before == 0 {
        ResidentMemory.resetPeak()
        before = ResidentMemory.current()
      }
    }
    print(ResidentMemory.peak() - before)
  }
}
