extension RecordLogReader {
  /// The records of a log that can be read, as they were when this was made; ``RecordLogReader/damage`` has the others.
  public struct Records: Sequence, Sendable {
    let log: RecordLogReader
    let file: LogFile
    let tail: Tail
    let start: Int

    public func makeIterator() -> Iterator {
      Iterator(cursor: log.cursor(over: file, from: start, tail))
    }

    /// Reads the records one after the other.
    public struct Iterator: IteratorProtocol {
      var cursor: RecordCursor

      /// The next record that is whole; nil after the last. The numbers of records that were lost are left out.
      public mutating func next() -> Record? { cursor.nextRecord() }
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
  /// It sees the records that there were when it first moved, and goes on in that file if the log is compacted. It keeps
  /// one block of 64 KB in memory, or one record if that is larger. A cursor is for one thread at a time.
  public struct Cursor: Sendable {
    private let log: RecordLogReader
    /// The number of the record that `next()` returns, unless it was lost.
    public private(set) var position: Int
    private var snapshot: (file: LogFile, tail: Tail)?
    /// The walk that has read the record before this position; nil if the last step was backwards.
    private var walk: RecordCursor?
    /// What the walk has read and lost, and not handed out yet.
    private var found: Record?
    private var lost: [Damage] = []
    /// The records around this position that a step backwards has read.
    private var store: RecordStore?

    init(_ log: RecordLogReader, at position: Int, in snapshot: (file: LogFile, tail: Tail)? = nil) {
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
    ///   the next call goes on after them. A `RecordLogError` also if the log cannot be read at all; the cursor stays then.
    public mutating func next() throws -> Record? {
      let (file, tail) = try seen()
      if found == nil, lost.isEmpty {
        let met = DamageReport()
        var walk = self.walk ?? log.cursor(over: file, from: position, tail)
        walk.noting = met
        found = walk.nextRecord()
        walk.noting = nil
        lost = met.list.filter { !$0.records.isEmpty && $0.records.upperBound > position }
        (self.walk, store) = (walk, nil)
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
      let (file, tail) = try seen()
      (walk, found, lost) = (nil, nil, [])
      position = min(position, tail.count)
      while position > 0 {
        if store.map({ $0.numbers.first < position && position <= $0.numbers.end }) != true {
          store = try storeBefore(position, file, tail)
        }
        guard let store else {
          // A number that was given up.
          position -= 1
          continue
        }
        let place = store.numbers.place(from: position) - 1
        position = place < 0 ? store.numbers.first : store.numbers.number(at: place)
        if place >= 0 { return Record(store: store, index: place) }
      }
      return nil
    }

    /// The records that the one before a position is among; nil if no such record was ever there. If it was lost, the
    /// error says so, and the cursor stands before those that were lost.
    private mutating func storeBefore(_ position: Int, _ file: LogFile, _ tail: Tail) throws -> RecordStore? {
      let met = DamageReport()
      var walk = log.cursor(over: file, from: position - 1, tail, noting: met)
      let store = walk.firstStore()
      if let store, store.numbers.first < position { return store }
      guard let damage = met.list.first(where: { $0.records.contains(position - 1) }) else { return nil }
      self.position = damage.records.lowerBound
      throw RecordLogError(file: log.path, offset: damage.bytes.lowerBound, .damaged(damage))
    }

    /// What there is to read, since the first step.
    private mutating func seen() throws -> (file: LogFile, tail: Tail) {
      if let snapshot { return snapshot }
      let snapshot = try log.flushedSnapshot()
      self.snapshot = snapshot
      return snapshot
    }

    /// The error that says that records were lost; the cursor stands after them then.
    private mutating func passing(_ damage: Damage) -> RecordLogError {
      position = max(position, damage.records.upperBound)
      return RecordLogError(file: log.path, offset: damage.bytes.lowerBound, .damaged(damage))
    }
  }

  /// A cursor before the record of a number.
  ///
  /// ```swift
  /// var cursor = log.cursor(from: 1_000)
  /// while let record = try cursor.next() { handle(try record.decode(Event.self)) }
  /// ```
  ///
  /// - Parameter number: 0 for the beginning, ``count`` for the end. Any other number stands for the nearer of both.
  public func cursor(from number: Int = 0) -> Cursor { Cursor(self, at: max(0, number)) }

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
  public var isEmpty: Bool { count == 0 }
}
