import Stow
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An index of the last record of each key in a log.
///
/// ```swift
/// let index = try log.index(of: Entry.self, by: \.key)
/// try log.append(Entry(key: "Elbe", value: 4.2))
/// let entry = try index.value(for: "Elbe")
/// ```
///
/// The index is built in one pass over the log, and takes in what was appended since whenever it is asked. In
/// memory it has a key and a number for each key, and no values. A log that writes the same keys again and
/// again can be compacted to their last values:
///
/// ```swift
/// if index.outdated > index.count { try log.compact(keeping: index.isLast) }
/// ```
///
/// Lost records are skipped, and are then in the `damage` of the log. An index may be used from many threads.
/// The closure that returns the key, and the decoding of values, must use neither the index nor the log: a
/// compaction that asks ``isLast(_:)`` waits for them.
public final class RecordIndex<Value: Decodable, Key: Hashable & Sendable>: Sendable {
  private struct State {
    /// How often files of the log had been replaced. A replacement may have left out records that are counted here.
    var generation = 0
    /// The number of the first record that is not taken in yet.
    var count = 0
    /// The number before which all records were removed.
    var first = 0
    /// How many records have a later one with the same key.
    var outdated = 0
    var numbers: [Key: Int] = [:]
    /// The identities of the files that those were read from, by the numbers of their first records. They tell whether
    /// a compaction has replaced one since.
    var identities: [Int: UInt64] = [:]

    /// Notes the file of the next records. If a compaction replaces it later, its identity stays.
    mutating func begin(_ file: LogFile) { identities[file.first] = identities[file.first] ?? file.identity }

    mutating func take(_ key: Key, _ number: Int) {
      count = number + 1
      if numbers.updateValue(number, forKey: key) != nil { outdated += 1 }
    }

    /// Forgets keys whose last record was removed. How many of the `outdated` records were removed is unknown.
    mutating func remove(before first: Int) {
      guard first > self.first else { return }
      self.first = first
      numbers = numbers.filter { $0.value >= first }
      identities = identities.filter { $0.key >= first }
      outdated = min(outdated, max(0, count - first) - numbers.count)
    }
  }

  private let log: RecordLogReader
  private let key: @Sendable (Value) -> Key
  private let state = Mutex(State())

  init(_ log: RecordLogReader, _ key: @escaping @Sendable (Value) -> Key) {
    self.log = log
    self.key = key
  }

  /// Takes in what was appended since the index was last asked, as looking up a key does.
  ///
  /// - Throws: What decoding a record throws, and a `RecordLogError` if the system cannot read one.
  public func update() throws { try update(to: log.flushedSnapshot()) { _ in } }

  /// The number of keys when the index was last asked.
  public var count: Int { state.withLock { $0.numbers.count } }

  /// How many records had a later one with the same key when the index was last asked.
  public var outdated: Int { state.withLock { $0.outdated } }

  /// The keys when the index was last asked, in no particular order.
  public var keys: [Key] { state.withLock { Array($0.numbers.keys) } }

  /// Returns the last record of a key, or nil if the key has no record.
  ///
  /// Takes in the records that were appended since, and then takes as long as looking up a record by its number.
  ///
  /// - Throws: What ``RecordLogReader/record(at:)`` throws; what decoding a record that is taken in throws,
  ///   and a `RecordLogError` if the system cannot read one.
  public func record(for key: Key) throws -> RecordLog.Record? {
    do {
      return try readRecord(for: key)
    } catch let error as RecordLogError {
      // A compaction by another process is noticed late.
      guard case .noSuchRecord = error.reason else { throw error }
      state.withLock { $0 = State() }
      return try readRecord(for: key)
    }
  }

  private func readRecord(for key: Key) throws -> RecordLog.Record? {
    let snapshot = try log.flushedSnapshot()
    guard let number = try update(to: snapshot, { $0.numbers[key] }) else { return nil }
    // Another thread may have taken in later records meanwhile.
    let isSeen = number < snapshot.tail.count
    return try isSeen ? log.record(at: number, of: snapshot) : log.record(at: number)
  }

  /// Returns the last value of a key, or nil if the key has no record.
  ///
  /// - Throws: As ``record(for:)``.
  public func value(for key: Key) throws -> Value? { try record(for: key)?.decode(Value.self) }

  /// Returns whether no later record that was taken in has the same key. In ``RecordLog/compact(keeping:)``
  /// it keeps the last value of each key.
  ///
  /// Until the index is asked or updated again, it keeps each record of a log that was compacted since. It must be an
  /// index of that log: one of a reader does not always notice what a compaction has left out.
  ///
  /// - Throws: What decoding the record throws.
  public func isLast(_ record: RecordLog.Record) throws -> Bool {
    let (identity, count, generation) = state.withLock {
      ($0.identities[record.store.fileFirst], $0.count, $0.generation)
    }
    // Nothing is known about a record of a file that was not read, such as one that a compaction has made since, nor
    // about a record not taken in yet. A later record of the same key may be left out of a file that was replaced
    // since.
    guard record.store.identity == identity, record.number < count, generation == log.files.generation
    else { return true }
    let key = key(try record.decode(Value.self))
    return state.withLock { $0.numbers[key] ?? record.number } <= record.number
  }

  /// Takes in the records appended since the last time; all records, if a file was replaced since.
  private func update<Result>(to snapshot: LogSnapshot, _ body: (State) -> Result) throws -> Result {
    try state.withLock { state in
      let generation = snapshot.generation
      if state.generation != generation { state = State(generation: generation) }
      state.remove(before: snapshot.first)
      if state.count < snapshot.tail.count {
        var walk = log.walk(over: snapshot, from: state.count, noting: log.newReport())
        /// Throws if records could not be read that may be whole: they must not be skipped.
        func checkDamage() throws {
          guard walk.report.count > 0 else { return }
          try log.throwUnreadable(walk.report.list)
          walk.report = log.newReport()
        }
        var file: LogFile?
        while let record = walk.nextRecord() {
          try checkDamage()
          if let next = walk.file, next !== file {
            state.begin(next)
            file = next
          }
          state.take(key(try record.decode(Value.self)), record.number)
        }
        try checkDamage()
        state.count = snapshot.tail.count
      }
      return body(state)
    }
  }
}

// MARK: - Appending

extension RecordIndex where Value: Encodable {
  /// Appends a value, unless its key has a record. That is one step: however many calls have the same key at the same
  /// time, on any threads and through any indexes of the log by that key, one of them appends.
  ///
  /// ```swift
  /// let (isAppended, number) = try index.appendIfAbsent(order)
  /// ```
  ///
  /// Adds what was appended since to the index, which is locked with the log meanwhile. A lost record has no key, and
  /// so does not count.
  ///
  /// - Returns: Whether the value was appended, and the number of its record or of the last one of its key.
  /// - Throws: What ``RecordLog/append(_:)`` and ``record(for:)`` throw; `closed` also if the index is not one of a
  ///   `RecordLog`.
  @discardableResult
  public func appendIfAbsent(_ value: Value) throws -> (isAppended: Bool, number: Int) {
    let (log, key) = (try writingLog(), key(value))
    var file: LogFile?
    let number = try log.appendUnlessKnown { try append(value, key, to: log, &$0, &file) }
    return take(key, number, of: file)
  }

  /// Appends a value, unless its key has a record, and returns when either is on the disk, whatever the durability of
  /// the log.
  ///
  /// This is one step, as ``appendIfAbsent(_:)`` is, and waits as ``RecordLog/appendDurably(_:)`` does.
  ///
  /// ```swift
  /// let (isAppended, number) = try await index.appendDurablyIfAbsent(order)
  /// ```
  ///
  /// - Returns: Whether the value was appended, and the number of its record or of the last one of its key.
  /// - Throws: What ``appendIfAbsent(_:)`` and ``RecordLog/appendDurably(_:)`` throw.
  @discardableResult
  public func appendDurablyIfAbsent(_ value: Value) async throws -> (isAppended: Bool, number: Int)
  where Value: Sendable {
    let (log, key) = (try writingLog(), key(value))
    let file = Mutex<LogFile?>(nil)
    let number = try await log.durably { state in
      try file.withLock { try self.append(value, key, to: log, &state, &$0) }
    }
    return take(key, number, of: file.withLock { $0 })
  }

  private func writingLog() throws -> RecordLog {
    guard let log = log as? RecordLog else { throw log.error(.closed) }
    return log
  }

  /// Appends a value, unless its key has a record, under the lock of the log. Returns the number of either, and sets
  /// the file that the value was appended to.
  private func append(
    _ value: Value, _ key: Key, to log: RecordLog, _ logState: inout LogState, _ file: inout LogFile?
  ) throws -> Int {
    guard let writer = logState.writer else { throw log.error(.closed) }
    // What is not written cannot be read, and all must be read after a file was replaced.
    let isCurrent = state.withLock { $0.count >= writer.count && $0.generation == log.files.generation }
    if !isCurrent { try writer.flush() }
    let known = try update(to: logState.snapshot(log.files)) { $0.numbers[key] }
    if let known { return known }
    let number = try log.append(value, &logState)
    file = logState.writer?.file
    return number
  }

  /// Adds a record that was appended to the index, unless others have to be read before. Only now it is certain that it
  /// stays.
  private func take(_ key: Key, _ number: Int, of file: LogFile?) -> (isAppended: Bool, number: Int) {
    guard let file else { return (false, number) }
    state.withLock { state in
      guard state.count == number, state.generation == log.files.generation else { return }
      state.begin(file)
      state.take(key, number)
    }
    return (true, number)
  }
}

extension RecordLogReader {
  /// Makes an index of the last record of each key.
  ///
  /// ```swift
  /// let index = try log.index(of: Entry.self, by: \.key)
  /// let entry = try index.value(for: "Elbe")
  /// ```
  ///
  /// Reads and decodes all records. Takes memory for the keys and one block.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - key: Returns the key of a value.
  /// - Throws: What decoding a record throws; a `RecordLogError` if the system cannot read one.
  public func index<Value: Decodable, Key: Hashable & Sendable>(
    of type: Value.Type = Value.self, by key: @escaping @Sendable (Value) -> Key
  ) throws -> RecordIndex<Value, Key> {
    let index = RecordIndex(self, key)
    try index.update()
    return index
  }

  /// Makes an index from a file that ``RecordIndex/save(to:)`` has written, and reads only later records.
  /// Reads all records if there is no such file, or if it is of another log or another state of this one.
  ///
  /// ```swift
  /// let index = try log.index(of: Entry.self, by: \.key, savedAt: url)
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - key: Returns the key of a value. It must be the same as for the index that was saved.
  ///   - url: The file of the index.
  /// - Throws: What decoding a record throws; a `RecordLogError` if the system cannot read one.
  public func index<Value: Decodable, Key: Hashable & Sendable & Codable>(
    of type: Value.Type = Value.self, by key: @escaping @Sendable (Value) -> Key, savedAt url: URL
  ) throws -> RecordIndex<Value, Key> {
    let index = RecordIndex(self, key)
    try index.takeSaved(at: url)
    try index.update()
    return index
  }
}

/// The content of an index file, as a message.
private struct SavedIndex: Codable {
  /// The index, and the state of the log when it was saved.
  struct Content<Key: Codable & Hashable>: Codable {
    /// The identities of the files that the records were read from, and of files without records, by the numbers of
    /// their first records.
    var identities: [Int: UInt64]
    var count: Int
    var outdated: Int
    /// The last record that was whole, and the checksum of it and of those before it in its block.
    var lastNumber: Int
    var lastChecksum: UInt32
    var numbers: [Key: Int]
  }

  var checksum: UInt32
  var content: Data

  init(_ content: Data) {
    self.content = content
    checksum = content.withUnsafeBytes { Checksum.of($0) }
  }

  var isWhole: Bool { checksum == content.withUnsafeBytes { Checksum.of($0) } }
}

extension RecordIndex where Key: Codable {
  /// Writes the index to a file for ``RecordLogReader/index(of:by:savedAt:)``. Brings the log to the disk
  /// first, so that no record is lost that the index knows. Writes nothing if the log has no record that can be read.
  ///
  /// - Parameter url: The file, which is replaced atomically.
  /// - Throws: What taking in later records throws, what synchronizing the log throws, and what writing the file
  ///   throws.
  public func save(to url: URL) throws {
    let snapshot = try log.flushedSnapshot()
    var known = try update(to: snapshot) { $0 }
    try log.bringToDisk(snapshot.file)
    // Files without records count, too: a crash may bring back those that they have replaced.
    for first in snapshot.segments.map(\.first) where first < known.count && known.identities[first] == nil {
      known.identities[first] = snapshot.identity(ofSegment: first)
    }
    guard let last = try log.lastRecord(before: known.count, of: snapshot) else { return }
    let content = SavedIndex.Content(
      identities: known.identities, count: known.count, outdated: known.outdated,
      lastNumber: last.number, lastChecksum: last.checksum, numbers: known.numbers)
    let encoder = StowEncoder()
    try encoder.encode(SavedIndex(encoder.encode(content))).write(to: url, options: .atomic)
  }

  /// Takes in the saved index, if it is of this log.
  fileprivate func takeSaved(at url: URL) throws {
    guard let data = try? Data(contentsOf: url),
      let saved = try? StowDecoder().decode(SavedIndex.self, from: data), saved.isWhole,
      let content = try? StowDecoder().decode(SavedIndex.Content<Key>.self, from: saved.content)
    else { return }
    let snapshot = try log.flushedSnapshot()
    // Segments may have been removed from the front; none of the others may be missing, replaced or unknown.
    guard
      content.identities.allSatisfy({ $0 < snapshot.first || snapshot.identity(ofSegment: $0) == $1 }),
      snapshot.segments.allSatisfy({ $0.first >= content.count || content.identities[$0.first] != nil }),
      content.count <= snapshot.tail.count, content.outdated <= content.count,
      let last = try log.lastRecord(before: content.count, of: snapshot), last.number == content.lastNumber,
      last.checksum == content.lastChecksum
    else { return }
    state.withLock {
      $0 = State(
        generation: snapshot.generation, count: content.count, outdated: content.outdated,
        numbers: content.numbers, identities: content.identities)
    }
  }
}

extension RecordLogReader {
  /// Returns the last readable record before a number, or nil.
  fileprivate func lastRecord(before number: Int, of snapshot: LogSnapshot) throws -> RecordLog.Record? {
    var cursor = Cursor(self, at: number, in: snapshot)
    while true {
      do {
        return try cursor.previous()
      } catch let error as RecordLogError {
        guard case .damaged = error.reason else { throw error }
      }
    }
  }

  fileprivate func bringToDisk(_ file: LogFile) throws {
    if let log = self as? RecordLog { return try log.synchronize() }
    try RecordLogError.naming(path) { try file.disk.synchronize() }
  }
}

extension RecordLog.Record {
  /// The checksum of this record and of those before it that were read with it, which are mostly those of its block. A
  /// copy of the log that went on otherwise may have the same last record.
  fileprivate var checksum: UInt32 {
    var checksum = Checksum()
    for place in 0...index { store.withBytes(of: place) { checksum.update($0) } }
    return checksum.value
  }
}
