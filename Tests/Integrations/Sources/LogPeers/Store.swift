import Dispatch
import Foundation
import Stow
import StowRecords

/// Something that keeps values, one after the other, and finds them by their numbers from 0 on.
protocol Store<Value>: AnyObject, Sendable {
  associatedtype Value: Codable & Sendable

  /// Appends a value. What is appended to a durable store is on the disk then.
  func append(_ value: Value) throws
  /// Appends several at once.
  func append(batch: ArraySlice<Value>) throws
  /// Brings all that was appended into the file.
  func flush() throws
  /// Appends values from so many tasks, each of which waits until its value is on the disk.
  func append(_ values: [Value], fromTasks tasks: Int) throws
  func readAll(_ body: (Value) throws -> Void) throws
  func read(_ number: Int) throws -> Value
  func close() throws
}

extension Store {
  func flush() throws {}

  /// Threads, for what blocks: a task that blocks keeps others from running.
  func append(_ values: [Value], fromTasks tasks: Int) throws {
    let (done, failures) = (DispatchGroup(), Failures())
    for task in 0..<tasks {
      done.enter()
      Thread {
        failures.note {
          for index in stride(from: task, to: values.count, by: tasks) { try self.append(values[index]) }
        }
        done.leave()
      }.start()
    }
    done.wait()
    try failures.throwFirst()
  }
}

/// The first error of several threads.
final class Failures: @unchecked Sendable {
  private let lock = NSLock()
  private var first: (any Error)?

  func note(_ body: () throws -> Void) {
    do { try body() } catch { lock.withLock { first = first ?? error } }
  }

  func throwFirst() throws { if let first = lock.withLock({ first }) { throw first } }
}

/// A way to keep values: what the column of the table is called, and how a store is opened or made.
struct StoreKind<Value: Codable & Sendable> {
  let name: String
  /// Whether it can bring each value to the disk, always does, and can find one by its number.
  var canBeDurable = true
  var isDurable = false
  var canFind = true
  let open: (_ path: URL, _ isDurable: Bool) throws -> any Store<Value>

  static var all: [StoreKind] {
    var kinds: [StoreKind] = [
      StoreKind(name: "RecordLog") { try LogStore(at: $0, isDurable: $1, .none) },
      StoreKind(name: "packed") { try LogStore(at: $0, isDurable: $1, .words) },
      StoreKind(name: "JSON lines", canFind: false) { try LineStore(at: $0, isDurable: $1) },
    ]
    #if SQLITE
      kinds += [
        // A transaction is not brought to the disk.
        StoreKind(name: "SQLite NORMAL", canBeDurable: false) { path, _ in
          try DatabaseStore(at: path, synchronous: "NORMAL")
        },
        StoreKind(name: "SQLite FULL", isDurable: true) { path, _ in
          try DatabaseStore(at: path, synchronous: "FULL")
        },
      ]
    #endif
    #if LEVELDB
      kinds.append(StoreKind(name: "LevelDB") { try LevelStore(at: $0, isDurable: $1) })
    #endif
    return kinds
  }
}

final class LogStore<Value: Codable & Sendable>: Store {
  private let log: RecordLog

  init(at path: URL, isDurable: Bool, _ packing: RecordLog.Packing) throws {
    log = try RecordLog(at: path, durability: isDurable ? .everyAppend : .manual, packing: packing)
  }

  func append(_ value: Value) throws { try log.append(value) }
  func append(batch: ArraySlice<Value>) throws { try log.append(contentsOf: batch) }
  func flush() throws { try log.flush() }

  func append(_ values: [Value], fromTasks tasks: Int) throws {
    let (done, failures) = (DispatchSemaphore(value: 0), Failures())
    Task.detached { [log] in
      do {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for task in 0..<tasks {
            group.addTask {
              for index in stride(from: task, to: values.count, by: tasks) {
                try await log.appendDurably(values[index])
              }
            }
          }
          try await group.waitForAll()
        }
      } catch {
        failures.note { throw error }
      }
      done.signal()
    }
    done.wait()
    try failures.throwFirst()
  }

  func readAll(_ body: (Value) throws -> Void) throws {
    for record in log.records { try body(record.decode(Value.self)) }
  }

  func read(_ number: Int) throws -> Value { try log.decode(Value.self, at: number) }
  func close() throws { try log.close() }
}

/// A file of JSON texts, as `Benchmarks --log` writes it.
final class LineStore<Value: Codable & Sendable>: Store, @unchecked Sendable {
  private let path: URL
  private let isDurable: Bool
  private let lines: JSONLines
  private let lock = NSLock()

  init(at path: URL, isDurable: Bool) throws {
    (self.path, self.isDurable) = (path, isDurable)
    lines = try JSONLines(at: path)
  }

  func append(_ value: Value) throws {
    try lock.withLock {
      try lines.append(value)
      if isDurable { try lines.synchronize() }
    }
  }

  func append(batch: ArraySlice<Value>) throws { for value in batch { try append(value) } }
  func readAll(_ body: (Value) throws -> Void) throws { try JSONLines.read(Value.self, at: path, body) }
  func read(_ number: Int) throws -> Value { throw CocoaError(.featureUnsupported) }
  func close() throws { try lines.close() }
}
