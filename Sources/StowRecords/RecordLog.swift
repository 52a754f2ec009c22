import Stow
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file of records that grows at its end: any `Encodable` values, each of which can be read back by its number. A log may
/// also be a folder of such files, its segments, of which the oldest can be removed.
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
/// - **Crashes.** What was synchronized is there after a crash, in its order. Of everything else each record is whole
///   or absent. Opening the log again takes no longer for a large file than for a small one.
/// - **Damage.** Every part of the file has a checksum. A damaged part costs at most the rest of its block of 64 KB and
///   the records that reach into it. It is skipped and reported in ``RecordLogReader/damage``; nothing that is whole is
///   ever cut off, and every record keeps its number.
/// - **One writer, many readers.** A log is opened for appending by one `RecordLog` at a time, in all processes. Any
///   number of ``RecordLogReader``s read it meanwhile, and see whole records only.
/// - **Child processes.** One that `fork` makes of the writer's cannot append, and leaves the log to its parent.
/// - **Threads.** A log may be used from many threads at once. An `encode(to:)` that a log is running, the iterator of
///   a sequence that is being appended, and the closure of ``compact(keeping:)`` must not use the same log.
///
/// Format/Logs.md specifies the bytes.
public final class RecordLog: RecordLogReader, @unchecked Sendable {
  let durability: Durability
  let retention: Retention
  /// After how many bytes the next segment is begun; nil for a log in one file.
  let segmentSize: Int?
  /// The lock of the folder, for a log of segments.
  let folderLock: (any DiskFile)?
  let counts = LogCounts()
  let packing: Packing

  /// How many records are on the disk; nil before the first synchronization, when the file may have some that nobody
  /// brought there. Held while something is brought to the disk, so that whoever comes meanwhile finds it done. Taken
  /// before that of `state` where both are.
  let synchronization = Mutex<Int?>(nil)
  /// Held while segments are compacted. Taken before all others.
  let compaction = Mutex<Void>(())
  /// What is written later, without anybody who waits for it.
  let writingCalls = BlockingCalls()
  /// What tasks wait for.
  let durableWishes = DurableWishes()

  /// Opens a log for appending, or makes it.
  ///
  /// Cuts off what a crash has left torn at the end, of which nothing is whole: see ``RecordLogReader/recovery``. Reads the
  /// first and the last block, whatever the size of the file, and further ones only if these are damaged or belong to a
  /// record that is not finished.
  ///
  /// ```swift
  /// let log = try RecordLog(at: URL(filePath: "events.stowlog"), durability: .everyAppend)
  /// ```
  ///
  /// With a segment size, or where the URL is such a folder, the log is a folder of segments, whose files are named by the numbers of
  /// their first records. Opening it looks at the names in the folder, at the last segment, and at the log that the one before it
  /// names. Files that are no segments are left alone.
  ///
  /// ```swift
  /// let log = try RecordLog(at: folder, segmentSize: 64 << 20, retention: .bytes(10 << 30))
  /// ```
  ///
  /// - Parameters:
  ///   - url: A file or a folder, in a folder that is there.
  ///   - segmentSize: About how many bytes a segment has: the next one is begun after them, and after a group or record that
  ///     goes beyond. At least 64 KB. Nil for a file, and 64 MiB for a folder.
  ///   - retention: Which of the oldest segments are removed, when the log is opened and when a segment is begun; by default
  ///     none. It means nothing for a log in one file.
  ///   - encoder: Encodes the records, with its options but without its context.
  ///   - decoder: Decodes the records, with its options.
  ///   - durability: When records are brought to the disk; by default within a second.
  ///   - maximumRecordSize: The most bytes that an encoded record may have, in appending and in reading; 1 GiB by
  ///     default.
  ///   - packing: Whether the texts of records are packed when they are appended; by default they are not.
  ///   - cacheSize: The most bytes of memory, about, for what is remembered of the blocks of records that are looked up by
  ///     their numbers: some 10 to 50 KB for a block of 64 KB. 16 MiB by default.
  /// - Throws: `RecordLogError`: `inUse` if there is another writer, `notALog` if there is something else than a log or
  ///   an empty file, which is then left as it is, `notAFolder` if segments are asked for and there is a file, `replaced` if the last segment in a folder is one of
  ///   another log, which is then left as it is.
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
    let options = WritingOptions(maximumRecordSize: maximumRecordSize, packing: packing, counts: counts)
    let opening = LogOpening(disk: disk, path: path, options: options, identity: identity)
    let opened = try opening.forAppending(inFolder: segmentSize != nil)
    self.durability = durability
    self.retention = retention
    self.packing = packing
    folderLock = opened.folderLock
    let isFolder = folderLock != nil
    self.segmentSize = isFolder ? max(BlockHead.blockSize, segmentSize ?? 64 << 20) : nil
    let files = SegmentFiles(disk, folder: isFolder ? path : nil)
    let writer = opened.writer
    super.init(
      path, disk, files, decoder, maximumRecordSize, cacheSize, opened.recovery,
      LogState(
        segments: opened.segments, file: writer.file, tail: writer.tail, writer: writer,
        encoder: UnsharedEncoder(encoder)))
    self.state.withLock { removeOutdated(&$0) }
    OpenLogs.add(self)
  }

  /// Synchronizes and lets go of the lock, so that another writer may open the log. Closing again does nothing.
  /// Records can still be read.
  ///
  /// - Throws: `RecordLogError`, also for what went wrong in the background. The log is closed even so, and what could
  ///   not be written is lost.
  public override func close() throws { try closeWriting() }

  /// Closes the log as ``close()`` does; nobody is there whom errors could be thrown to.
  deinit {
    OpenLogs.remove(self)
    try? close()
  }
}

/// What a log knows of its file. Used under a lock.
struct LogState: Sendable {
  /// In the order of their numbers; the last one is `file`.
  var segments: [Segment]
  var file: LogFile
  /// For a reader: how far the file went when it was last looked at.
  var tail: Tail
  /// Nil for a reader, and once the log is closed.
  var writer: LogWriter?
  let encoder: UnsharedEncoder
  /// When a reader has looked which segments there are.
  var listed = ContinuousClock.now
  /// For a reader of one file that was at its path: when the file had changed, and until when that is believed.
  var settled: (change: UInt64, end: ContinuousClock.Instant)?
  var isClosed = false
  var isWritingScheduled = false
  /// What went wrong while nobody waited; the next call throws it.
  var lateError: RecordLogError?
  var followers = FollowersOfLog()
  var onBackgroundError: (@Sendable (RecordLogError) -> Void)?
}

extension LogState {
  func snapshot(_ files: SegmentFiles) -> LogSnapshot {
    LogSnapshot(segments, file, writer?.tail ?? tail, files)
  }
}

/// An encoder that is only used under the lock of its log.
struct UnsharedEncoder: @unchecked Sendable {
  let encoder: RecordEncoder

  init(_ encoder: StowEncoder) { self.encoder = RecordEncoder(encoder) }
}
