extension RecordLogReader {
  /// The readable records of a log, as of when this was made; ``RecordLogReader/damage`` has the others.
  public struct Records: Sequence, Sendable {
    let log: RecordLogReader
    let snapshot: LogSnapshot
    let start: Int

    public func makeIterator() -> Iterator {
      Iterator(walk: log.walk(over: snapshot, from: start, noting: log.damageReport))
    }

    /// Reads the records one after the other.
    public struct Iterator: IteratorProtocol {
      var walk: LogWalk

      /// Returns the next whole record, or nil after the last. The numbers of lost records are skipped.
      public mutating func next() -> Record? { walk.nextRecord() }
    }
  }

  /// A position between two records, from which a log is read in both directions. What cannot be read is an error.
  ///
  /// ```swift
  /// var cursor = log.cursor(from: log.count)
  /// while let record = try cursor.previous() {
  ///   print(record.number, try record.decode(Event.self))
  /// }
  /// ```
  ///
  /// A cursor sees the records that existed when it first moved, and stays in that file if the log is
  /// compacted. Segments removed meanwhile are gone for the cursor, too. It keeps one block of 64 KB in
  /// memory, or one record if that is larger. A cursor is for one thread at a time.
  public struct Cursor: Sendable {
    private let log: RecordLogReader
    /// The number of the record that `next()` returns, unless it was lost.
    public private(set) var position: Int
    private var snapshot: LogSnapshot?
    /// The walk that has read the record before this position; nil if the last step was backwards.
    private var walk: LogWalk?
    /// The record and the damage that the walk has met and that are not returned yet.
    private var found: Record?
    private var lost: [Damage] = []
    /// The records around this position that a step backwards has read.
    private var store: RecordStore?

    init(_ log: RecordLogReader, at position: Int, in snapshot: LogSnapshot? = nil) {
      self.log = log
      self.position = position
      self.snapshot = snapshot
    }

    /// Returns the next record, or nil after the last.
    ///
    /// ```swift
    /// while let record = try cursor.next() { handle(try record.decode(Event.self)) }
    /// ```
    ///
    /// Takes constant time, plus the time to read a block for one record of each block.
    ///
    /// - Throws: `RecordLogError` with the reason `damaged` if records were lost here, once for each run of
    ///   lost records; the next call continues after them. Likewise with the reason `removed` if the next
    ///   records were removed from the front. Also a `RecordLogError` if the log cannot be read at all; then
    ///   the cursor does not move.
    public mutating func next() throws -> Record? {
      let snapshot = try seen()
      if position < snapshot.first { throw passingRemoved(before: snapshot.first) }
      if found == nil, lost.isEmpty {
        let met = log.newReport()
        var walk = self.walk ?? log.walk(over: snapshot, from: position, noting: met)
        walk.report = met
        found = walk.nextRecord()
        lost = met.list.filter { !$0.records.isEmpty && $0.records.upperBound > position }
        (self.walk, store) = (walk, nil)
        if let first = met.firstAfterRemoval { throw passingRemoved(before: first) }
      }
      if !lost.isEmpty { throw passing(lost.removeFirst()) }
      defer { found = nil }
      if let found { position = found.number + 1 }
      return found
    }

    /// Returns the record before this position, or nil before the first.
    ///
    /// Takes constant time, plus the time to read a block for one record of each block.
    ///
    /// - Throws: What `next()` throws; the next call continues before the lost records.
    public mutating func previous() throws -> Record? {
      let snapshot = try seen()
      (walk, found, lost) = (nil, nil, [])
      position = min(position, snapshot.tail.count)
      while position > snapshot.first {
        if store.map({ $0.counting.lowerBound < position && position <= $0.counting.upperBound }) != true {
          let met = log.newReport()
          store = try storeBefore(position, of: snapshot, noting: met)
          if met.firstAfterRemoval != nil { return nil }
        }
        guard let store else { continue }
        let place = store.run.numbers.place(from: position) - 1
        let number = place < 0 ? -1 : store.run.numbers.number(at: place)
        position = max(store.counting.lowerBound, number)
        if number == position { return Record(store: store, index: place) }
      }
      return nil
    }

    /// Returns the records around the one before a position, or nil if that record never existed; the cursor is then
    /// before those that were given up. Throws if the record was lost; the cursor is then before the lost ones.
    private mutating func storeBefore(
      _ position: Int, of snapshot: LogSnapshot, noting met: DamageReport
    ) throws -> RecordStore? {
      var walk = log.walk(over: snapshot, from: position - 1, noting: met)
      let store = walk.firstStore()
      if let store, store.counting.lowerBound < position { return store }
      guard let damage = met.list.first(where: { $0.records.contains(position - 1) }) else {
        if met.firstAfterRemoval == nil { self.position = walk.abandoned?.lowerBound ?? position - 1 }
        return nil
      }
      self.position = damage.records.lowerBound
      throw RecordLogError(damage)
    }

    /// Returns what there is to read, as of the first step.
    private mutating func seen() throws -> LogSnapshot {
      if let snapshot { return snapshot }
      let snapshot = try log.flushedSnapshot()
      self.snapshot = snapshot
      return snapshot
    }

    /// Moves past lost records, and returns the error that reports them.
    private mutating func passing(_ damage: Damage) -> RecordLogError {
      position = max(position, damage.records.upperBound)
      return RecordLogError(damage)
    }

    /// Moves to the first record that is left, and returns the error that reports the removal.
    private mutating func passingRemoved(before first: Int) -> RecordLogError {
      defer { position = max(position, first) }
      return log.error(.removed(position, first: first))
    }
  }

  /// Returns a cursor before the record with a number.
  ///
  /// ```swift
  /// var cursor = log.cursor(from: 1_000)
  /// while let record = try cursor.next() { handle(try record.decode(Event.self)) }
  /// ```
  ///
  /// - Parameter number: The number of the record after the cursor; ``count`` or any higher number for the
  ///   end. By default that of the first record. A cursor before a removed record throws when it moves
  ///   forwards.
  public func cursor(from number: Int? = nil) -> Cursor { Cursor(self, at: max(0, number ?? firstNumber)) }

  /// The last record; nil if there are no records. Reads the block that it is in.
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

  /// Whether there are no records; lost ones count. Takes as long as ``count``.
  public var isEmpty: Bool { count == firstNumber }
}

// MARK: - Searching

extension RecordLogReader {
  /// Returns the first record that satisfies a condition, or nil. Reads all records up to it.
  ///
  /// ```swift
  /// let failure = try log.first { try $0.decode(Event.self).level == .error }
  /// ```
  ///
  /// - Parameters:
  ///   - number: The number to begin at; by default that of the first record.
  ///   - isWanted: Whether a record is the wanted one.
  /// - Throws: What ``Cursor/next()`` throws, also for lost records, since the wanted one may be among them;
  ///   and what `isWanted` throws.
  public func first(from number: Int? = nil, where isWanted: (Record) throws -> Bool) throws -> Record? {
    var cursor = cursor(from: number)
    while let record = try cursor.next() {
      if try isWanted(record) { return record }
    }
    return nil
  }

  /// Returns the number of the first record whose value does not come before what is looked for; ``count`` if all do.
  ///
  /// A binary search, for values that grow with the numbers, as dates mostly do: once the closure is false for a
  /// record, it must be false for all later ones. Reads about as many records as their number can be halved.
  ///
  /// ```swift
  /// let first = try log.partitionPoint { (event: Event) in event.date < morning }
  /// for record in log.records(from: first) { handle(try record.decode(Event.self)) }
  /// ```
  ///
  /// Lost records are skipped, and are then in ``damage``.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - isBefore: Whether a value comes before what is looked for.
  /// - Throws: `RecordLogError` if the system cannot read a record; what `Record.decode(_:)` throws, and what
  ///   `isBefore` throws.
  public func partitionPoint<Value: Decodable>(
    of type: Value.Type = Value.self, where isBefore: (Value) throws -> Bool
  ) throws -> Int {
    let snapshot = try flushedSnapshot()
    let met = newReport()
    // Records below `low` come before it. From `middle` on none does, once one was found there that does not.
    var (low, middle, found) = (snapshot.first, snapshot.tail.count, snapshot.tail.count)
    while low < middle {
      let next = low + (middle - low) / 2
      let record = readRecord(next...(middle - 1), of: snapshot, noting: met)
      try throwUnreadable(met.list)
      guard let record, record.number < middle else {
        middle = next
        continue
      }
      if try isBefore(record.decode(type)) {
        low = record.number + 1
      } else {
        (middle, found) = (next, record.number)
      }
    }
    return found
  }

  /// Throws if something could not be read that may be whole.
  func throwUnreadable(_ list: [Damage]) throws {
    for damage in list {
      switch damage.reason {
      case .unreadable(let code):
        throw RecordLogError(
          file: damage.file, offset: damage.bytes.lowerBound, SystemError(operation: "read", code: code))
      case .recordTooLarge: throw RecordLogError(damage)
      default: break
      }
    }
  }
}
