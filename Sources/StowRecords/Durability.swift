extension RecordLog {
  /// When appended records are written to the file and brought to the disk.
  ///
  /// Records that were appended and not yet written are in the memory of the process, and are lost if it is killed.
  /// Records that are written and not yet synchronized survive the process, and are lost if the system stops, as in a
  /// power failure.
  ///
  /// ```swift
  /// let log = try RecordLog(at: url, durability: .interval(.milliseconds(200)))
  /// ```
  ///
  /// Later versions may add cases, so a `switch` over them has a `default`.
  public enum Durability: Hashable, Sendable {
    /// `append` returns when the record is on the disk. Nothing that was appended is lost. Threads that append at the
    /// same time share one synchronization.
    case everyAppend
    /// Appended records are on the disk within this time. If the process is killed or the system stops, what
    /// was appended within it is lost.
    case interval(Duration)
    /// Records are written when a block of 64 KB is full, and when they are read, flushed or synchronized; they are
    /// brought to the disk by `synchronize()` and `close()` only. A process that is killed loses less than a block; a
    /// system that stops may lose everything since the last synchronization.
    case manual
  }
}
