extension RecordLogReader {
  /// The first record for which a condition holds; nil if it holds for none. Reads all records up to it.
  ///
  /// ```swift
  /// let failure = try log.first { try $0.decode(Event.self).level == .error }
  /// ```
  ///
  /// - Parameters:
  ///   - number: The first number that is looked at; by default the first that there is.
  ///   - isWanted: Whether a record is the one that is looked for.
  /// - Throws: As ``Cursor/next()``, also where records were lost, one of which may be the one that is looked for; and what
  ///   `isWanted` throws.
  public func first(from number: Int? = nil, where isWanted: (Record) throws -> Bool) throws -> Record? {
    var cursor = cursor(from: number)
    while let record = try cursor.next() {
      if try isWanted(record) { return record }
    }
    return nil
  }

  /// The number of the first record whose value does not stand before something; ``count`` if all do.
  ///
  /// For values that grow with the numbers, as dates mostly do: from the first for which the closure is false it must be false
  /// for all. Reads about as many records as the number of all can be halved.
  ///
  /// ```swift
  /// let first = try log.partitionPoint { (event: Event) in event.date < morning }
  /// for record in log.records(from: first) { handle(try record.decode(Event.self)) }
  /// ```
  ///
  /// Records that were lost are passed over, and are then in ``damage``.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - isBefore: Whether a value stands before what is looked for.
  /// - Throws: `RecordLogError` if the system cannot read a record; what `Record.decode(_:)` throws, and what `isBefore`
  ///   throws.
  public func partitionPoint<Value: Decodable>(
    of type: Value.Type = Value.self, where isBefore: (Value) throws -> Bool
  ) throws -> Int {
    let snapshot = try flushedSnapshot()
    let met = DamageReport()
    // Those below `low` stand before it. From `middle` on none does, once one was found there that does not.
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

  /// Throws for what could not be read though it may be whole.
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
