import Foundation
import StowRecords

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
