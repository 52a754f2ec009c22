import Synchronization

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
    /// The log is running the code that uses it: an `encode(to:)`, the closure of `compact(keeping:)`, or the iterator
    /// of what is appended.
    case usedWithin
    /// There is no room on the disk. What was appended before is whole, and appending may be tried again.
    case diskFull
    /// A system call failed: what was to be done, and the `errno`.
    case system(operation: String, code: Int32)
    /// Earlier bytes could not be brought to the disk, and it is unknown which of them are there: the system may keep
    /// showing them, and lose them at a restart. Open the log again: before it brings anything to the disk, it writes
    /// anew what may not be there.
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
    /// The file of the log is no longer at its path: it was removed or renamed, or another file took its place. For a
    /// reader: that file belongs to another log. For a segment: it does not certainly belong to this log.
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

  /// Whether a file server does not know the file any more.
  var isForgotten: Bool { if case .system(_, let code) = reason { SystemDisk.isForgotten(code) } else { false } }

  /// Whether the file is not one of the log.
  var isOfAnotherFile: Bool { reason == .notALog || reason == .replaced }

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
    case .usedWithin:
      "the log is running the code that uses it here, such as an encode(to:) or the closure of compact(keeping:)"
    case .diskFull: "there is no room on the disk"
    case .system("lock", let code):
      "could not lock the file, so that no other writer opens it; its file system may have no locks: "
        + SystemDisk.description(of: code)
    case .system(let operation, let code): "could not \(operation): \(SystemDisk.description(of: code))"
    case .synchronizationFailed: "earlier records could not be brought to the disk; open the log anew"
    case .noSuchRecord(let number, let count): "there is no record \(number) among \(count)"
    case .removed(let number, let first):
      "record \(number) was removed; the first one left is \(first)"
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

// MARK: - Damage

extension RecordLogReader {
  /// A part of a log that could not be read, and was skipped.
  public struct Damage: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with the part. Later versions may add reasons, so a `switch` over them has a `default`.
    public enum Reason: Hashable, Sendable {
      /// The head of a block is damaged or missing.
      case head
      /// A frame within a block is damaged.
      case frame
      /// Records are missing, and nothing is left of them.
      case missing
      /// A record that spans several blocks is not whole.
      case unfinished
      /// A record is larger than `maximumRecordSize`.
      case recordTooLarge
      /// The log ends in more bytes that are not whole than a crash leaves: some are missing before them, as in a
      /// broken copy, or there are too many. How many records they hold is not known.
      case displaced
      /// The system could not read the bytes; the value is its `errno`.
      case unreadable(Int32)
    }

    /// The path of the file that the part is in: that of the log, or of one of its segments.
    public let file: String
    /// The numbers of the lost records; empty if no record was lost.
    public let records: Range<Int>
    /// Where in the file the part is, in bytes.
    public let bytes: Range<Int>
    /// What is wrong with the part.
    public let reason: Reason

    /// A sentence with the records, the segment if there is one, the bytes and the reason.
    public var description: String {
      let numbers =
        reason == .displaced
        ? "records from \(records.lowerBound) on"
        : records.isEmpty ? "no records" : "records \(records.lowerBound) to \(records.upperBound - 1)"
      let name = file[(file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex)...]
      let segment = Segment(named: name, in: "") == nil ? "" : " of \(name)"
      let place = "bytes \(bytes.lowerBound) to \(bytes.upperBound)\(segment)"
      return "\(numbers) lost in \(place): \(reason.sentence)"
    }
  }

  /// What opening a log found after the last record that is whole.
  public struct Recovery: Hashable, Sendable, CustomStringConvertible {
    /// The bytes after the last whole part of the log; empty if the log ends there. They contain no whole
    /// part. A writer has cut them off, unless they are damage. For a reader they are still in the file, and may be
    /// what a writer is just writing.
    public let bytes: Range<Int>
    /// The numbers of an unfinished group, or of an unfinished record of several blocks; empty if nothing is
    /// unfinished. A writer leaves the parts in place and appends after them: these numbers stay without records.
    public let records: Range<Int>
    /// Whether the bytes are more than a crash leaves, as after a broken copy of the file: more than a block of 64 KB,
    /// or the beginning of a block is among them. A writer keeps them, and appends after them.
    public let isDamage: Bool

    /// The bytes and the record in a sentence.
    public var description: String {
      let excess = isDamage ? ", which is more than a crash leaves" : ""
      let parts =
        (bytes.isEmpty
          ? [] : ["\(bytes.count) bytes from offset \(bytes.lowerBound) on that are not whole\(excess)"])
        + (records.isEmpty ? [] : [unfinished])
      return parts.isEmpty ? "nothing after the last whole record" : parts.joined(separator: ", and ")
    }

    private var unfinished: String {
      records.count == 1
        ? "record \(records.lowerBound), which is not finished"
        : "records \(records.lowerBound) to \(records.upperBound - 1), which are not finished"
    }
  }
}

extension RecordLog.Damage {
  /// The damage of bytes after the end of a log, in which there may be records from a number on.
  init(file: String, displacing bytes: Range<Int>, from number: Int) {
    self.init(file: file, records: number..<number, bytes: bytes, reason: .displaced)
  }
}

extension RecordLog.Damage.Reason {
  /// The reason for what the system could not read; `other` if the error is not one of the system.
  init(reading error: any Error, orElse other: Self) {
    if case .system(_, let code) = (error as? RecordLogError)?.reason {
      self = .unreadable(code)
    } else {
      self = other
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .head: "the head of a block is damaged"
    case .frame: "a frame is damaged"
    case .missing: "nothing is left of them"
    case .unfinished: "a record of several blocks is not whole"
    case .recordTooLarge: "a record is larger than the limit"
    case .displaced: "there are bytes missing before them, or too many"
    case .unreadable(let code): SystemDisk.description(of: code)
    }
  }
}

/// The damage met in a log, or by some walks over it. Each part is added once, however often and on however many
/// threads it is read.
final class DamageReport: Sendable {
  private let known = Mutex<Set<RecordLog.Damage>>([])
  private let goingOn = Mutex<Int?>(nil)
  /// The report of the log, which receives all damage, too.
  private let whole: DamageReport?

  init(within whole: DamageReport? = nil) { self.whole = whole }

  /// The number at which a walk continued after its next segment turned out to be removed; nil if that did not happen.
  var firstAfterRemoval: Int? {
    get { goingOn.withLock { $0 } }
    set { goingOn.withLock { $0 = newValue } }
  }

  func add(_ damage: RecordLog.Damage) {
    known.withLock { _ = $0.insert(damage) }
    whole?.add(damage)
  }

  var count: Int { known.withLock { $0.count } }

  /// All damage, in the order of the files.
  var list: [RecordLog.Damage] {
    known.withLock {
      $0.sorted {
        ($0.file, $0.bytes.lowerBound, $0.records.lowerBound)
          < ($1.file, $1.bytes.lowerBound, $1.records.lowerBound)
      }
    }
  }
}

extension RecordLogError {
  /// Returns the result of a system call, and turns its errors into those of a log.
  static func naming<Result>(_ path: String, at offset: Int? = nil, _ call: () throws -> Result) throws
    -> Result
  {
    do {
      return try call()
    } catch let error as SystemError {
      throw RecordLogError(file: path, offset: offset, error)
    }
  }
}
