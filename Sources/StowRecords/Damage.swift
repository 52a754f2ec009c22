import Synchronization

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
        records.isEmpty ? "no records" : "records \(records.lowerBound) to \(records.upperBound - 1)"
      let name = file[(file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex)...]
      let segment = Segment(named: name, in: "") == nil ? "" : " of \(name)"
      let place = "bytes \(bytes.lowerBound) to \(bytes.upperBound)\(segment)"
      return "\(numbers) lost in \(place): \(reason.sentence)"
    }
  }

  /// What opening a log found after the last record that is whole.
  public struct Recovery: Hashable, Sendable, CustomStringConvertible {
    /// The bytes after the last whole part of the log; empty if the log ends there. They contain no whole
    /// part. A writer has cut them off. For a reader they are still in the file, and may be what a writer is
    /// just writing.
    public let bytes: Range<Int>
    /// The numbers of an unfinished group, or of an unfinished record of several blocks; empty if nothing is
    /// unfinished. A writer leaves the parts in place and appends after them: these numbers stay without
    /// records.
    public let records: Range<Int>

    /// The bytes and the record in a sentence.
    public var description: String {
      let parts =
        (bytes.isEmpty ? [] : ["\(bytes.count) bytes from offset \(bytes.lowerBound) on that are not whole"])
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

extension RecordLog.Damage.Reason {
  fileprivate var sentence: String {
    switch self {
    case .head: "the head of a block is damaged"
    case .frame: "a frame is damaged"
    case .missing: "nothing is left of them"
    case .unfinished: "a record of several blocks is not whole"
    case .recordTooLarge: "a record is larger than the limit"
    case .unreadable(let code): SystemDisk.description(of: code)
    }
  }
}

/// The damage met in a log. Each part is added once, however often and on however many threads it is read.
final class DamageReport: Sendable {
  private let known = Mutex<Set<RecordLog.Damage>>([])
  private let goingOn = Mutex<Int?>(nil)

  /// The number at which a walk continued after its next segment turned out to be removed; nil if that did
  /// not happen.
  var firstAfterRemoval: Int? {
    get { goingOn.withLock { $0 } }
    set { goingOn.withLock { $0 = newValue } }
  }

  func add(_ damage: RecordLog.Damage) {
    known.withLock { _ = $0.insert(damage) }
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
