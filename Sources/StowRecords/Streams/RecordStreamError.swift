#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An error of a stream, apart from those of decoding: which record, and why.
///
/// After such an error the stream cannot be read any further: what follows relies on what was lost.
///
/// ```swift
/// do {
///   while let event = try decoder.next(Event.self) { handle(event) }
/// } catch let error as RecordStreamError {
///   connection.close(because: error.description)
/// }
/// ```
public struct RecordStreamError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why a stream cannot be read any further. Later versions may add reasons, so a `switch` over them has a
  /// `default`.
  public enum Reason: Hashable, Sendable {
    /// The bytes do not begin as a stream does.
    case notAStream
    /// The stream is of this later version.
    case laterVersion(Int)
    /// The bytes of a record are not those that were sent, or its definitions break the format.
    case damaged
    /// The record is larger than `maximumRecordSize`; both in bytes.
    case recordTooLarge(size: Int, limit: Int)
    /// The sender defines more than 1 MiB and does not forget.
    case tooManyDefinitions
    /// The stream ended within a record.
    case incomplete
  }

  /// The number of the record, counted from 0.
  public let record: Int
  /// Why the stream cannot be read any further.
  public let reason: Reason

  /// The record and the reason in a sentence.
  public var description: String { "Record \(record) of the stream: \(sentence)." }

  private var sentence: String {
    switch reason {
    case .notAStream: "the bytes are no stream of records"
    case .laterVersion(let version): "the stream is of version \(version), which is not supported"
    case .damaged: "its bytes are not those that were sent"
    case .recordTooLarge(let size, let limit): "it has \(size) bytes, and the limit is \(limit)"
    case .tooManyDefinitions: "the sender defines more than is ever needed"
    case .incomplete: "the stream ended within it"
    }
  }
}

extension RecordStreamError: LocalizedError {
  /// The same as `description`.
  public var errorDescription: String? { description }
}
