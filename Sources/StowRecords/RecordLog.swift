import Stow
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file of records that grows at its end: any `Encodable` values, each of which can be read back by its number.
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
///   the records that reach into it. It is skipped and reported in ``damage``; nothing that is whole is ever cut off, and
///   every record keeps its number.
/// - **One writer, many readers.** A log is opened for appending by one `RecordLog` at a time, in all processes. Any
///   number of others read it meanwhile, and see whole records only.
/// - **Threads.** A log may be used from many threads at once. An `encode(to:)` that a log is running, the iterator of
///   a sequence that is being appended, and the closure of ``compact(keeping:)`` must not use the same log.
///
/// FORMAT.md, "Logs", specifies the bytes.
public final class RecordLog: Sendable {
  let path: String
  let disk: any Disk
  let durability: Durability
  let maximumRecordSize: Int
  let packing: Packing
  let decoder: StowDecoder

  /// What opening the log found after the last record that is whole.
  ///
  /// ```swift
  /// if !log.recovery.bytes.isEmpty { print(log.recovery) }
  /// ```
  public let recovery: Recovery

  let damageReport = DamageReport()
  let knownRecords: KnownRecords
  let state: Mutex<LogState>
  /// How many records are on the disk; nil before the first synchronization, when the file may have some that nobody
  /// brought there. Held while something is brought to the disk, so that whoever comes meanwhile finds it done. Taken
  /// before that of `state` where both are.
  let synchronization = Mutex<Int?>(nil)
  /// What is written later, without anybody who waits for it.
  let writingCalls = BlockingCalls()
  /// What tasks wait for.
  let durableWishes = DurableWishes()

  /// Opens a log for appending, or makes it.
  ///
  /// Cuts off what a crash has left torn at the end, of which nothing is whole: see ``recovery``. Reads the first and the
  /// last block, whatever the size of the file, and further ones only if these are damaged or belong to a record that is
  /// not finished.
  ///
  /// ```swift
  /// let log = try RecordLog(at: URL(filePath: "events.stowlog"), durability: .everyAppend)
  /// ```
  ///
  /// - Parameters:
  ///   - url: A file, in a folder that is there.
  ///   - encoder: Encodes the records, with its options but without its context.
  ///   - decoder: Decodes the records, with its options.
  ///   - durability: When records are brought to the disk; by default within a second.
  ///   - maximumRecordSize: The most bytes that an encoded record may have, in appending and in reading; 1 GiB by
  ///     default.
  ///   - packing: Whether the texts of records are packed when they are appended; by default they are not.
  ///   - cacheSize: The most bytes of memory, about, for what is remembered of the blocks of records that are looked up by
  ///     their numbers: some 10 to 50 KB for a block of 64 KB. 16 MiB by default.
  /// - Throws: `RecordLogError`: `inUse` if there is another writer, `notALog` if there is something else than a log or
  ///   an empty file, which is then left as it is.
  public convenience init(
    at url: URL, encoder: StowEncoder = StowEncoder(), decoder: StowDecoder = StowDecoder(),
    durability: Durability = .interval(.seconds(1)), maximumRecordSize: Int = 1 << 30,
    packing: Packing = .none, cacheSize: Int = 1 << 24
  ) throws {
    try self.init(
      at: Self.path(of: url), on: SystemDisk(), encoder: encoder, decoder: decoder, durability: durability,
      maximumRecordSize: maximumRecordSize, packing: packing, cacheSize: cacheSize)
  }

  /// Opens a log for reading, beside its writer in this or another process.
  ///
  /// It sees the records that are written, and those that are written later. Appending throws. When the writer has
  /// compacted the log, the reader goes over to the new file.
  ///
  /// ```swift
  /// let reader = try RecordLog(readingFrom: url)
  /// print(reader.count)
  /// ```
  ///
  /// - Parameters:
  ///   - url: A log.
  ///   - decoder: Decodes the records, with its options.
  ///   - maximumRecordSize: The most bytes of a record that is put together from several blocks of 64 KB; larger ones
  ///     are reported as damage. 1 GiB by default.
  ///   - cacheSize: The most bytes of memory, about, for what is remembered of the blocks of records that are looked up by
  ///     their numbers. 16 MiB by default.
  /// - Throws: `RecordLogError`: `notALog` if the file is something else.
  public convenience init(
    readingFrom url: URL, decoder: StowDecoder = StowDecoder(), maximumRecordSize: Int = 1 << 30,
    cacheSize: Int = 1 << 24
  ) throws {
    try self.init(
      readingFrom: Self.path(of: url), on: SystemDisk(), decoder: decoder,
      maximumRecordSize: maximumRecordSize, cacheSize: cacheSize)
  }

  init(
    at path: String, on disk: any Disk, encoder: StowEncoder = StowEncoder(),
    decoder: StowDecoder = StowDecoder(), durability: Durability = .manual, maximumRecordSize: Int = 1 << 30,
    packing: Packing = .none, cacheSize: Int = 1 << 24, identity: UInt64 = .random(in: .min ... .max)
  ) throws {
    let options = WritingOptions(maximumRecordSize: maximumRecordSize, packing: packing)
    let opening = LogOpening(disk: disk, path: path, options: options, identity: identity)
    let (writer, recovery) = try opening.forAppending()
    self.path = path
    self.disk = disk
    self.durability = durability
    self.maximumRecordSize = maximumRecordSize
    self.packing = packing
    self.decoder = decoder
    self.recovery = recovery
    knownRecords = KnownRecords(limit: cacheSize)
    state = Mutex(
      LogState(file: writer.file, tail: writer.tail, writer: writer, encoder: UnsharedEncoder(encoder)))
    OpenLogs.add(self)
  }

  init(
    readingFrom path: String, on disk: any Disk, decoder: StowDecoder = StowDecoder(),
    maximumRecordSize: Int = 1 << 30, cacheSize: Int = 1 << 24
  ) throws {
    let file = try LogOpening(disk: disk, path: path).forReading()
    let tail = try file.tailForReading()
    self.path = path
    self.disk = disk
    durability = .manual
    self.maximumRecordSize = maximumRecordSize
    packing = .none
    self.decoder = decoder
    recovery = tail.recovery
    knownRecords = KnownRecords(limit: cacheSize)
    state = Mutex(LogState(file: file, tail: tail, writer: nil, encoder: UnsharedEncoder(StowEncoder())))
  }

  /// Closes the log as ``close()`` does; nobody is there whom errors could be thrown to.
  deinit {
    OpenLogs.remove(self)
    try? close()
  }

  /// The path that all links lead to: renaming a new file over a link would leave the old file where it is.
  private static func path(of url: URL) -> String {
    var path = url.resolvingSymlinksInPath().path(percentEncoded: false)
    // Of a link to a file that is still to be made, that leaves the link. Links may lead to each other.
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
      let folder = URL(filePath: path).deletingLastPathComponent()
      path = URL(filePath: target, relativeTo: folder).resolvingSymlinksInPath().path(percentEncoded: false)
    }
    return path
  }

  func error(_ reason: RecordLogError.Reason) -> RecordLogError { RecordLogError(file: path, reason) }
}

/// What a log knows of its file. Used under a lock.
struct LogState: Sendable {
  var file: LogFile
  /// For a reader: how far the file went when it was last looked at.
  var tail: Tail
  /// Nil for a reader, and once the log is closed.
  var writer: LogWriter?
  let encoder: UnsharedEncoder
  var isClosed = false
  var isWritingScheduled = false
  /// What went wrong while nobody waited; the next call throws it.
  var lateError: RecordLogError?
  var followers = FollowersOfLog()
  var onBackgroundError: (@Sendable (RecordLogError) -> Void)?
}

/// An encoder that is only used under the lock of its log.
struct UnsharedEncoder: @unchecked Sendable {
  let encoder: RecordEncoder

  init(_ encoder: StowEncoder) { self.encoder = RecordEncoder(encoder) }
}
