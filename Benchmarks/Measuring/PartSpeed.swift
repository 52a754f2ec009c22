import Foundation
import Stow

/// What a field of one record of a message costs, beside decoding all of it.
struct PartSpeed<Value: Codable & Equatable & Sendable, Field: Decodable & Equatable> {
  let name: String
  let values: [Value]
  /// The field that is read, and how it is found in a value.
  let field: StowPath.Step
  let read: (Value) -> Field
  let rounds: Int

  private static var key: String { "records" }
  /// The record that is read: number 99,000 of 100,000.
  private var number: Int { values.count / 100 * 99 }
  private var path: StowPath { [.key(Self.key), .index(number), field] }

  func measure() throws -> PartResult {
    let data = try StowEncoder().encode([Self.key: values])
    let decoder = opaque(StowDecoder())
    try check(data)
    let message = try StowMessage(from: data)
    var random = RandomSource(seed: 30)
    let all = try time(1) { blackHole(try decoder.decode([String: [Value]].self, from: data)) }
    return PartResult(
      payload: name, records: values.count, bytes: data.count, all: all,
      works: [
        PartTiming(
          name: "a field of record \(Figures.count(number))",
          time: try time(10) { blackHole(try decoder.decode(Field.self, from: data, at: path)) }),
        PartTiming(name: "open", time: try time(100) { blackHole(try StowMessage(from: data)) }),
        PartTiming(
          name: "open, and a field of record \(Figures.count(number))",
          time: try time(10) { blackHole(try StowMessage(from: data).decode(Field.self, at: path)) }),
        PartTiming(
          name: "opened, a field of record \(Figures.count(number))",
          time: try time(1000) { blackHole(try message.decode(Field.self, at: path)) }),
        PartTiming(
          name: "opened, a field of any record",
          time: try time(1000) {
            let any = StowPath([.key(Self.key), .index(random.int(in: 0...values.count - 1)), field])
            blackHole(try message.decode(Field.self, at: any))
          }),
        PartTiming(
          name: "opened, count the records",
          time: try time(1000) { blackHole(try message.count(at: [.key(Self.key)])) }),
        PartTiming(
          name: "opened, that field of all records",
          time: try time(1) {
            blackHole(try message.decode([Field].self, at: [.key(Self.key), .each, field]))
          }),
        PartTiming(
          name: "opened, all records one by one",
          time: try time(1) {
            for record in try message.elements(at: [.key(Self.key)]) { blackHole(try record.decode(Value.self)) }
          }),
      ])
  }

  /// The median time of a call, of which so many take a turn.
  private func time(_ calls: Int, _ body: () throws -> Void) rethrows -> Double {
    try body()
    var samples: [Double] = []
    for _ in 0..<rounds {
      samples.append(try Clock.time { for _ in 0..<calls { try body() } } / Double(calls))
    }
    return median(samples)
  }

  private func check(_ data: Data) throws {
    let message = try StowMessage(from: data)
    let fields = values.map(read)
    guard try StowDecoder().decode(Field.self, from: data, at: path) == fields[number],
      try message.decode(Field.self, at: path) == fields[number],
      try message.decode([Field].self, at: [.key(Self.key), .each, field]) == fields,
      try message.elements(at: [.key(Self.key)]).map({ try $0.decode(Value.self) }) == values
    else { throw PayloadFailure(description: "parts of \(name) are not those of the whole") }
  }
}

/// Parts of lists of records, and of tables.
enum PartUse {
  static func measure(quick: Bool) throws -> PartReport {
    let counts = [1000, 100_000]
    return PartReport(payloads: try counts.map { try people($0, quick) } + counts.map { try points($0, quick) })
  }

  private static func people(_ count: Int, _ quick: Bool) throws -> PartResult {
    StandardError.print("parts: \(count) people")
    return try PartSpeed(
      name: "people", values: Person.make(count: count), field: "email", read: \.email, rounds: quick ? 5 : 21
    ).measure()
  }

  private static func points(_ count: Int, _ quick: Bool) throws -> PartResult {
    StandardError.print("parts: \(count) points")
    return try PartSpeed(
      name: "points", values: Point.make(count: count), field: "y", read: \.y, rounds: quick ? 5 : 21
    ).measure()
  }
}

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
