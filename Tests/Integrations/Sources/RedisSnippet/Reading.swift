import NIOCore
import Stow

/// What the tests send: a reading of a gauge, which its number determines.
package struct Reading: Codable, Equatable, Sendable {
  package var number: Int
  package var station: String
  package var level: Double
  package var remark: String?

  package init(_ number: Int) {
    self.number = number
    station = ["Elbe", "Weser", "Ems"][number % 3]
    level = Double(number) / 7
    remark = number % 5 == 0 ? "flood \(number)" : nil
  }

  /// A stream of readings, in a context that all processes learn of the same samples.
  static func stream() throws -> EventStream<Reading> {
    EventStream("readings", try StowContext(learningFrom: (0..<6).map(Reading.init)))
  }
}

/// A process that takes readings from a stream until it is killed.
package enum ReadingConsumer {
  /// Notes the numbers of readings in a set, `right` or `wrong`, before it acknowledges them.
  package static func run(_ name: String, socket: String) async throws {
    let stream = try Reading.stream()
    try await RedisConnection.run(to: SocketAddress(unixDomainSocketPath: socket)) { connection in
      while true {
        let entries = try await stream.next(
          100, group: "g", consumer: name, idle: 200, over: &connection)
        if entries.isEmpty { continue }
        _ = try await connection.send(
          entries.map { entry in
            guard case .success(let reading) = entry.event, reading == Reading(reading.number) else {
              return ["SADD", "wrong", entry.id]
            }
            return ["SADD", "right", "\(reading.number)"]
          })
        try await stream.acknowledge(entries.map(\.id), group: "g", over: &connection)
      }
    }
  }
}
