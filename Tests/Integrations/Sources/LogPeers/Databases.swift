import Foundation
import Stow

#if SQLITE
  import GRDB

  /// A table of messages in a database with a write-ahead log.
  final class DatabaseStore<Value: Codable & Sendable>: Store {
    private let queue: DatabaseQueue
    private let encoder = StowEncoder()
    private let decoder = StowDecoder()

    init(at path: URL, synchronous: String) throws {
      try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
      var configuration = Configuration()
      configuration.prepareDatabase {
        try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous)")
      }
      queue = try DatabaseQueue(path: path.appending(path: "database").path, configuration: configuration)
      try queue.write {
        try $0.execute(
          sql: "CREATE TABLE IF NOT EXISTS records (number INTEGER PRIMARY KEY, message BLOB NOT NULL)")
      }
    }

    private func insert(_ value: Value, _ database: Database) throws {
      try database.cachedStatement(sql: "INSERT INTO records (message) VALUES (?)")
        .execute(arguments: [try encoder.encode(value)])
    }

    func append(_ value: Value) throws { try queue.write { try insert(value, $0) } }

    func append(batch: ArraySlice<Value>) throws {
      try queue.write { database in for value in batch { try insert(value, database) } }
    }

    func readAll(_ body: (Value) throws -> Void) throws {
      try queue.read { database in
        let messages = try Data.fetchCursor(database, sql: "SELECT message FROM records ORDER BY number")
        while let message = try messages.next() { try body(decoder.decode(Value.self, from: message)) }
      }
    }

    /// SQLite counts from 1.
    func read(_ number: Int) throws -> Value {
      let message = try queue.read { database in
        try Data.fetchOne(
          database.cachedStatement(sql: "SELECT message FROM records WHERE number = ?"),
          arguments: [number + 1])
      }
      guard let message else { throw CocoaError(.fileReadNoSuchFile) }
      return try decoder.decode(Value.self, from: message)
    }

    func close() throws { try queue.close() }
  }
#endif

#if LEVELDB
  import CLevelDB

  /// Messages by their numbers, as keys of 8 bytes.
  final class LevelStore<Value: Codable & Sendable>: Store, @unchecked Sendable {
    struct Failure: Error { let description: String }

    private let database: OpaquePointer
    private let writing = leveldb_writeoptions_create()
    private let reading = leveldb_readoptions_create()
    private let encoder = StowEncoder()
    private let decoder = StowDecoder()
    private let lock = NSLock()
    private var count = 0

    init(at path: URL, isDurable: Bool) throws {
      let options = leveldb_options_create()
      defer { leveldb_options_destroy(options) }
      leveldb_options_set_create_if_missing(options, 1)
      leveldb_writeoptions_set_sync(writing, isDurable ? 1 : 0)
      guard let database = try Self.call({ leveldb_open(options, path.path, $0) }) else {
        throw Failure(description: "LevelDB does not open \(path.path)")
      }
      self.database = database
    }

    /// The result of a call, which throws what LevelDB says of it.
    private static func call<Result>(
      _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) throws -> Result {
      var message: UnsafeMutablePointer<CChar>?
      let result = body(&message)
      guard let message else { return result }
      defer { leveldb_free(message) }
      throw Failure(description: String(cString: message))
    }

    /// Lends the key of a number, whose bytes are in the order of the numbers.
    private func withKey<Result>(
      _ number: Int, _ body: (UnsafePointer<CChar>, Int) throws -> Result
    ) rethrows -> Result {
      try withUnsafeBytes(of: UInt64(number).bigEndian) { bytes in
        try bytes.withMemoryRebound(to: CChar.self) { try body($0.baseAddress!, $0.count) }
      }
    }

    private func nextNumber() -> Int {
      lock.withLock {
        count += 1
        return count - 1
      }
    }

    func append(_ value: Value) throws {
      let message = try encoder.encode(value)
      try withKey(nextNumber()) { key, size in
        try message.withUnsafeBytes { bytes in
          let bytes = bytes.assumingMemoryBound(to: CChar.self)
          try Self.call { leveldb_put(database, writing, key, size, bytes.baseAddress, bytes.count, $0) }
        }
      }
    }

    func append(batch: ArraySlice<Value>) throws {
      let changes = leveldb_writebatch_create()
      defer { leveldb_writebatch_destroy(changes) }
      for value in batch {
        let message = try encoder.encode(value)
        withKey(nextNumber()) { key, size in
          message.withUnsafeBytes { bytes in
            let bytes = bytes.assumingMemoryBound(to: CChar.self)
            leveldb_writebatch_put(changes, key, size, bytes.baseAddress, bytes.count)
          }
        }
      }
      try Self.call { leveldb_write(database, writing, changes, $0) }
    }

    /// What LevelDB lends stays as it is until the next call.
    private func decode(_ bytes: UnsafePointer<CChar>, _ size: Int) throws -> Value {
      let bytes = UnsafeMutableRawPointer(mutating: bytes)
      return try decoder.decode(
        Value.self, from: Data(bytesNoCopy: bytes, count: size, deallocator: .none))
    }

    func readAll(_ body: (Value) throws -> Void) throws {
      let iterator = leveldb_create_iterator(database, reading)
      defer { leveldb_iter_destroy(iterator) }
      leveldb_iter_seek_to_first(iterator)
      while leveldb_iter_valid(iterator) != 0 {
        var size = 0
        if let bytes = leveldb_iter_value(iterator, &size) { try body(decode(bytes, size)) }
        leveldb_iter_next(iterator)
      }
      try Self.call { leveldb_iter_get_error(iterator, $0) }
    }

    func read(_ number: Int) throws -> Value {
      var size = 0
      let bytes = try withKey(number) { key, keySize in
        try Self.call { leveldb_get(database, reading, key, keySize, &size, $0) }
      }
      guard let bytes else { throw CocoaError(.fileReadNoSuchFile) }
      defer { leveldb_free(bytes) }
      return try decode(bytes, size)
    }

    func close() throws {
      leveldb_close(database)
      leveldb_writeoptions_destroy(writing)
      leveldb_readoptions_destroy(reading)
    }
  }
#endif
