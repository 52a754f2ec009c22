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
  var tables: [Table] { [speed, sizes, largeLog, waiting.table] }

  private var speed: Table {
    Table(
      title: "Logs: time per record",
      columns: [
        .init(title: "payload", isText: true), .init(title: "work", isText: true), .init(title: "log"),
        .init(title: "JSON lines"), .init(title: "x JSON lines"),
      ],
      rows: payloads.flatMap { payload in
        payload.works.map { work in
          [
            payload.payload, work.name, Figures.time(work.log), Figures.time(work.json),
            Figures.ratio(work.json.map { $0 / work.log }),
          ]
        }
      },
      notes: [
        "JSON lines: a file of JSON texts, each written with its newline at once. x JSON lines: how many times as fast.",
        "Appending is with the default durability, up to where all records are in the file.",
        "A block is known when a record of it was read by its number before.",
      ])
  }

  private var sizes: Table {
    Table(
      title: "Logs: bytes of the file",
      columns: [
        .init(title: "payload", isText: true), .init(title: "records"), .init(title: "log"),
        .init(title: "JSON lines"), .init(title: "share"),
      ],
      rows: payloads.map {
        [
          $0.payload, Figures.count($0.records), Figures.count($0.bytes), Figures.count($0.jsonBytes),
          Figures.percent(Double($0.bytes) / Double($0.jsonBytes) * 100),
        ]
      })
  }

  private var largeLog: Table {
    Table(
      title: "Logs: a log of \(Figures.memory(large.bytes))",
      columns: [.init(title: "work", isText: true), .init(title: "takes"), .init(title: "x an empty log")],
      rows: [
        ["open an empty log", Figures.time(large.openEmpty), Figures.ratio(1)],
        ["open it", Figures.time(large.open), Figures.ratio(large.open / large.openEmpty)],
        [
          "open it, its end torn", Figures.time(large.openTorn),
          Figures.ratio(large.openTorn / large.openEmpty),
        ],
        ["memory to read all of it", Figures.memory(large.readingPeak), Figures.none],
      ])
  }
}
