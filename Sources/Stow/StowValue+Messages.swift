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
  /// let name = try StowValue(from: data)["name"]?.string
  /// ```
  ///
  /// Takes time in proportion to the message; SECURITY.md says how much memory. A `StowDecoder` reads messages that rely
  /// on a context, and those that nest deeper than usual: `decoder.decode(StowValue.self, from: data)`.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the bytes are not one whole message.
  public init(from bytes: some ContiguousBytes) throws {
    self = try StowDecoder().decode(StowValue.self, from: bytes)
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
  public init(encoding value: some Encodable) throws { try self.init(from: StowEncoder().encode(value)) }

  /// Returns the message of this value.
  ///
  /// ```swift
  /// try value.encoded().write(to: file)
  /// ```
  ///
  /// The same as `StowEncoder().encode(value)`: the keys of objects stay in their order, and strings and decimal numbers in
  /// their spelling. Otherwise equal values have the same message. Takes time and memory in proportion to the value.
  ///
  /// - Throws: `EncodingError.invalidValue` if the value nests more than 512 levels deep.
  public func encoded() throws -> Data { try StowEncoder().encode(self) }

  /// Decodes a value of some type from this one, as from its message.
  ///
  /// ```swift
  /// let person = try value["people"]![3]!.decode(Person.self)
  /// ```
  ///
  /// The coding paths of errors begin here. Takes time and memory in proportion to this value.
  ///
  /// - Throws: What `encoded()` and `StowDecoder.decode(_:from:)` throw.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try StowEncoder().withEncoded(self) { try StowDecoder().decode(type, from: $0) }
  }
}
