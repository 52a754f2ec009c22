import Foundation
import RedisSnippet
import Stow
import StowRecords
import Testing

@testable import PostgreSQLSnippet

/// Writes readings to tables of a real server.
@Suite(
  "Columns of PostgreSQL",
  .enabled(
    if: PostgreSQLServer.programs != nil,
    "There is no server of PostgreSQL: the tests with PostgreSQL are skipped."),
  PostgreSQLServer(), .timeLimit(.minutes(2)))
struct PostgreSQLTests {
  private static func makeTable(_ name: String) throws -> EventTable<Reading> {
    let connection = try PostgreSQLServer.connect()
    try connection.run("CREATE TABLE \(name) (number bigint PRIMARY KEY, message bytea NOT NULL)")
    return try table(name, over: connection)
  }

  private static func table(
    _ name: String, over connection: PostgreSQLConnection
  ) throws -> EventTable<Reading> {
    EventTable(name, try StowContext(learningFrom: (0..<6).map(Reading.init)), over: connection)
  }

  @Test("bring messages there and back, in fewer bytes than JSON")
  func readings() throws {
    let table = try Self.makeTable("readings")
    let connection = table.connection
    let json = JSONEncoder()
    try connection.run("CREATE TABLE json (number bigint PRIMARY KEY, message jsonb NOT NULL)")
    try connection.run("BEGIN")
    for number in 0..<3000 {
      try table.insert(Reading(number), number: number)
      let text = try String(decoding: json.encode(Reading(number)), as: UTF8.self)
      try connection.run("INSERT INTO json VALUES (\(number), '\(text)')")
    }
    try connection.run("COMMIT")

    // As another process sees it.
    let rows = try Self.table("readings", over: PostgreSQLServer.connect()).events()
    #expect(rows.map(\.number) == Array(0..<3000))
    #expect(try rows.map { try $0.event.get() } == (0..<3000).map(Reading.init))

    let sizes = try ["readings", "json"].map {
      let rows = try connection.run("SELECT sum(pg_column_size(message)) FROM \($0)")
      return PostgreSQLConnection.number(rows[0][0])
    }
    print("3000 readings in PostgreSQL: \(sizes[0]) bytes with Stow, \(sizes[1]) as jsonb")
    #expect(sizes[0] < sizes[1])
  }

  @Test("get each record of a log once from a follower that stops and goes on")
  func shipping() async throws {
    let table = try Self.makeTable("shipped")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let log = try RecordLog(at: file)
    for end in [40, 41, 100] {
      for number in log.count..<end { try log.append(Reading(number)) }
      let shipper = Task {
        try await Self.table("shipped", over: PostgreSQLServer.connect()).ship(log)
      }
      while try table.next() < end { await Task.yield() }
      shipper.cancel()
      _ = await shipper.result
    }
    try log.close()
    #expect(try table.events().map { try $0.event.get() } == (0..<100).map(Reading.init))
    #expect(throws: PostgreSQLError.self) { try table.insert(Reading(99), number: 99) }
  }

  @Test("give an error for a message that is broken or in an unknown context, and the others")
  func broken() throws {
    let table = try Self.makeTable("broken")
    let stranger = StowEncoder()
    stranger.context = try StowContext(learningFrom: ["other", "other"])
    let message = try [UInt8](StowEncoder().encode(Reading(5)))
    let broken: [[UInt8]] = [
      [], [0], [1, 2, 3], Array(message.dropLast()), message + [0], [UInt8](repeating: 0xFF, count: 100_000),
      try [UInt8](stranger.encode(["other"])), Array("{\"number\": 5}".utf8),
    ]
    for (number, message) in (broken + [message]).enumerated() {
      let values = [PostgreSQLConnection.bigint(number), message]
      try table.connection.run("INSERT INTO broken VALUES ($1, $2)", values)
    }
    try table.insert(Reading(6), number: 100)
    let rows = try table.events()
    #expect(rows.map(\.number) == Array(0...broken.count) + [100])
    for row in rows.prefix(broken.count) {
      #expect(throws: DecodingError.self) { try row.event.get() }
    }
    #expect(try rows.suffix(2).map { try $0.event.get() } == [Reading(5), Reading(6)])

    // The bytes stay what they are.
    let stored = try table.connection.run("SELECT message FROM broken ORDER BY number").map { $0[0] }
    #expect(Array(stored.prefix(broken.count)) == broken)
  }

  @Test("tell of a statement that the server refuses, and of a server that is not there")
  func refusals() throws {
    let connection = try PostgreSQLServer.connect()
    #expect(throws: PostgreSQLError.self) { try connection.run("SELECT $1::bytea + 1", [[1]]) }
    #expect(throws: PostgreSQLError.self) { try connection.run("SELECT $1::bigint", [[1, 2, 3]]) }
    let numbers = [0, -1, .max, .min]
    for number in numbers {
      let rows = try connection.run("SELECT $1::bigint", [PostgreSQLConnection.bigint(number)])
      #expect(PostgreSQLConnection.number(rows[0][0]) == number)
    }
    #expect(throws: PostgreSQLError.self) { try PostgreSQLConnection("host=/nowhere user=stow") }
  }
}
