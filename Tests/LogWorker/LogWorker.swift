import Foundation
import FuzzTargets
import Stow
import StowRecords

/// Another process that uses a log, for the tests that need one:
///
/// - `crash PATH SEED` appends until it is killed, to a folder of segments if `SEGMENTS` stands after the seed, and
///   says when it begins, and which records it was told are written; saves an index beside the log, and compacts the
///   log by it.
/// - `durably PATH TASKS SEED` appends durably from so many tasks until it is killed, to a folder of segments if
///   `SEGMENTS` stands after the seed, and says which number each record got. It takes turns with others that do so,
///   compacts the log in some of its turns, and no process with another seed has its values.
/// - `feed PATH COUNT` appends so many records bit by bit, says when some are there, and compacts the log when half
///   are.
/// - `segments PATH COUNT` appends records to a folder of segments, and after some of them removes old ones or compacts
///   the log, so many times; says how many there are in the end.
/// - `exit PATH COUNT` appends so many records to a log that nobody lets go of, and exits.
/// - `silent PATH` appends to a log after it has closed its standard streams, to which it writes even so.
/// - `fork PATH` appends to a log, a record before and the others while a child process has a copy of it, which writes
///   its own and exits then; says what becomes of that, of other logs in it and of another writer, and how many records
///   there are.
/// - `open PATH` opens the log for appending, and says what came of it.
/// - `logs` reads the logs whose paths it is told, a line each, and says which of their records are whole.
/// - `streams` reads the streams whose hexadecimal digits it is told, a line each, and says what their records are.
@main
struct LogWorker {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { return arguments.last == "streams" ? readStreams() : readAll() }
    let url = URL(filePath: arguments[2])
    switch arguments[1] {
    case "crash":
      try crash(url, seed: Int(arguments[3]) ?? 0, segmentSize: arguments.count > 4 ? 65_536 : nil)
    case "durably":
      try await appendDurably(
        url, tasks: Int(arguments[3]) ?? 0, seed: Int(arguments[4]) ?? 0,
        segmentSize: arguments.count > 5 ? 65_536 : nil)
    case "feed": try feed(url, Int(arguments[3]) ?? 0)
    case "segments": try feedSegments(url, Int(arguments[3]) ?? 0)
    case "exit": try exit(url, Int(arguments[3]) ?? 0)
    case "silent": try appendSilently(url)
    #if os(Linux)
      case "fork": try fork(url)
    #endif
    default: open(url)
    }
  }

  private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

  private static func open(_ url: URL) {
    do {
      let log = try RecordLog(at: url)
      say("opened \(log.count)")
    } catch let error as RecordLogError {
      say("\(error.reason)")
    } catch {
      say("\(error)")
    }
  }

  // MARK: - Reading

  private static func readAll() {
    while let path = readLine() { say((try? contents(of: URL(filePath: path))) ?? "refused") }
  }

  /// The first number, how many records there are, where the log ends, and the numbers of those that are whole; those
  /// that were lost; and the numbers of those that are found by their number, as far as these are low.
  private static func contents(of url: URL) throws -> String {
    let log = try RecordLogReader(at: url)
    let numbers = log.records.map { String($0.number) }.joined(separator: " ")
    let lost = log.damage.reduce(into: IndexSet()) { $0.insert(integersIn: $1.records) }.rangeView
      .map { "\($0.lowerBound)..\($0.upperBound)" }.joined(separator: " ")
    let found = (0..<min(log.count, 40)).filter { (try? log.record(at: $0)) != nil }.map(String.init)
      .joined(separator: " ")
    return "\(log.firstNumber) \(log.count) \(log.recovery.bytes.lowerBound): \(numbers); \(lost); \(found)"
  }

  private static func readStreams() { while let digits = readLine() { say(outcome(ofStream: digits)) } }

  /// Of each record what its value means, or "-" if it is not valid; and how the stream ends.
  private static func outcome(ofStream digits: String) -> String {
    var words: [String] = []
    let decoder = RecordStreamDecoder(maximumRecordSize: 1 << 30)
    decoder.feed(bytes(digits))
    do {
      while true {
        do {
          guard let value = try decoder.next(StowValue.self) else { break }
          words.append(try MessageMeaning(of: [UInt8](value.encoded()), by: .values, StowDecoder()).text)
        } catch is DecodingError {
          words.append("-")
        }
      }
      try decoder.finish()
      words.append("end")
    } catch is RecordStreamError {
      words.append("broken")
    } catch {
      words.append("\(error)")
    }
    return words.joined(separator: "\t")
  }

  private static func bytes(_ digits: String) -> Data {
    let digits = digits.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
    return Data(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }

  // MARK: - Being killed

  private static func crash(_ url: URL, seed: Int, segmentSize: Int?) throws {
    say("opens")
    let durabilities: [RecordLog.Durability] = [.everyAppend, .manual, .interval(.milliseconds(1)), .manual]
    let log = try RecordLog(
      at: url, segmentSize: segmentSize, durability: durabilities[seed % 4],
      packing: seed % 3 == 0 ? .none : .words)
    let saved = url.appendingPathExtension("index")
    let index = try log.index(of: LoggedValue.self, by: \.key, savedAt: saved)
    // The last number may be that of a record that was not finished.
    var id = try log.records(from: log.count - 2).reduce(-1) { try $1.decode(LoggedValue.self).id } + 1
    var random = UInt64(truncatingIfNeeded: seed &+ 1) &* 0x9E37_79B9_7F4A_7C15
    while true {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      switch random >> 60 {
      case 0:
        let oldest = id - 300
        try log.compact { record in
          let id = try record.decode(LoggedValue.self).id
          return id >= oldest && !LoggedValue.isDropped(id)
        }
      case 1: try log.synchronize()
      case 2: try index.save(to: saved)
      case 3:
        try index.update()
        try log.compact(keeping: index.isLast)
      default:
        for _ in 0..<(random >> 50 & 31) {
          try log.append(LoggedValue(id: id))
          id += 1
        }
        if random >> 40 & 1 == 0 { continue }
        try log.flush()
      }
      // From here on a process that is killed loses nothing of it.
      say("\(id - 1)")
    }
  }

  private static func appendDurably(_ url: URL, tasks: Int, seed: Int, segmentSize: Int?) async throws {
    for turn in 0... {
      let log = try openInTurn(url, segmentSize: segmentSize)
      let first = seed << 20 + turn * 100
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
          group.addTask {
            for id in stride(from: first + task, to: first + 100, by: tasks) {
              let number = try await log.appendDurably(LoggedValue(id: id))
              say("\(number) \(id)")
            }
          }
        }
        if (seed + turn) % 3 == 0 {
          group.addTask { try log.compact { try !LoggedValue.isDropped($0.decode(LoggedValue.self).id) } }
        }
        try await group.waitForAll()
      }
      try log.close()
    }
  }

  /// Opens the log once nobody else has it.
  private static func openInTurn(_ url: URL, segmentSize: Int?) throws -> RecordLog {
    while true {
      do {
        return try RecordLog(at: url, segmentSize: segmentSize, durability: .manual)
      } catch let error as RecordLogError where error.reason == .inUse {
        let file = segmentSize == nil ? url : url.appending(path: "stowlog-lock")
        let descriptor = Foundation.open(file.path, O_RDONLY | O_CLOEXEC)
        flock(descriptor, LOCK_EX)
        close(descriptor)
      }
    }
  }

  // MARK: - Exiting

  /// As a global variable of a script does, it lasts until the process ends.
  nonisolated(unsafe) private static var log: RecordLog?

  private static func exit(_ url: URL, _ count: Int) throws {
    let log = try RecordLog(at: url, durability: .manual)
    self.log = log
    for id in 0..<count { try log.append(id) }
    say("\(log.count)")
  }

  private static func appendSilently(_ url: URL) throws {
    for stream in 0...2 as ClosedRange<Int32> { close(stream) }
    let log = try RecordLog(at: url, durability: .manual)
    try log.append(1)
    try log.flush()
    for stream in 0...2 as ClosedRange<Int32> { _ = write(stream, [UInt8](repeating: 0x5A, count: 100), 100) }
    try log.append(2)
    try log.close()
  }

  #if os(Linux)
    private static func fork(_ url: URL) throws {
      let log = try RecordLog(at: url, durability: .manual)
      self.log = log
      try log.append(0)
      let other = try RecordLog(at: url.appendingPathExtension("other"), durability: .everyAppend)
      try other.append(0)
      let third = try RecordLog(at: url.appendingPathExtension("third"), durability: .manual)
      try third.append(0)
      try third.flush()
      let pipe = Pipe()
      let child = Foundation.fork()
      if child == 0 {
        _ = pipe.fileHandleForReading.availableData
        say((try? log.synchronize()) == nil ? "refused" : "written")
        say((try? other.compact { _ in false }) == nil ? "refused" : "compacted")
        // An error of the disk would be the child's, and its parent would be told that the record is on the disk.
        say((try? third.synchronize()) == nil ? "refused" : "synchronized")
        Foundation.exit(EXIT_SUCCESS)
      }
      for id in 1..<1000 { try log.append(id) }
      try log.synchronize()
      try pipe.fileHandleForWriting.write(contentsOf: Data([0]))
      waitpid(child, nil, 0)
      open(url)
      try log.close()
      try other.append(1)
      try third.synchronize()
      say("\(log.count)")
    }
  #endif

  // MARK: - Being followed

  private static func feed(_ url: URL, _ count: Int) throws {
    let log = try RecordLog(at: url, durability: .manual)
    for id in 0..<count {
      try log.append(LoggedValue(id: id))
      if id % 7 == 0 {
        try log.flush()
        say("\(id)")
      }
      if id == count / 2 { try log.compact { try !LoggedValue.isDropped($0.decode(LoggedValue.self).id) } }
    }
  }
}

extension LogWorker {
  /// Followers that are slow miss what is removed, and are told so.
  private static func feedSegments(_ url: URL, _ count: Int) throws {
    let log = try RecordLog(at: url, segmentSize: 1, durability: .manual)
    for round in 0..<count {
      for _ in 0..<20 {
        try log.append(LoggedValue(id: log.count))
        if log.count % 9 == 0 { try log.flush() }
      }
      if round % 5 < 4 {
        try log.removeRecords(before: log.count - 150)
      } else {
        try log.compact { try !LoggedValue.isDropped($0.decode(LoggedValue.self).id) }
      }
    }
    try log.append(LoggedValue(id: log.count))
    try log.close()
    say("\(log.count)")
  }
}

/// What the worker logs: a value that follows from its number.
private struct LoggedValue: Codable {
  let id: Int
  let text: String

  init(id: Int) {
    self.id = id
    text = String(repeating: "x", count: id % 100 == 99 ? 70_000 : id % 200)
  }

  /// Whether a compaction leaves it out.
  static func isDropped(_ id: Int) -> Bool { id % 3 == 1 }

  /// Those that may be left out have one key.
  var key: Int { Self.isDropped(id) ? -1 : id }
}
