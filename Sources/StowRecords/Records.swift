extension RecordLog {
  /// The records of a log that can be read, as they were when this was made; ``RecordLog/damage`` has the others.
  public struct Records: Sequence, Sendable {
    let log: RecordLog
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
}
