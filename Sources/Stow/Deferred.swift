#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that stays a message of its own until it is asked for.
///
/// Code that passes values on looks at some properties and leaves the rest as it is:
///
/// ```swift
/// struct Envelope: Codable {
///   var topic: String
///   var payload: Deferred<Order>
/// }
///
/// let envelope = try StowDecoder().decode(Envelope.self, from: data)
/// if envelope.topic == "orders" { handle(try envelope.payload.value()) }
/// ```
///
/// A `StowEncoder` writes ``message`` as data. A `StowDecoder` copies it, and neither decodes nor checks it; it throws
/// `typeMismatch` if there is a value in place of data. So do coders that forward to them, with their `userInfo`; other
/// coders write and read the value itself. See <doc:Parts>.
///
/// Two of these are equal if their messages are, which dictionaries in equal values can make different.
public struct Deferred<Value: Codable>: Codable, Sendable, Hashable {
  /// The message that holds the value.
  public let message: Data

  /// Encodes a value.
  ///
  /// ```swift
  /// let envelope = Envelope(topic: "orders", payload: try Deferred(order))
  /// ```
  ///
  /// Takes the time to encode the value; encoding this afterwards only copies bytes.
  ///
  /// - Throws: What `StowEncoder.encode(_:)` throws.
  public init(_ value: Value, encoder: StowEncoder = StowEncoder()) throws { message = try encoder.encode(value) }

  /// Takes bytes as the message of a value. They are not checked until the value is asked for.
  ///
  /// ```swift
  /// let envelope = Envelope(topic: "orders", payload: Deferred(message: received))
  /// ```
  public init(message: Data) { self.message = message }

  /// Decodes the value.
  ///
  /// ```swift
  /// let order = try envelope.payload.value()
  /// ```
  ///
  /// Takes the time to decode the value, each time. `StowMessage(from: message)` reads a part of it.
  ///
  /// - Parameter decoder: Has the contexts, types and limit of depth that the value needs. Those of the decoder
  ///   around it do not matter.
  /// - Throws: What `StowDecoder.decode(_:from:)` throws, with coding paths that begin at the value.
  public func value(decoder: StowDecoder = StowDecoder()) throws -> Value {
    try decoder.decode(Value.self, from: message)
  }

  /// Keeps the message, if the decoder is a `StowDecoder`; otherwise decodes the value, and encodes it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if decoder is any StowValueCoder {
      guard case .data(let message) = try container.decode(StowValue.self) else {
        // Throws, unless there is an array of bytes, which is no message either.
        _ = try container.decode(Data.self)
        throw DecodingError.mismatch(Data.self, path: container.codingPath, "Expected data, but found an array.")
      }
      self.init(message: message)
    } else if decoder.userInfo[.stowCoder] != nil {
      // The decoder forwards to a `StowDecoder`, which would read data as the numbers of its bytes, too.
      try self.init(message: container.decode(Data.self))
    } else {
      let encoder = StowEncoder()
      encoder.types = TypeRegistry(userInfo: decoder.userInfo)
      try self.init(container.decode(Value.self), encoder: encoder)
    }
  }

  /// Writes the message, if the encoder is a `StowEncoder`; otherwise decodes the value, and encodes it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if encoder is any StowValueCoder || encoder.userInfo[.stowCoder] != nil {
      try container.encode(message)
    } else {
      let decoder = StowDecoder()
      decoder.types = TypeRegistry(userInfo: encoder.userInfo)
      try container.encode(value(decoder: decoder))
    }
  }
}
