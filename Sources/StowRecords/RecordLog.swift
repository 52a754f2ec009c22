import Stow
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An append-only file of records: any `Encodable` values, each of which can be read back by its number. A
/// log may also be a folder of such files, its segments, the oldest of which can be removed.
///
/// ```swift
/// let log = try RecordLog(at: url)
/// try log.append(event)
/// try log.synchronize()
///
/// for record in log.records {
///   let event = try record.decode(Event.self)
/// }
/// let event = try log.decode(Event.self, at: 1_234)
/// ```
///
/// - **Crashes.** What was synchronized is there after a crash, in order. Every other record is whole or
///   absent. Opening the log again takes no longer for a large file than for a small one.
/// - **Damage.** Every part of the file has a checksum. A damaged part costs at most the rest of its block of 64 KB and
///   the records that reach into it. It is skipped and reported in ``RecordLogReader/damage``; nothing that is whole is
///   ever cut off, and every record keeps its number.
/// - **One writer, many readers.** A log is opened for appending by one `RecordLog` at a time, in all processes. Any
///   number of ``RecordLogReader``s read it meanwhile, and see whole records only.
/// - **Child processes.** A child that `fork` makes of the writer's process cannot append, and leaves the log
///   to its parent.
/// - **Threads.** A log may be used from many threads at once. An `encode(to:)` that a log is running, the iterator of
///   a sequence that is being appended, and the closure of ``compact(keeping:)`` must not use the same log: calls that
///   throw then throw `usedWithin`, and others stop the program.
///
/// Format/Logs.md specifies the bytes.
public final class RecordLog: RecordLogReader, @unchecked Sendable {
  let durability: Durability
  let retention: Retention
  /// The size in bytes after which the next segment is begun; nil for a log in one file.
  let segmentSize: Int?
  /// The lock of the folder, for a log of segments.
  let folderLock: (any DiskFile)?
  let options: WritingOptions
  /// Used only under the lock of the state.
  let encoder: RecordEncoder

  /// How many records are on the disk; nil before the first synchronization, when the file may have records
  /// that were never synchronized. The lock is held while the disk synchronizes, so that whoever waits for it
  /// finds the work done. Where both are held, it is taken before that of `state`.
  let synchronization = Mutex<Int?>(nil)
  /// The thread that waits for the disk or closes the log, or 0: a signal may have it end the process meanwhile.
  let busyThread = Atomic<UInt>(0)
  /// Held while segments are compacted. Taken before `synchronization` and `state`.
  let compaction = Mutex<Void>(())
  let compactor = LockHolder()
  /// What closing has led to. Held while the log is closed, so that every call of `close` returns once it is. Taken
  /// before `synchronization` and `state`.
  let closing = Mutex<Result<Void, any Error>?>(nil)
  /// Runs what is written later, in the background.
  let writingCalls = BlockingCalls()
  /// The records that tasks wait for.
  let durableWishes = DurableWishes()

  /// Opens a log for appending, or creates it.
  ///
  /// Cuts off the torn end that a crash has left, which contains nothing whole: see ``RecordLogReader/recovery``. More
  /// than a crash leaves stays, as damage. Reads the first and the last block, whatever the size of the file, and
  /// others only if these are damaged or belong to an unfinished record.
  ///
  /// ```swift
  /// let log = try RecordLog(at: URL(filePath: "events.stowlog"), durability: .everyAppend)
  /// ```
  ///
  /// With a segment size, or if the URL is already such a folder, the log is a folder of segments: files
  /// named by the numbers of their first records. Opening it reads only the names in the folder, the last
  /// segment, and the log that the one before it names. Files that are not segments are left alone.
  ///
  /// ```swift
  /// let log = try RecordLog(at: folder, segmentSize: 64 << 20, retention: .bytes(10 << 30))
  /// ```
  ///
  /// - Parameters:
  ///   - url: A file or a folder, in an existing folder.
  ///   - segmentSize: The approximate size of a segment in bytes, at least 64 KB: the next one is begun after
  ///     it, and after a group or record that goes beyond it. Nil for a file; for an existing folder of
  ///     segments nil means 64 MiB.
  ///   - retention: Which of the oldest segments are removed, when the log is opened and when a segment is
  ///     begun; by default none. It has no effect on a log in one file.
  ///   - encoder: Encodes the records. Its options apply, its context does not.
  ///   - decoder: Decodes the records, with its options.
  ///   - durability: When records are brought to the disk; by default within a second.
  ///   - maximumRecordSize: The most bytes that an encoded record may have, in appending and in reading; 1 GiB by
  ///     default.
  ///   - packing: Whether the texts of records are packed when they are appended; by default they are not.
  ///   - cacheSize: The approximate limit in bytes for what is remembered of blocks whose records are looked
  ///     up by number: some 10 to 50 KB for a block of 64 KB. 16 MiB by default.
  /// - Throws: `RecordLogError`: `inUse` if there is another writer, `notALog` if the file is neither a log
  ///   nor empty (it is left as it is), `notAFolder` if segments are asked for and the URL is a file, `replaced`
  ///   if the last segment in a folder belongs to another log (it is left as it is).
  public convenience init(
    at url: URL, segmentSize: Int? = nil, retention: Retention = [], encoder: StowEncoder = StowEncoder(),
    decoder: StowDecoder = StowDecoder(), durability: Durability = .interval(.seconds(1)),
    maximumRecordSize: Int = 1 << 30, packing: Packing = .none, cacheSize: Int = 1 << 24
  ) throws {
    try self.init(
      at: Self.path(of: url), on: SystemDisk(), segmentSize: segmentSize, retention: retention,
      encoder: encoder, decoder: decoder, durability: durability, maximumRecordSize: maximumRecordSize,
      packing: packing, cacheSize: cacheSize)
  }

  init(
    at path: String, on disk: any Disk, segmentSize: Int? = nil, retention: Retention = [],
    encoder: StowEncoder = StowEncoder(), decoder: StowDecoder = StowDecoder(),
    durability: Durability = .manual, maximumRecordSize: Int = 1 << 30, packing: Packing = .none,
    cacheSize: Int = 1 << 24, identity: UInt64 = .random(in: .min ... .max)
  ) throws {
    let options = WritingOptions(maximumRecordSize: maximumRecordSize, packing: packing)
    let opening = LogOpening(disk: disk, path: path, options: options, identity: identity)
    let opened = try opening.forAppending(inFolder: segmentSize != nil)
    self.durability = durability
    self.retention = retention
    self.options = options
    self.encoder = RecordEncoder(encoder)
    folderLock = opened.folderLock
    let files = SegmentFiles(disk, path, isFolder: folderLock != nil)
    self.segmentSize = files.isFolder ? max(BlockHead.blockSize, segmentSize ?? 64 << 20) : nil
    let writer = opened.writer
    super.init(
      path, disk, files, decoder, maximumRecordSize, cacheSize, opened.recovery,
      LogState(segments: opened.segments, file: writer.file, tail: writer.tail, writer: writer))
    self.state.withLock { removeOutdated(&$0) }
    OpenLogs.add(self)
  }

  /// Synchronizes the log and releases its lock, so that another writer may open it. Closing again does
  /// nothing, and throws the same error. Records can still be read.
  ///
  /// - Throws: `RecordLogError`, also for earlier errors in the background. The log is closed even so, and
  ///   what could not be written is lost.
  public override func close() throws {
    try checkUse(of: stateHolder)
    try closing.withLock { result in
      busyThread.store(SystemDisk.thread, ordering: .relaxed)
      defer { busyThread.store(0, ordering: .relaxed) }
      let known = result ?? Result { try closeWriting() }
      result = known
      try known.get()
    }
  }

  /// Closes the log as ``close()`` does, without reporting errors: a deinitializer cannot throw.
  deinit {
    OpenLogs.remove(self)
    try? close()
  }
}

/// What a log knows about its file. Used under a lock.
struct LogState: Sendable {
  /// In the order of their numbers; the last one is `file`.
  var segments: [Segment]
  var file: LogFile
  /// How far the file reached when a reader last looked at it.
  var tail: Tail
  /// The last change of the file that a reader saw; nil if another change could look like that one.
  var tailChange: UInt64?
  /// Nil for a reader, and once the log is closed.
  var writer: LogWriter?
  /// When a reader last listed the segments.
  var listed = ContinuousClock.now
  /// For a reader of one file that was at its path: when the file had changed, and until when that is trusted.
  var settled: (change: UInt64, end: ContinuousClock.Instant)?
  /// Whether a crash may bring back the segment that was removed last.
  var hasRemoved = false
  var isClosed = false
  var isWritingScheduled = false
  /// An error of work in the background; the next call throws it.
  var lateError: RecordLogError?
  var followers = FollowersOfLog()
  var onBackgroundError: (@Sendable (RecordLogError) -> Void)?
  /// The last error that no call throws, until there is somebody to report it to.
  var untoldError: RecordLogError?
}

/// The thread that runs code of the caller while it holds a lock, as an `encode(to:)`.
struct LockHolder: ~Copyable, Sendable {
  private let thread = Atomic<UInt>(0)

  var isThisThread: Bool { thread.load(ordering: .relaxed) == SystemDisk.thread }

  func begin() { thread.store(SystemDisk.thread, ordering: .relaxed) }

  func end() { thread.store(0, ordering: .relaxed) }
}

extension LogState {
  func snapshot(_ files: SegmentFiles) -> LogSnapshot { LogSnapshot(segments, file, writer?.tail ?? tail, files) }
}

// MARK: - Options and counters

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

extension RecordLog {
  /// Whether the texts of records are packed when they are appended.
  ///
  /// Any log can be read, and appended to with or without packing: each record says whether it is packed.
  ///
  /// ```swift
  /// let log = try RecordLog(at: url, packing: .words)
  /// ```
  ///
  /// Later versions may add cases, so a `switch` over them has a `default`.
  public enum Packing: Sendable, Hashable {
    /// Records are written as they are encoded.
    case none
    /// Words that also occur in the first records of a block are written as references to them. Logs with
    /// much text become smaller, and appending takes longer.
    case words
  }
}

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
      appended: options.counts.appended.load(ordering: .relaxed),
      writtenBytes: options.counts.writtenBytes.load(ordering: .relaxed),
      synchronizations: options.counts.synchronizations.load(ordering: .relaxed), damage: damageReport.count)
  }
}

/// The counters of a log while they grow.
final class LogCounts: Sendable {
  let appended = Atomic<Int>(0)
  let writtenBytes = Atomic<Int>(0)
  let synchronizations = Atomic<Int>(0)
}
