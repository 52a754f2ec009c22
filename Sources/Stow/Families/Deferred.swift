#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that stays a message of its own until somebody asks for it.
///
/// What passes values on, as a router or a queue does, looks at some properties and leaves the rest as it is:
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
/// A `StowEncoder` writes ``message`` as data. A `StowDecoder` keeps it as it is: copied, and neither decoded nor checked.
/// So the next receiver gets the bytes of the sender, whatever stands around them; and `Deferred<StowValue>` passes on
/// values of types that are unknown.
///
/// A property is no longer the same in messages once it is deferred: a `StowDecoder` finds a `typeMismatch` where a value
/// stands in place of data. The message also brings the keys of the value each time. A context that the sender and the
/// last receiver hold saves them, and those between need not have it:
///
/// ```swift
/// let payload = try Deferred(order, encoder: encoder)
/// let order = try payload.value(decoder: decoder)
/// ```
///
/// Other coders write and read the value itself, as if it were not deferred.
///
/// Two of these are equal if their messages are. Equal values can have different messages, as those with dictionaries
/// have unless their keys are sorted.
public struct Deferred<Value: Codable>: Sendable, Hashable {
  /// The message that holds the value.
  public let message: Data

  /// Encodes a value.
  ///
  /// ```swift
  /// let envelope = Envelope(topic: "orders", payload: try Deferred(order))
  /// ```
  ///
  /// Takes the time of encoding it; encoding this afterwards takes that of copying bytes.
  ///
  /// - Throws: What `StowEncoder.encode(_:)` throws.
  public init(_ value: Value, encoder: StowEncoder = StowEncoder()) throws {
    message = try encoder.encode(value)
  }

  /// Takes bytes for the message of a value. Whether they are one shows when the value is asked for.
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
  /// Takes the time of decoding it, each time. For some part of the value, open the message: `StowMessage(from: message)`.
  ///
  /// - Parameter decoder: Has the contexts, the types and the limit of depth that the value needs. The decoder around it
  ///   counts for nothing.
  /// - Throws: What `StowDecoder.decode(_:from:)` throws, with coding paths that begin at the value.
  public func value(decoder: StowDecoder = StowDecoder()) throws -> Value {
    try decoder.decode(Value.self, from: message)
  }
}

extension Deferred: Codable {
  /// Keeps the message, if the decoder is a `StowDecoder`; otherwise decodes the value, and encodes it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if decoder is any StowValueCoder {
      self.init(message: try container.decode(Data.self))
    } else {
      let encoder = StowEncoder()
      encoder.types = TypeRegistry(userInfo: decoder.userInfo)
      try self.init(container.decode(Value.self), encoder: encoder)
    }
  }

  /// Writes the message, if the encoder is a `StowEncoder`; otherwise decodes the value, and encodes it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if encoder is any StowValueCoder {
      try container.encode(message)
    } else {
      let decoder = StowDecoder()
      decoder.types = TypeRegistry(userInfo: encoder.userInfo)
      try container.encode(value(decoder: decoder))
    }
  }
}
