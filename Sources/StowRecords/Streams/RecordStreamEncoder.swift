import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  /// Takes time in proportion to the value. Once definitions reach some 100 KiB, they are forgotten before
  /// the next record, and sent again. A record that would define more than a receiver takes defines nothing,
  /// and is larger.
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
