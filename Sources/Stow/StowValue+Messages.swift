#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// From values to messages and types, and back.

extension StowValue {
  /// Reads a message, whatever is in it.
  ///
  /// ```swift
  /// let name = try StowValue(message: data)["name"]?.string
  /// ```
  ///
  /// Takes time in proportion to the message; SECURITY.md says how much memory. A `StowDecoder` reads messages that rely
  /// on a context, and those that nest deeper than usual: `decoder.decode(StowValue.self, from: data)`.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the bytes are not one whole message, or hold a decimal number that
  ///   `Decimal` does not.
  public init(message: Data) throws { self = try StowDecoder().decode(StowValue.self, from: message) }

  /// Reads a message in contiguous bytes, such as a `[UInt8]`, without copying them.
  ///
  /// - Throws: As `init(message:)` for data does.
  public init(message: some ContiguousBytes) throws {
    self = try StowDecoder().decode(StowValue.self, from: message)
  }

  /// Makes the value that a message of `value` would hold.
  ///
  /// ```swift
  /// var value = try StowValue(encoding: person)
  /// value["seen"] = true
  /// ```
  ///
  /// Takes time and memory in proportion to the value.
  ///
  /// - Throws: What `StowEncoder.encode(_:)` throws.
  public init(encoding value: some Encodable) throws { try self.init(message: StowEncoder().encode(value)) }

  /// The message of this value.
  ///
  /// ```swift
  /// try value.message().write(to: file)
  /// ```
  ///
  /// The same as `StowEncoder().encode(value)`: the keys of objects stay in their order, and equal values whose keys are
  /// in the same order have the same message. Takes time and memory in proportion to the value.
  ///
  /// - Throws: `EncodingError.invalidValue` if the value nests more than 512 levels deep.
  public func message() throws -> Data { try StowEncoder().encode(self) }

  /// Decodes a value of some type from this one, as from its message.
  ///
  /// ```swift
  /// let person = try value["people"]![3]!.decode(Person.self)
  /// ```
  ///
  /// The coding paths of errors begin here. Takes time and memory in proportion to this value.
  ///
  /// - Throws: What `message()` and `StowDecoder.decode(_:from:)` throw.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try StowEncoder().withEncoded(self) { try StowDecoder().decode(type, from: $0) }
  }
}
