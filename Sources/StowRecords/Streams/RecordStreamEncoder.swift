import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Encodes values as records of a stream, as a connection carries it.
///
/// ```swift
/// let encoder = RecordStreamEncoder()
/// for event in events { try connection.send(encoder.encode(event)) }
/// ```
///
/// Keys, and strings that recur, are sent when they are first needed, and once. So the bytes of a stream are to be sent
/// all, in their order; they may be cut anywhere on their way. ``RecordStreamDecoder`` reads them.
///
/// A stream has one sender: an encoder is not to be used from several threads at once.
public final class RecordStreamEncoder {
  private let encoder: StowEncoder
  private let definitions = EncodingDefinitions(limit: StreamFrame.mostDefinitions)
  /// How many records there were.
  private var count: UInt64 = 0
  private var hasBegun = false
  /// Whether the receiver is still to be told that the definitions were forgotten.
  private var hasForgotten = false

  /// Begins a stream.
  ///
  /// ```swift
  /// let encoder = RecordStreamEncoder()
  /// ```
  ///
  /// - Parameter encoder: Encodes the values, with its options but without its context.
  public init(encoder: StowEncoder = StowEncoder()) { self.encoder = encoder }

  /// Encodes a value as the next record, and returns the bytes to send.
  ///
  /// ```swift
  /// let bytes = try encoder.encode(event)
  /// ```
  ///
  /// Takes time in proportion to the value. Definitions of some 100 KiB are forgotten before the next record, and sent
  /// anew. A record that would define more than a receiver takes defines nothing, and is larger.
  ///
  /// - Throws: What `StowEncoder.encode(_:)` throws. Then there is nothing to send, and another record may follow.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    if definitions.isFull {
      definitions.removeAll()
      hasForgotten = true
    }
    let bytes = try encoder.withRecord(of: value, relyingOn: definitions) { frame($0) }
    hasBegun = true
    hasForgotten = false
    count += 1
    return bytes
  }

  /// A record with what stands around it.
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
