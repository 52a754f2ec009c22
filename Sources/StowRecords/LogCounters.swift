import Synchronization

extension RecordLog {
  /// What a log has done since it was opened: numbers that only grow, as counters of metrics do.
  ///
  /// ```swift
  /// let counters = log.counters
  /// print(counters.appended, counters.synchronizations)
  /// ```
  public struct Counters: Hashable, Sendable {
    /// How many records were appended.
    public let appended: Int
    /// How many bytes were written to files, those of compacted ones included.
    public let writtenBytes: Int
    /// How often the disk has synchronized what was written.
    public let synchronizations: Int
    /// How many damaged parts reading has met: as many as ``RecordLogReader/damage`` has.
    public let damage: Int
  }

  /// What this log has done since it was opened. Takes constant time, and does not wait for writers.
  public var counters: Counters {
    Counters(
      appended: counts.appended.load(ordering: .relaxed),
      writtenBytes: counts.writtenBytes.load(ordering: .relaxed),
      synchronizations: counts.synchronizations.load(ordering: .relaxed), damage: damageReport.count)
  }
}

/// The counters of a log while they grow.
final class LogCounts: Sendable {
  let appended = Atomic<Int>(0)
  let writtenBytes = Atomic<Int>(0)
  let synchronizations = Atomic<Int>(0)
}
