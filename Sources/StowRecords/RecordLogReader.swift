import Stow
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A log that is opened for reading, beside its writer in this or another process.
///
/// ```swift
/// let reader = try RecordLogReader(at: url)
/// for record in reader.records {
///   let event = try record.decode(Event.self)
/// }
/// ```
///
/// A reader sees the records that are written, including later ones. When the writer compacts the log, the
/// reader switches to the new file; when the writer removes segments, the reader begins with the first one
/// left. Any number of readers may be open, and one may be used from many threads at once.
///
/// If the file is removed, the reader keeps it. If another log takes its place, whatever looks for new records
/// and can throw, as a cursor and ``follow(from:)`` do, throws an error with the reason `replaced`; ``count``,
/// ``records`` and ``record(at:)`` stay with the records that there were. Open another reader for the other log.
///
/// A ``RecordLog`` is a reader too, so that a function which only reads takes either.
public class RecordLogReader: @unchecked Sendable {
  // Unchecked because the class is not final. All its properties are constant and `Sendable`.
  /// The path of the file or folder.
  let path: String
  let disk: any Disk
  let files: SegmentFiles
  let maximumRecordSize: Int
  let decoder: StowDecoder

  /// What opening the log found after the last record that is whole.
  ///
  /// ```swift
  /// if !log.recovery.bytes.isEmpty { print(log.recovery) }
  /// ```
  public let recovery: RecordLog.Recovery

  let damageReport = DamageReport()
  let knownRecords: KnownRecords
  let state: Mutex<LogState>

  /// Opens a log for reading.
  ///
  /// ```swift
  /// let reader = try RecordLogReader(at: url)
  /// print(reader.count)
  /// ```
  ///
  /// - Parameters:
  ///   - url: A log: a file, or a folder of segments.
  ///   - decoder: Decodes the records, with its options.
  ///   - maximumRecordSize: The most bytes of a record that is assembled from several blocks of 64 KB; larger
  ///     ones are reported as damage. 1 GiB by default.
  ///   - cacheSize: The approximate limit in bytes for what is remembered of blocks whose records are looked
  ///     up by number. 16 MiB by default.
  /// - Throws: `RecordLogError`: `notALog` if the file is something else, or the folder has no segments.
  public convenience init(
    at url: URL, decoder: StowDecoder = StowDecoder(), maximumRecordSize: Int = 1 << 30,
    cacheSize: Int = 1 << 24
  ) throws {
    try self.init(
      at: Self.path(of: url), on: SystemDisk(), decoder: decoder, maximumRecordSize: maximumRecordSize,
      cacheSize: cacheSize)
  }

  convenience init(
    at path: String, on disk: any Disk, decoder: StowDecoder = StowDecoder(),
    maximumRecordSize: Int = 1 << 30,
    cacheSize: Int = 1 << 24
  ) throws {
    let isFolder = try RecordLogError.naming(path) { try disk.status(of: path)?.isFolder ?? false }
    let files = SegmentFiles(disk, folder: isFolder ? path : nil)
    let opening = LogOpening(disk: disk, path: path)
    let (segments, file) = try isFolder ? opening.segmentsForReading(files) : opening.forReading()
    let tail = try file.tailForReading()
    self.init(
      path, disk, files, decoder, maximumRecordSize, cacheSize, tail.recovery,
      LogState(
        segments: segments, file: file, tail: tail, writer: nil, encoder: UnsharedEncoder(StowEncoder())))
  }

  init(
    _ path: String, _ disk: any Disk, _ files: SegmentFiles, _ decoder: StowDecoder, _ maximumRecordSize: Int,
    _ cacheSize: Int, _ recovery: RecordLog.Recovery, _ state: sending LogState
  ) {
    self.path = path
    self.disk = disk
    self.files = files
    self.decoder = decoder
    self.maximumRecordSize = maximumRecordSize
    self.recovery = recovery
    knownRecords = KnownRecords(limit: cacheSize)
    self.state = Mutex(state)
  }

  /// Ends following, and stops looking for new records. Existing ones can still be read.
  ///
  /// - Throws: Nothing, unless this is a log that is open for appending: see ``RecordLog/close()``.
  public func close() throws {
    state.withLock { state in
      state.isClosed = true
      state.followers.wake()
    }
  }

  /// Returns the path with all links resolved: renaming a new file over a link would leave the old file where
  /// it is.
  static func path(of url: URL) -> String {
    var path = url.resolvingSymlinksInPath().path(percentEncoded: false)
    // A link to a file that does not exist yet is still unresolved. Links may form a cycle.
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
      let folder = URL(filePath: path).deletingLastPathComponent()
      path = URL(filePath: target, relativeTo: folder).resolvingSymlinksInPath().path(percentEncoded: false)
    }
    // The path of a folder ends in a slash.
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  func error(_ reason: RecordLogError.Reason) -> RecordLogError { RecordLogError(file: path, reason) }
}
