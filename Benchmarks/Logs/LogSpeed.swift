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

  private func appendOneByOne() throws -> Double {
    try write { log in for value in values { try log.append(value) } }
  }

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

  /// The median times to read one record by its number from a log of many: while nothing is known of any block, when all
  /// blocks are known, and of the record after the last one.
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
    for line in try Data(contentsOf: url).split(separator: 0x0A) {
      try body(decoder.decode(type, from: line))
    }
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
