/// A property whose object others refer to as well, so that decoding makes one object where there was one.
///
/// ```swift
/// struct Project: Codable {
///   @Shared var owner: Person     // a class
///   @Shared var members: [Person]
/// }
/// let data = try encoder.encode(SharedGraph(project))
/// let copy = try decoder.decode(SharedGraph<Project>.self, from: data).root
/// copy.owner === copy.members[0]  // as in `project`
/// ```
///
/// The value is an object, or an array, a dictionary or an optional of objects, at whatever depth. Only as part of a
/// `SharedGraph` can it be coded; elsewhere it is an `EncodingError` or a `DecodingError`. <doc:Families> says what such
/// objects may be.
@propertyWrapper
public struct Shared<Value> {
  /// The object, or what holds the objects.
  public var wrappedValue: Value

  /// Makes a property of a value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Shared: Sendable where Value: Sendable {}
extension Shared: Equatable where Value: Equatable {}
extension Shared: Hashable where Value: Hashable {}

extension Shared: Codable {
  /// Decodes references, and the objects that they lead to.
  public init(from decoder: any Decoder) throws {
    wrappedValue = try Elementwise<Value, SharedCoding>(from: decoder).value
  }

  /// Encodes references. The graph writes the objects.
  public func encode(to encoder: any Encoder) throws {
    try Elementwise<Value, SharedCoding>(wrappedValue).encode(to: encoder)
  }
}

/// A property whose object is encoded only if something else has it encoded, in a `Shared` property; otherwise it is nil
/// when it is decoded.
///
/// ```swift
/// final class Task: Codable {
///   @ConditionallyShared var assignee: Person?  // one of the project's members, or nobody
/// }
/// ```
///
/// As `NSCoder.encodeConditionalObject(_:)` does. Like a `Shared` property, it is coded only as part of a `SharedGraph`.
@propertyWrapper
public struct ConditionallyShared<Value> {
  /// The object.
  public var wrappedValue: Value?

  /// Makes a property of an object.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension ConditionallyShared: Sendable where Value: Sendable {}
extension ConditionallyShared: Equatable where Value: Equatable {}
extension ConditionallyShared: Hashable where Value: Hashable {}

extension ConditionallyShared: Codable {
  /// Decodes a reference, and the object that it leads to, if the graph has it.
  public init(from decoder: any Decoder) throws {
    if try decoder.singleValueContainer().decodeNil() {
      wrappedValue = nil
    } else {
      wrappedValue = try SharedCoding.object(Value.self, from: decoder)
    }
  }

  /// Encodes a reference. The graph writes the object, if another property has it written.
  public func encode(to encoder: any Encoder) throws {
    if let wrappedValue {
      try SharedCoding.encodeReference(to: wrappedValue, isConditional: true, encoder)
    } else {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }
}

// As for `Polymorphic`: optional properties are left out if they are nil, and nil if they are missing.

extension KeyedDecodingContainer {
  /// Decodes an optional property; nil if the key is missing.
  public func decode<Value>(_ type: Shared<Value?>.Type, forKey key: Key) throws -> Shared<Value?> {
    try decodeIfPresent(type, forKey: key) ?? Shared(wrappedValue: nil)
  }

  /// Decodes an optional property; nil if the key is missing.
  public func decode<Value>(
    _ type: ConditionallyShared<Value>.Type, forKey key: Key
  ) throws -> ConditionallyShared<Value> {
    try decodeIfPresent(type, forKey: key) ?? ConditionallyShared(wrappedValue: nil)
  }
}

extension KeyedEncodingContainer {
  /// Encodes an optional property, which is left out if it is nil.
  public mutating func encode<Value>(_ value: Shared<Value?>, forKey key: Key) throws {
    try encodeIfPresent(value.wrappedValue == nil ? nil : value, forKey: key)
  }

  /// Encodes an optional property, which is left out if it is nil.
  public mutating func encode<Value>(_ value: ConditionallyShared<Value>, forKey key: Key) throws {
    try encodeIfPresent(value.wrappedValue == nil ? nil : value, forKey: key)
  }
}
