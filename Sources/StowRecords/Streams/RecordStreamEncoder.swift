import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The layout of records on a connection (Format/Logs.md, "Streams").
///
///      7F 03  version       once, in front
///      length ┊ record ┊ CRC-32C       for every record
///      00                   the definitions are forgotten
enum StreamFrame {
  /// The beginning of a stream: its kind and its version.
  static let head: [UInt8] = [0x7F, 0x03, 0x01]
  /// The byte in place of a record's length that says that the definitions are forgotten.
  static let forgetting: UInt8 = 0
  static let checksumSize = 4
  /// The most bytes of preludes since the definitions were last forgotten.
  static let mostDefinitions = 1 << 20

  /// Returns the checksum of a record's number in the stream and of its bytes.
  static func checksum(of record: UnsafeRawBufferPointer, number: UInt64) -> UInt32 {
    var checksum = Checksum()
    checksum.update(number)
    checksum.update(record)
    return checksum.value
  }
}

/// Encodes values as records of a stream, for example for a connection.
///
/// ```swift
/// let encoder = RecordStreamEncoder()
/// for event in events { try connection.send(encoder.encode(event)) }
/// ```
///
/// Keys, and strings that recur, are sent once, when they are first needed. So all bytes of a stream must be
/// sent, in order; they may be split anywhere on the way. ``RecordStreamDecoder`` reads them.
///
/// A stream has one sender: an encoder must not be used from several threads at once.
public final class RecordStreamEncoder {
  private let encoder: StowEncoder
  private let definitions = EncodingDefinitions(limit: StreamFrame.mostDefinitions)
  /// How many records were encoded.
  private var count: UInt64 = 0
  private var hasBegun = false
  /// Whether the receiver has yet to be told that the definitions were forgotten.
  private var hasForgotten = false

  /// Begins a stream.
  ///
  /// ```swift
  /// let encoder = RecordStreamEncoder()
  /// ```
  ///
  /// - Parameter encoder: Encodes the values. Its options apply, its context does not.
  public init(encoder: StowEncoder = StowEncoder()) { self.encoder = encoder }

  /// Encodes a value as the next record, and returns the bytes to send.
  ///
  /// ```swift
  /// let bytes = try encoder.encode(event)
  /// ```
  ///
  /// Takes time in proportion to the value. Once definitions reach some 100 KiB, they are forgotten before the next
  /// record, and sent again. A record that would define more than a receiver takes defines nothing, and is larger.
  ///
  /// - Throws: What `StowEncoder.encode(_:)` throws. Then there is nothing to send, and another record may follow.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    if definitions.isFull {
      definitions.removeAll()
      hasForgotten = true
    }
    let bytes = try encoder.withMessage(of: value, relyingOn: definitions) { frame($0) }
    hasBegun = true
    hasForgotten = false
    count += 1
    return bytes
  }

  /// Returns the bytes to send for a record.
  private func frame(_ record: UnsafeRawBufferPointer) -> Data {
    var bytes = hasBegun ? [] : StreamFrame.head
    bytes.reserveCapacity(record.count + 16)
    if hasForgotten { bytes.append(StreamFrame.forgetting) }
    Varint.append(record.count, to: &bytes)
    bytes.append(contentsOf: record)
    bytes.appendLittleEndian(StreamFrame.checksum(of: record, number: count))
    return Data(bytes)
  }
}

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
  /// Why a stream cannot be read any further. Later versions may add reasons, so a `switch` over them has a `default`.
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
