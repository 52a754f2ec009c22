import Foundation
import StowRecords
import Synchronization

/// What somebody waits for who appends durably, or follows a log that another object writes.
struct LogWaiting: Sendable {
  let files: LogFiles
  let rounds: Int

  private static let tasks = 64

  /// Blocks until all is measured. The command itself stays on the main thread, whose memory is allocated in another
  /// way than that of threads.
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

/// The files that logs and lines are written to, in a folder of their own that is removed in the end.
struct LogFiles {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "stow-benchmarks-\(ProcessInfo.processInfo.processIdentifier)-logs")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  /// A file of this name that nothing was written to.
  func freshFile(_ name: String) -> URL {
    try? FileManager.default.removeItem(at: file(name))
    return file(name)
  }

  func size(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file(name).path)
    return (attributes[.size] as? Int) ?? 0
  }
}

/// A file of JSON texts with a newline after each, as many programs keep their records.
final class JSONLines {
  private let handle: FileHandle
  private let encoder = JSONEncoder()

  /// Makes an empty file.
  init(at url: URL) throws {
    try Data().write(to: url)
    encoder.outputFormatting = .withoutEscapingSlashes
    handle = try FileHandle(forWritingTo: url)
  }

  func append<Value: Encodable>(_ value: Value) throws {
    var line = try encoder.encode(value)
    line.append(0x0A)
    try handle.write(contentsOf: line)
  }

  /// Brings the lines to the disk.
  func synchronize() throws { try handle.synchronize() }

  func close() throws { try handle.close() }

  /// Decodes all lines of a file.
  static func read<Value: Decodable>(_ type: Value.Type, at url: URL, _ body: (Value) throws -> Void) throws {
    let decoder = JSONDecoder()
    for line in try Data(contentsOf: url).split(separator: 0x0A) { try body(decoder.decode(type, from: line)) }
  }
}
