#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// From values to messages, types and text, and back.

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

// Text is diagnostic notation.

extension StowValue: CustomStringConvertible {
  /// The value in diagnostic notation on one line: `{"name": "Ada", "id": uuid"…", "level": 4.0}`.
  ///
  /// Like JSON, with every kind of value to be seen, and exact: `StowValue(notation:)` makes an equal value of it.
  /// FORMAT.md, "Diagnostic notation", specifies it. Takes time in proportion to the value.
  public var description: String {
    var writer = NotationWriter()
    return writer.text(of: self)
  }

  /// The value in diagnostic notation on several lines: arrays and objects that have no room on one are broken into
  /// lines of their items, which are indented.
  ///
  /// ```swift
  /// print(try StowValue(message: data).notation())
  /// ```
  ///
  /// Takes time in proportion to the value.
  ///
  /// - Parameter width: The most Unicode scalars of a line that could still be broken; 100 by default.
  public func notation(width: Int = 100) -> String {
    var writer = NotationWriter(width: width)
    return writer.text(of: self)
  }

  /// Reads a value in diagnostic notation, as `description` and `notation(width:)` write it. JSON is read too.
  ///
  /// ```swift
  /// let value = try StowValue(notation: #"{"seen": date"2026-11-23T10:00:00Z", "level": 4.25}"#)
  /// ```
  ///
  /// Numbers of JSON without a point or an exponent become integers, others `Double`s. Takes time and memory in
  /// proportion to the text.
  ///
  /// - Throws: `StowNotationError` if the text is no such value, repeats a key of an object, or nests more than 512 levels
  ///   deep.
  public init(notation: String) throws(StowNotationError) {
    var parser = NotationParser(notation)
    self = try parser.parse()
  }

  /// The same for JSON, and nothing else.
  package init(json: String) throws(StowNotationError) {
    var parser = NotationParser(json, isJSON: true)
    self = try parser.parse()
  }
}
