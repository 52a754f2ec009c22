extension RecordLogReader {
  /// The records of a log that can be read, as they were when this was made; ``RecordLogReader/damage`` has the others.
  public struct Records: Sequence, Sendable {
    let log: RecordLogReader
    let snapshot: LogSnapshot
    let start: Int

    public func makeIterator() -> Iterator {
      Iterator(walk: log.walk(over: snapshot, from: start))
    }

    /// Reads the records one after the other.
    public struct Iterator: IteratorProtocol {
      var walk: LogWalk

      /// The next record that is whole; nil after the last. The numbers of records that were lost are left out.
      public mutating func next() -> Record? { walk.nextRecord() }
    }
  }

  /// A place between two records, from which the log is read in both directions. What cannot be read is an error.
  ///
  /// ```swift
  /// var cursor = log.cursor(from: log.count)
  /// while let record = try cursor.previous() {
  ///   print(record.number, try record.decode(Event.self))
  /// }
  /// ```
  ///
  /// It sees the records that there were when it first moved, and goes on in that file if the log is compacted. Segments of a
  /// log in a folder that are removed meanwhile are gone for it, too. It keeps one block of 64 KB in memory, or one record if
  /// that is larger. A cursor is for one thread at a time.
  public struct Cursor: Sendable {
    private let log: RecordLogReader
    /// The number of the record that `next()` returns, unless it was lost.
    public private(set) var position: Int
    private var snapshot: LogSnapshot?
    /// The walk that has read the record before this position; nil if the last step was backwards.
    private var walk: LogWalk?
    /// What the walk has read and lost, and not handed out yet.
    private var found: Record?
    private var lost: [Damage] = []
    /// The records around this position that a step backwards has read.
    private var store: RecordStore?

    init(_ log: RecordLogReader, at position: Int, in snapshot: LogSnapshot? = nil) {
      self.log = log
      self.position = position
      self.snapshot = snapshot
    }

    /// The next record; nil after the last.
    ///
    /// ```swift
    /// while let record = try cursor.next() { handle(try record.decode(Event.self)) }
    /// ```
    ///
    /// Takes constant time, and for one record in each block the time of reading that.
    ///
    /// - Throws: `RecordLogError` with the reason `damaged` if records were lost here, once for all that stand together;
    ///   the next call goes on after them. In the same way one with the reason `removed`, if records that would come next were
    ///   removed from the front. A `RecordLogError` also if the log cannot be read at all; the cursor stays then.
    public mutating func next() throws -> Record? {
      let snapshot = try seen()
      if position < snapshot.first { throw passingRemoved(before: snapshot.first) }
      if found == nil, lost.isEmpty {
        let met = DamageReport()
        var walk = self.walk ?? log.walk(over: snapshot, from: position, noting: met)
        walk.noting = met
        found = walk.nextRecord()
        walk.noting = nil
        lost = met.list.filter { !$0.records.isEmpty && $0.records.upperBound > position }
        (self.walk, store) = (walk, nil)
        if let first = met.firstAfterRemoval { throw passingRemoved(before: first) }
      }
      if !lost.isEmpty { throw passing(lost.removeFirst()) }
      defer { found = nil }
      if let found { position = found.number + 1 }
      return found
    }

    /// The record before this place; nil before the first.
    ///
    /// Takes constant time, and for one record in each block the time of reading that.
    ///
    /// - Throws: As `next()`; the next call goes on before the records that were lost.
    public mutating func previous() throws -> Record? {
      let snapshot = try seen()
      (walk, found, lost) = (nil, nil, [])
      position = min(position, snapshot.tail.count)
      while position > snapshot.first {
        if store.map({ $0.numbers.first < position && position <= $0.numbers.end }) != true {
          let met = DamageReport()
          store = try storeBefore(position, of: snapshot, noting: met)
          if met.firstAfterRemoval != nil { return nil }
        }
        guard let store else { continue }
        let place = store.numbers.place(from: position) - 1
        position = place < 0 ? store.numbers.first : store.numbers.number(at: place)
        if place >= 0 { return Record(store: store, index: place) }
      }
      return nil
    }

    /// The records that the one before a position is among; nil if no such record was ever there. Then the cursor stands before
    /// those that were given up. If it was lost, the error says so, and the cursor stands before those that were lost.
    private mutating func storeBefore(
      _ position: Int, of snapshot: LogSnapshot, noting met: DamageReport
    ) throws -> RecordStore? {
      var walk = log.walk(over: snapshot, from: position - 1, noting: met)
      let store = walk.firstStore()
      if let store, store.numbers.first < position { return store }
      guard let damage = met.list.first(where: { $0.records.contains(position - 1) }) else {
        if met.firstAfterRemoval == nil { self.position = walk.abandoned?.lowerBound ?? position - 1 }
        return nil
      }
      self.position = damage.records.lowerBound
      throw RecordLogError(damage)
    }

    /// What there is to read, since the first step.
    private mutating func seen() throws -> LogSnapshot {
      if let snapshot { return snapshot }
      let snapshot = try log.flushedSnapshot()
      self.snapshot = snapshot
      return snapshot
    }

    /// The error that says that records were lost; the cursor stands after them then.
    private mutating func passing(_ damage: Damage) -> RecordLogError {
      position = max(position, damage.records.upperBound)
      return RecordLogError(damage)
    }

    /// The error that says that what would come next was removed; the cursor stands before the first record there is then.
    private mutating func passingRemoved(before first: Int) -> RecordLogError {
      defer { position = max(position, first) }
      return log.error(.removed(position, first: first))
    }
  }

  /// A cursor before the record of a number.
  ///
  /// ```swift
  /// var cursor = log.cursor(from: 1_000)
  /// while let record = try cursor.next() { handle(try record.decode(Event.self)) }
  /// ```
  ///
  /// - Parameter number: ``count`` for the end, or any higher number; by default the first that there is. A cursor before a
  ///   record that was removed throws so when it goes forwards.
  public func cursor(from number: Int? = nil) -> Cursor { Cursor(self, at: max(0, number ?? firstNumber)) }

  /// The last record; nil if there is none. Reads the block that it is in.
  ///
  /// ```swift
  /// let newest = try log.last?.decode(Event.self)
  /// ```
  ///
  /// - Throws: As ``Cursor/previous()`` does.
  public var last: Record? {
    get throws {
      var cursor = cursor(from: .max)
      return try cursor.previous()
    }
  }

  /// Whether there are no records, lost ones included. Takes as long as ``count``.
  public var isEmpty: Bool { count == firstNumber }
}
