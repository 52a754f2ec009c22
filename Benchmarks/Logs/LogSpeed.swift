import Foundation
import StowRecords

/// What a record costs in a log, beside a line of JSON in a file of lines.
///
/// All works of a payload take turns. Making and closing a file is not part of a time; bringing all records into the
/// file is.
struct LogSpeed<Value: Codable & Equatable & Sendable> {
  let name: String
  let values: [Value]
  let packing: RecordLog.Packing
  /// How many records the log has of which one is read by its number.
  let large: Int
  let rounds: Int
  let files: LogFiles

  private static var batchSize: Int { 1000 }

  /// One way to write or read all values: the times of its rounds.
  private struct Work {
    let time: () throws -> Double
    var samples: [Double] = []
  }

  func measure() throws -> LogResult {
    var works = [
      Work(time: writeLines), Work(time: appendOneByOne), Work(time: appendAndFlush),
      Work(time: appendInBatches),
      Work(time: readLines), Work(time: readLog),
    ]
    try check()
    for round in 0..<rounds {
      for turn in works.indices {
        let index = (turn + round) % works.count
        works[index].samples.append(try works[index].time() / Double(values.count))
      }
    }
    let times = works.map { median($0.samples) }
    let random = try readAtRandom()
    return LogResult(
      payload: name, records: values.count, bytes: try files.size("read.log"),
      jsonBytes: try files.size("read.json"),
      works: [
        LogTiming(name: "append one by one", log: times[1], json: times[0]),
        LogTiming(name: "append one by one, flush each", log: times[2], json: times[0]),
        LogTiming(name: "append in batches of 1,000", log: times[3], json: times[0]),
        LogTiming(name: "read all", log: times[5], json: times[4]),
        LogTiming(name: "read one of \(Figures.count(large))", log: random.new),
        LogTiming(name: "the same, its block known", log: random.known),
        LogTiming(name: "the one after it", log: random.neighbour),
      ])
  }

  /// Writes the files that are read, and compares what is read with what was written.
  private func check() throws {
    let log = try RecordLog(at: files.freshFile("read.log"), packing: packing)
    for value in values { try log.append(value) }
    try log.close()
    let lines = try JSONLines(at: files.freshFile("read.json"))
    for value in values { try lines.append(value) }
    try lines.close()
    let read = try RecordLogReader(at: files.file("read.log")).records.map { try $0.decode(Value.self) }
    guard read == values else { throw PayloadFailure(description: "a log does not give back \(name)") }
  }

  // MARK: - Writing

  private func writeLines() throws -> Double {
    let lines = try JSONLines(at: files.freshFile("write.json"))
    let time = try Clock.time { for value in values { try lines.append(value) } }
    try lines.close()
    return time
  }

  private func write(_ body: (RecordLog) throws -> Void) throws -> Double {
    let log = try RecordLog(at: files.freshFile("write.log"), packing: packing)
    let time = try Clock.time {
      try body(log)
      try log.flush()
    }
    try log.close()
    return time
  }

  private func appendOneByOne() throws -> Double { try write { log in for value in values { try log.append(value) } } }

  private func appendAndFlush() throws -> Double {
    try write { log in
      for value in values {
        try log.append(value)
        try log.flush()
      }
    }
  }

  private func appendInBatches() throws -> Double {
    try write { log in
      for start in stride(from: 0, to: values.count, by: Self.batchSize) {
        try log.append(contentsOf: values[start..<min(values.count, start + Self.batchSize)])
      }
    }
  }

  // MARK: - Reading

  private func readLines() throws -> Double {
    try Clock.time { try JSONLines.read(Value.self, at: files.file("read.json")) { blackHole($0) } }
  }

  private func readLog() throws -> Double {
    try Clock.time {
      let log = try RecordLogReader(at: files.file("read.log"))
      for record in log.records { blackHole(try record.decode(Value.self)) }
    }
  }

  /// The median times to read one record by its number from a log of many: while nothing is known of any block, when
  /// all blocks are known, and of the record after the last one.
  private func readAtRandom() throws -> (new: Double, known: Double, neighbour: Double) {
    let log = try RecordLog(at: files.freshFile("large.log"), durability: .manual, packing: packing)
    while log.count < large { try log.append(contentsOf: values.prefix(large - log.count)) }
    try log.close()
    let url = files.file("large.log")
    let (forgetful, reader) = (try RecordLogReader(at: url, cacheSize: 0), try RecordLogReader(at: url))
    func time(_ reader: RecordLogReader, _ number: Int) throws -> Double {
      try Clock.time { blackHole(try reader.decode(Value.self, at: number)) }
    }
    for number in stride(from: 0, to: large, by: 100) { _ = try time(reader, number) }
    var random = RandomSource(seed: 20)
    var (new, known, neighbours): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<2000 {
      let number = random.int(in: 0...large - 2)
      new.append(try time(forgetful, number))
      known.append(try time(reader, number))
      neighbours.append(try time(reader, number + 1))
    }
    try FileManager.default.removeItem(at: url)
    return (median(new), median(known), median(neighbours))
  }
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
      Entry(event: event, body: Data((0..<125).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }))
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

/// Logs beside files of JSON lines, and logs that are large.
enum LogUse {
  static func measure(quick: Bool) throws -> LogReport {
    let files = try LogFiles()
    defer { files.remove() }
    let count = quick ? 2000 : 20_000
    return LogReport(
      payloads: [
        try measure("events", Event.make(count: count), quick, files),
        try measure("events, packed", Event.make(count: count), packing: .words, quick, files),
        try measure("small", Small.make(count: count), quick, files),
      ],
      large: try LargeLog(files: files, size: quick ? 1 << 26 : 1 << 30, rounds: quick ? 5 : 31).measure(),
      waiting: try LogWaiting(files: files, rounds: quick ? 20 : 100).measure())
  }

  private static func measure<Value: Codable & Equatable & Sendable>(
    _ name: String, _ values: [Value], packing: RecordLog.Packing = .none, _ quick: Bool, _ files: LogFiles
  ) throws -> LogResult {
    StandardError.print("log: \(name)")
    return try LogSpeed(
      name: name, values: values, packing: packing, large: quick ? 50_000 : 1_000_000, rounds: quick ? 3 : 7,
      files: files
    ).measure()
  }
}

/// What was measured of logs.
struct LogReport: Codable {
  var payloads: [LogResult]
  var large: LargeLogResult
  var waiting: LogWaitingResult
}

/// Records of one payload in a log, and as JSON lines.
struct LogResult: Codable {
  var payload: String
  var records: Int
  var bytes: Int
  var jsonBytes: Int
  var works: [LogTiming]
}

/// The time of a record, in nanoseconds; that of a line is nil where lines cannot do the same.
struct LogTiming: Codable {
  var name: String
  var log: Double
  var json: Double?
}

/// A log of many bytes: the times to open it, in nanoseconds, and the bytes of memory that reading it takes.
struct LargeLogResult: Codable {
  var bytes: Int
  var openEmpty: Double
  var open: Double
  var openTorn: Double
  var readingPeak: Int
}

extension LogReport {
  var tables: [Table] {
    [
      Table(
        title: "Logs beside files of JSON lines: time per record",
        columns: [.init(title: "work", isText: true)]
          + payloads.flatMap { payload in
            ["log", "JSON lines"].map { .init(group: payload.payload, title: $0) }
          },
        rows: speed + [sizes] + whole,
        notes: [
          "JSON lines: a file of JSON texts, each written with its newline at once.",
          "Appending is with the default durability, up to where all records are in the file.",
          "A block is known when a record of it was read by its number before.",
          "The rows after the sizes are of events; the log of \(Figures.memory(large.bytes)) has larger records.",
        ])
    ]
  }

  private var speed: [[String]] {
    (payloads.first?.works ?? []).indices.map { index in
      [payloads[0].works[index].name]
        + payloads.flatMap { [Figures.time($0.works[index].log), Figures.time($0.works[index].json)] }
    }
  }

  private var sizes: [String] {
    ["bytes per record"]
      + payloads.flatMap { payload in
        [payload.bytes, payload.jsonBytes].map { Figures.ratio(Double($0) / Double(payload.records)) }
      }
  }

  /// What is measured of one log alone.
  private var whole: [[String]] {
    [
      ("append one by one, each on the disk", Figures.time(waiting.everyAppend)),
      ("the same, 64 tasks at once", Figures.time(waiting.together)),
      ("seen by a follower, the median", Figures.time(waiting.seenMedian)),
      ("seen by a follower, the slowest in a hundred", Figures.time(waiting.seenLate)),
      ("open an empty log", Figures.time(large.openEmpty)),
      ("open a log of \(Figures.memory(large.bytes))", Figures.time(large.open)),
      ("the same, its end torn", Figures.time(large.openTorn)),
      ("memory to read all of it", Figures.memory(large.readingPeak)),
    ].map { [$0.0, $0.1] + Array(repeating: Figures.none, count: 2 * payloads.count - 1) }
  }
}
