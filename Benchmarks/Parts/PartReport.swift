/// What it takes to read a part of a message.
struct PartReport: Codable {
  var payloads: [PartResult]
}

/// The parts of one message: times in nanoseconds.
struct PartResult: Codable {
  var payload: String
  var records: Int
  var bytes: Int
  /// The time to decode all of it.
  var all: Double
  var works: [PartTiming]
}

struct PartTiming: Codable {
  var name: String
  var time: Double
}

extension PartReport {
  var tables: [Table] { [times] }

  private var times: Table {
    Table(
      title: "Parts of messages",
      columns: [
        .init(title: "payload", isText: true), .init(title: "records"), .init(title: "bytes"),
        .init(title: "work", isText: true), .init(title: "takes"), .init(title: "of decoding all"),
      ],
      rows: payloads.flatMap { payload in
        ([PartTiming(name: "decode all", time: payload.all)] + payload.works).map { work in
          [
            payload.payload, Figures.count(payload.records), Figures.count(payload.bytes), work.name,
            Figures.time(work.time), Figures.fixed(work.time / payload.all * 100, 3) + " %",
          ]
        }
      },
      notes: [
        "opened: by a StowMessage that is there, and has walked over the records before. of decoding all: the time beside "
          + "that of decoding the whole message."
      ])
  }
}
