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
        LogTiming(name: "read one of \(Figures.count(large))", log: random),
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

  /// The median time to read one record by its number from a log of many.
  private func readAtRandom() throws -> Double {
    let log = try RecordLog(at: files.freshFile("large.log"), durability: .manual, packing: packing)
    while log.count < large { try log.append(contentsOf: values.prefix(large - log.count)) }
    try log.close()
    let reader = try RecordLogReader(at: files.file("large.log"))
    var random = RandomSource(seed: 20)
    var samples: [Double] = []
    for _ in 0..<2000 {
      let number = random.int(in: 0...large - 1)
      samples.append(try Clock.time { blackHole(try reader.decode(Value.self, at: number)) })
    }
    try FileManager.default.removeItem(at: files.file("large.log"))
    return median(samples)
  }
}
