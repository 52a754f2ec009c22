import StowRecords

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
