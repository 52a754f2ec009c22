import Foundation
import GRDB
import Stow
import Testing

@testable import GRDBSnippet

/// Stores records in a real database of SQLite.
@Suite("Columns of a database with GRDB")
struct ColumnTests {
  private static let station = Station(
    id: 1, name: "Elbe",
    levels: [
      Station.Level(time: Date(timeIntervalSinceReferenceDate: 0.1), metres: 4.25),
      Station.Level(time: Date(timeIntervalSinceReferenceDate: 1.0 / 3), metres: -.infinity),
    ])

  private static func database() throws -> DatabaseQueue {
    let database = try DatabaseQueue()
    try database.write {
      try $0.create(table: "station") { table in
        table.primaryKey("id", .integer)
        table.column("name", .text)
        table.column("levels", .blob)
      }
    }
    return database
  }

  /// A database with one station, whose levels are set by the expression.
  private static func database(levels: (any DatabaseValueConvertible)?) throws -> DatabaseQueue {
    let database = try database()
    try database.write {
      try station.insert($0)
      try $0.execute(sql: "UPDATE station SET levels = ?", arguments: [levels])
    }
    return database
  }

  @Test("hold values exactly, as messages in blobs")
  func exact() throws {
    let database = try Self.database()
    try database.write { try Self.station.insert($0) }
    try database.read {
      let found = try #require(try Station.fetchOne($0, key: 1))
      #expect(found.levels == Self.station.levels && found.name == "Elbe")
      #expect(try String.fetchOne($0, sql: "SELECT typeof(levels) FROM station") == "blob")
      let blob = try #require(try Data.fetchOne($0, sql: "SELECT levels FROM station"))
      #expect(try StowDecoder().decode([Station.Level].self, from: blob) == Self.station.levels)
    }
  }

  @Test("change when the record is updated")
  func update() throws {
    let database = try Self.database()
    var station = Self.station
    try database.write {
      try station.insert($0)
      station.levels.removeAll()
      try station.update($0)
    }
    #expect(try database.read { try Station.fetchOne($0, key: 1)?.levels.isEmpty } == true)
  }

  @Test("survive in a file")
  func file() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("stations.sqlite").path
    for round in 0..<2 {
      let database = try DatabaseQueue(path: path)
      if round == 0 {
        try database.write {
          try $0.execute(sql: "CREATE TABLE station (id INTEGER PRIMARY KEY, name TEXT, levels BLOB)")
          try Self.station.insert($0)
        }
      }
      #expect(try database.read { try Station.fetchAll($0).map(\.levels) } == [Self.station.levels])
      try database.close()
    }
  }

  @Test("that are broken are an error which says where")
  func broken() throws {
    let message = try StowEncoder().encode(Self.station.levels)
    for end in 0..<message.count {
      let database = try Self.database(levels: message.prefix(end))
      #expect(throws: DecodingError.self, "\(end) bytes") { try database.read { try Station.fetchAll($0) } }
    }
    let database = try Self.database(levels: Data([1, 2, 3]))
    let error = #expect(throws: DecodingError.self) { try database.read { try Station.fetchAll($0) } }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.debugDescription.contains("offset"))
  }

  @Test("that are missing, null, text or a number are an error")
  func wrongKind() throws {
    for levels in [nil, "text", 1, 2.5] as [(any DatabaseValueConvertible)?] {
      let database = try Self.database(levels: levels)
      #expect(throws: (any Error).self, "\(levels ?? "null")") {
        try database.read { try Station.fetchAll($0) }
      }
    }
    let database = try Self.database(levels: nil)
    #expect(throws: (any Error).self) {
      try database.read { try Station.fetchAll($0, sql: "SELECT id, name FROM station") }
    }
  }

  @Test("whose value cannot be encoded fail to be stored")
  func notEncodable() throws {
    struct Nothing: Codable {
      init() {}
      init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws { throw Refused() }
    }
    struct Refused: Error {}
    struct Record: Codable, PersistableRecord {
      static let databaseTableName = "station"
      var id: Int
      @StowColumn var levels: Nothing
    }
    let database = try Self.database()
    #expect(throws: Refused.self) {
      try database.write { try Record(id: 1, levels: Nothing()).insert($0) }
    }
    #expect(try database.read { try Station.fetchCount($0) } == 0)
  }
}
