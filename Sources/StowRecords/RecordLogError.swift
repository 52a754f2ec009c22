#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An error of a log, apart from those of encoding and decoding: which file, where in it, and why.
///
/// ```swift
/// do {
///   log = try RecordLog(at: url)
/// } catch let error as RecordLogError where error.reason == .inUse {
///   reader = try RecordLogReader(at: url)
/// }
/// ```
public struct RecordLogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong. Later versions may add reasons, so a `switch` over them has a `default`.
  public enum Reason: Hashable, Sendable {
    /// The file is not a log, or none of its blocks has a whole head.
    case notALog
    /// The log has a version that this library does not support; the value is that version.
    case unsupportedVersion(Int)
    /// A log of segments was asked for, but there is a file in the place of its folder.
    case notAFolder
    /// Another writer has the log open, in this process or another.
    case inUse
    /// The log was closed.
    case closed
    /// There is no room on the disk. What was appended before is whole, and appending may be tried again.
    case diskFull
    /// A system call failed: what was to be done, and the `errno`.
    case system(operation: String, code: Int32)
    /// Earlier bytes could not be brought to the disk, and it is unknown which of them are there: the system
    /// may keep showing them, and lose them at a restart. Open the log again, and compact it before anything
    /// else: that writes all readable records to a new file.
    case synchronizationFailed
    /// There is no record with this number; the log has `count` records.
    case noSuchRecord(Int, count: Int)
    /// The segment with the record of this number was removed. `first` is the number of the first record that
    /// may be left.
    case removed(Int, first: Int)
    /// The record was lost.
    case damaged(RecordLog.Damage)
    /// The encoded record is larger than `maximumRecordSize`; both in bytes.
    case recordTooLarge(size: Int, limit: Int)
    /// The file of the log is no longer at its path: it was removed or renamed, or another file took its
    /// place. For a reader: that file belongs to another log. For a segment: it does not certainly belong to
    /// this log.
    case replaced
    /// The file is shorter than what was written to it; both in bytes. Somebody else has truncated it.
    case truncated(size: Int, written: Int)
    /// All record numbers are used up.
    case noMoreNumbers
    /// Logs are not supported on this platform.
    case notSupported
  }

  /// The path of the log, or of one of its segments.
  public let file: String
  /// The offset in the file, in bytes, if the error has one.
  public let offset: Int?
  /// What went wrong.
  public let reason: Reason

  init(file: String, offset: Int? = nil, _ reason: Reason) {
    self.file = file
    self.offset = offset
    self.reason = reason
  }

  /// Creates the error for lost records.
  init(_ damage: RecordLog.Damage) {
    self.init(file: damage.file, offset: damage.bytes.lowerBound, .damaged(damage))
  }

  init(file: String, offset: Int?, _ error: SystemError) {
    let reason: Reason =
      if error.code == SystemError.notSupported {
        .notSupported
      } else if SystemDisk.isFull(error.code), !["read", "synchronize"].contains(error.operation) {
        .diskFull
      } else {
        .system(operation: error.operation, code: error.code)
      }
    self.init(file: file, offset: offset, reason)
  }

  /// The file, the offset and the reason in a sentence.
  public var description: String {
    let place = offset.map { " at offset \($0)" } ?? ""
    return "\(file)\(place): \(reason.sentence)"
  }
}

extension RecordLogError.Reason {
  fileprivate var sentence: String {
    switch self {
    case .notALog: "this is no log of records: it is empty, begins otherwise, or its heads are damaged"
    case .unsupportedVersion(let version): "the log is of version \(version), which is not supported"
    case .notAFolder: "a log of segments is a folder, and this is a file"
    case .inUse: "another writer has the log open"
    case .closed: "the log was closed"
    case .diskFull: "there is no room on the disk"
    case .system("lock", let code):
      "could not lock the file, so that no other writer opens it; its file system may have no locks: "
        + SystemDisk.description(of: code)
    case .system(let operation, let code): "could not \(operation): \(SystemDisk.description(of: code))"
    case .synchronizationFailed: "earlier records could not be brought to the disk; open the log anew"
    case .noSuchRecord(let number, let count): "there is no record \(number) among \(count)"
    case .removed(let number, let first):
      "record \(number) was removed, and the first that there is is \(first)"
    case .damaged(let damage): "the record was lost: \(damage)"
    case .recordTooLarge(let size, let limit): "a record of \(size) bytes, and the limit is \(limit)"
    case .replaced: "the file of the log was removed or renamed, or another took its place"
    case .truncated(let size, let written):
      "the file has \(size) bytes, and \(written) were written: somebody else has cut it off"
    case .noMoreNumbers: "there are no more numbers for records"
    case .notSupported: "logs are not supported on this platform"
    }
  }
}

extension RecordLogError: LocalizedError {
  /// The same as `description`.
  public var errorDescription: String? { description }
}
