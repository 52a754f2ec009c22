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

  /// Returns the number of the first record whose value does not come before what is looked for; ``count`` if
  /// all do.
  ///
  /// A binary search, for values that grow with the numbers, as dates mostly do: once the closure is false
  /// for a record, it must be false for all later ones. Reads about as many records as their number can be
  /// halved.
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
  /// - Throws: `RecordLogError` if the system cannot read a record; what `Record.decode(_:)` throws, and what `isBefore`
  ///   throws.
  public func partitionPoint<Value: Decodable>(
    of type: Value.Type = Value.self, where isBefore: (Value) throws -> Bool
  ) throws -> Int {
    let snapshot = try flushedSnapshot()
    let met = DamageReport()
    // Records below `low` come before it. From `middle` on none does, once one was found there that does not.
    var (low, middle, found) = (snapshot.first, snapshot.tail.count, snapshot.tail.count)
    while low < middle {
      let next = low + (middle - low) / 2
      let record = readRecord(from: next, of: snapshot, noting: met)
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
