extension RecordLogReader {
  /// The number of records, lost ones included: the number that the next record gets. For a reader, of the records
  /// that are written whole.
  ///
  /// Takes a system call or two for a reader, and none for a writer.
  public var count: Int {
    state.withLock { state in
      if let writer = state.writer { return writer.count }
      refresh(&state)
      return state.tail.count
    }
  }

  /// All records that there are now and that can be read, in their order. What cannot be read, also because the system
  /// fails to, is passed over without an error, and is then in ``damage``: look there after reading.
  ///
  /// A sequence that is read lazily, and as often as you like, with memory for one block.
  ///
  /// ```swift
  /// for record in log.records {
  ///   let event = try record.decode(Event.self)
  /// }
  /// ```
  public var records: Records { records(from: 0) }

  /// The records that there are now, from a number on. Those before it are not read, except some in the same block.
  ///
  /// - Parameter number: 0 or more. Without a record of this number the sequence is empty.
  public func records(from number: Int) -> Records {
    let (file, tail) = snapshot()
    return Records(log: self, file: file, tail: tail, start: max(0, number))
  }

  /// Decodes one record, without reading what is before its block.
  ///
  /// Reads some 32 bytes for each doubling of the file's size, and the block that the record is in. What was found out
  /// about a block is remembered, within the `cacheSize` of the log, so that the next record of the same block takes one
  /// or two kilobytes, and mostly a tenth of the time.
  ///
  /// ```swift
  /// let event = try log.decode(Event.self, at: 1_234)
  /// ```
  ///
  /// - Throws: `RecordLogError`: `noSuchRecord`, also if a compaction has left it out, or `damaged` if the record was
  ///   lost; what `Record.decode(_:)` throws.
  public func decode<Value: Decodable>(_ type: Value.Type, at number: Int) throws -> Value {
    try record(at: number).decode(type)
  }

  /// One record, as `decode(_:at:)` finds it.
  ///
  /// - Throws: `RecordLogError`: `noSuchRecord`, or `damaged` if the record was lost.
  public func record(at number: Int) throws -> Record {
    let (file, tail) = snapshot(with: number)
    guard number >= 0, number < tail.count else { throw error(.noSuchRecord(number, count: tail.count)) }
    return try record(at: number, of: file, tail)
  }

  /// A record of a file, which has that many.
  func record(at number: Int, of file: LogFile, _ tail: Tail) throws -> Record {
    let met = DamageReport()
    let record = readRecord(from: number, of: file, tail, noting: met)
    if let record, record.number == number { return record }
    throw lack(of: number, met, tail)
  }

  /// The first record from a number on that can be read; nil if there is none. Its block is remembered.
  func readRecord(from number: Int, of file: LogFile, _ tail: Tail, noting met: DamageReport) -> Record? {
    if let record = knownRecords.record(number, of: file) { return record }
    var cursor = cursor(over: file, from: number, tail, noting: met)
    guard let record = cursor.nextRecord() else { return nil }
    return cursor.knownRun.flatMap { knownRecords.record(record.number, in: $0.block, $0.run) } ?? record
  }

  /// Why there is no record of a number.
  private func lack(of number: Int, _ met: DamageReport, _ tail: Tail) -> RecordLogError {
    guard let damage = met.list.first(where: { $0.records.contains(number) }) else {
      return error(.noSuchRecord(number, count: tail.count))
    }
    return RecordLogError(file: path, offset: damage.bytes.lowerBound, .damaged(damage))
  }

  /// The damaged parts that reading this log has met and passed over so far, in the order of the file. ``verify()``
  /// looks for all of them.
  public var damage: [Damage] { damageReport.list }

  /// Reads the whole log and returns its damaged parts; none if it is whole.
  ///
  /// What stands after the last whole record is not damage: see ``recovery``.
  ///
  /// ```swift
  /// for damage in try log.verify() { print(damage) }
  /// ```
  ///
  /// - Throws: `RecordLogError` if the log cannot be read at all.
  public func verify() throws -> [Damage] {
    let (file, tail) = try flushedSnapshot()
    let met = DamageReport()
    var cursor = cursor(over: file, from: 0, tail, noting: met)
    while cursor.nextRecord() != nil {}
    return met.list
  }

  // MARK: - What there is

  /// A walk over the records of a file, whose damage becomes known to this log, and to whoever asks for this walk
  /// alone.
  func cursor(
    over file: LogFile, from number: Int, _ tail: Tail, noting met: DamageReport? = nil
  ) -> RecordCursor {
    RecordCursor(file, from: number, tail, maximumRecordSize: maximumRecordSize, decoder, damageReport, met)
  }

  /// The file, and how far it goes now. What was appended is written first, unless only a record is wanted that is
  /// written already.
  func snapshot(with number: Int = .max) -> (file: LogFile, tail: Tail) {
    state.withLock { state in
      guard let writer = state.writer else {
        refresh(&state)
        return (state.file, state.tail)
      }
      // What cannot be written now is kept, and the next call that writes throws.
      if !(0..<writer.written).contains(number) { try? writer.flush() }
      return (state.file, writer.tail)
    }
  }

  /// The same, and throws if a reader cannot find out how far the file goes.
  func flushedSnapshot() throws -> (file: LogFile, tail: Tail) {
    try state.withLock { state in
      try? state.writer?.flush()
      if state.writer == nil { try update(&state) }
      return (state.file, state.writer?.tail ?? state.tail)
    }
  }

  /// Looks how far the file goes now. If that cannot be found out, what was known stays.
  private func refresh(_ state: inout LogState) { try? update(&state) }

  /// The same, and throws.
  func update(_ state: inout LogState) throws {
    guard !state.isClosed else { return }
    try followReplacement(&state)
    let size = try state.file.size()
    if size != state.tail.size || state.tail.end != size { state.tail = try state.file.tailForReading() }
  }

  /// Goes over to the file that a compaction has put in the place of this one.
  private func followReplacement(_ state: inout LogState) throws {
    let place = try RecordLogError.naming(path) { try disk.place(of: path) }
    guard let place, try RecordLogError.naming(path, { try state.file.disk.status().place }) != place else {
      return
    }
    let file = try LogOpening(disk: disk, path: path).forReading()
    (state.file, state.tail) = (file, try file.tailForReading())
  }
}
