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
