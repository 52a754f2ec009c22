/// A property whose value may be of any registered type: of those that conform to a protocol, or that are subclasses of
/// a class.
///
/// ```swift
/// struct Drawing: Codable {
///   @Polymorphic var shapes: [any Shape]
///   @Polymorphic var frame: (any Shape)?
///   @Polymorphic var named: [String: any Shape]
/// }
/// ```
///
/// The coder's `TypeRegistry` says which types there are. Each value is written as an object with one key, the name of
/// its type, and each element of an array, a dictionary or an optional is, at whatever depth. Dictionaries have keys
/// that are `CodingKeyRepresentable`, as strings and integers are. An optional that is nil is left out, and one whose
/// key is missing is nil.
///
/// Encoding throws an `EncodingError.invalidValue` for a value whose type is not registered. Decoding throws a
/// `DecodingError`: `dataCorrupted` for a name that is not registered, unless `TypeRegistry.fallback` keeps it, and
/// `typeMismatch` for an object that has not exactly one key, or whose type is not a `Value`.
@propertyWrapper
public struct Polymorphic<Value> {
  /// The value.
  public var wrappedValue: Value

  /// Makes a property of a value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Polymorphic: Sendable where Value: Sendable {}
extension Polymorphic: Equatable where Value: Equatable {}
extension Polymorphic: Hashable where Value: Hashable {}

extension Polymorphic: Codable {
  /// Decodes a value of the type that the message names.
  public init(from decoder: any Decoder) throws {
    wrappedValue = try Elementwise<Value, NamedCoding>(from: decoder).value
  }

  /// Encodes the value with the name of its type.
  public func encode(to encoder: any Encoder) throws {
    try Elementwise<Value, NamedCoding>(wrappedValue).encode(to: encoder)
  }
}

// What the compiler writes for a property with a wrapper asks for its key in any case; these make it do as for an
// optional property.

extension KeyedDecodingContainer {
  /// Decodes an optional property; nil if the key is missing.
  public func decode<Value>(
    _ type: Polymorphic<Value?>.Type, forKey key: Key
  ) throws -> Polymorphic<Value?> {
    try decodeIfPresent(type, forKey: key) ?? Polymorphic(wrappedValue: nil)
  }
}

extension KeyedEncodingContainer {
  /// Encodes an optional property, which is left out if it is nil.
  public mutating func encode<Value>(_ value: Polymorphic<Value?>, forKey key: Key) throws {
    try encodeIfPresent(value.wrappedValue == nil ? nil : value, forKey: key)
  }
}
