import Stow
import StowRecords

// snippet: postgresql
/// A table with a message in each row: its columns are `number bigint PRIMARY KEY, message bytea NOT NULL`.
struct EventTable<Event: Codable> {
  let name: String
  let connection: PostgreSQLConnection
  let encoder = StowEncoder()
  let decoder = StowDecoder()

  /// - Parameter context: What all who write and read hold.
  init(_ name: String, _ context: StowContext, over connection: PostgreSQLConnection) {
    self.name = name
    self.connection = connection
    encoder.context = context
    decoder.contexts = [context]
  }

  func insert(_ event: Event, number: Int) throws {
    let message = try encoder.withEncoded(event) { Array($0) }
    try connection.run("INSERT INTO \(name) VALUES ($1, $2)", [PostgreSQLConnection.bigint(number), message])
  }

  /// Each event, or why its message cannot be decoded.
  func events() throws -> [(number: Int, event: Result<Event, any Error>)] {
    try connection.run("SELECT number, message FROM \(name) ORDER BY number").map { row in
      (PostgreSQLConnection.number(row[0]), Result { try decoder.decode(Event.self, from: row[1]) })
    }
  }
}
// end

extension EventTable {
  /// Sends the records of a log as they come, and resumes after the last one that was sent.
  func ship(_ log: RecordLogReader) async throws {
    for try await record in log.follow(from: try next()) {
      try insert(record.decode(Event.self), number: record.number)
    }
  }

  /// The number after the last one.
  func next() throws -> Int {
    let rows = try connection.run("SELECT coalesce(max(number) + 1, 0) FROM \(name)")
    return PostgreSQLConnection.number(rows[0][0])
  }
}
