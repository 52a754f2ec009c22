/// A property whose value may be of any registered type that conforms to a protocol, or that is a subclass of
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
/// The coder's `TypeRegistry` says which types exist. Each value is written as an object with one key, the
/// name of its type. So is each element of an array, a dictionary or an optional, at any depth. Keys of
/// dictionaries must be `CodingKeyRepresentable`, as strings and integers are. An optional that is nil is
/// left out, and one whose key is missing is nil. <doc:PolymorphicValues> lists the errors.
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

extension Polymorphic: DecodableWrapper {
  static var wrapped: Any.Type { Value.self }
}

// For a property with a wrapper, the compiler writes code that always asks for its key; these overloads make
// it behave as for an optional property.

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

/// Codes a value as an object with one key, the registered name of its type.
///
/// ```
/// {"circle": {"radius": 2}}
/// ```
enum NamedCoding: LeafCoding {
  /// Whether what is being decoded allows to keep the content of a value that is not registered; nil if nothing forbids it.
  @TaskLocal static var mayKeep: (@Sendable (StowValue) -> Bool)?

  static func encode<Value>(_ value: Value, to encoder: any Encoder) throws {
    // Generic code would otherwise get the type of the existential.
    let type = type(of: value as Any)
    let registry = TypeRegistry(userInfo: encoder.userInfo)
    if let name = registry.name(of: type), let encodable = value as? any Encodable {
      var container = encoder.container(keyedBy: PathKey.self)
      try container.encode(encodable, forKey: PathKey(stringValue: name))
    } else if let unregistered = value as? any UnregisteredValue {
      try unregistered.encode(to: encoder)
    } else {
      throw EncodingError.invalid(
        value, path: encoder.codingPath, "The type \(type) is not registered. \(registry.listing)")
    }
  }

  static func decode<Value>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
    let container = try decoder.container(keyedBy: PathKey.self)
    let key = try name(of: type, in: container)
    let registry = TypeRegistry(userInfo: decoder.userInfo)
    guard let known = registry.type(named: key.stringValue) else {
      return try unregistered(type, key, container, registry)
    }
    let decoded = try container.decode(known, forKey: key)
    guard let value = decoded as? Value else {
      throw DecodingError.mismatch(
        type, path: container.codingPath + [key],
        "Expected a value of type \(type), but found one of type \(known).")
    }
    return value
  }

  /// Returns the name of a value that must be of some type: the only key.
  static func name(of type: Any.Type, in container: KeyedDecodingContainer<PathKey>) throws -> PathKey {
    let keys = container.allKeys
    guard keys.count == 1, let key = keys.first else {
      throw DecodingError.mismatch(
        type, path: container.codingPath,
        "Expected one key, the name of a type, but found \(keys.count) keys.")
    }
    return key
  }

  /// Returns a value whose name is not registered, as the fallback keeps it.
  private static func unregistered<Value>(
    _ type: Value.Type, _ key: PathKey, _ container: KeyedDecodingContainer<PathKey>, _ registry: TypeRegistry
  ) throws -> Value {
    guard let fallback = registry.fallback else {
      // A stranger may have chosen a long name.
      let name = String(String.UnicodeScalarView(key.stringValue.unicodeScalars.prefix(100)))
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container, debugDescription: "No type is named \"\(name)\". \(registry.listing)")
    }
    let content = try container.decode(StowValue.self, forKey: key)
    guard mayKeep?(content) != false else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container,
        debugDescription:
          "A value of a type that is not registered cannot be kept if it refers to shared objects.")
    }
    guard let value = fallback.init(typeName: key.stringValue, content: content) as? Value else {
      throw DecodingError.mismatch(
        type, path: container.codingPath + [key],
        "The fallback \(fallback) is no \(type). \(registry.listing)")
    }
    return value
  }
}

/// A way to encode and decode values whose type is known only at run time.
protocol LeafCoding {
  static func encode<Value>(_ value: Value, to encoder: any Encoder) throws
  static func decode<Value>(_ type: Value.Type, from decoder: any Decoder) throws -> Value
}

/// A value that is coded by `Leaf`; in arrays, dictionaries and optionals, the elements are.
struct Elementwise<Value, Leaf: LeafCoding>: Codable, DecodableWrapper {
  let value: Value

  static var wrapped: Any.Type { Value.self }

  init(_ value: Value) { self.value = value }

  init(from decoder: any Decoder) throws {
    guard let container = Value.self as? any ElementContainer.Type else {
      value = try Leaf.decode(Value.self, from: decoder)
      return
    }
    guard let value = try container.decodeElements(from: decoder, by: Leaf.self) as? Value else {
      preconditionFailure("a container that makes another type")
    }
    self.value = value
  }

  func encode(to encoder: any Encoder) throws {
    // Follows the declared type and not that of the value, so that decoding goes the same way.
    if Value.self is any ElementContainer.Type, let container = value as? any ElementContainer {
      try container.encodeElements(to: encoder, by: Leaf.self)
    } else {
      try Leaf.encode(value, to: encoder)
    }
  }
}

/// A type whose elements are coded one by one, as the standard library's `Codable` would.
protocol ElementContainer {
  func encodeElements<Leaf: LeafCoding>(to encoder: any Encoder, by leaf: Leaf.Type) throws
  static func decodeElements<Leaf: LeafCoding>(from decoder: any Decoder, by leaf: Leaf.Type) throws -> Self
}

extension Array: ElementContainer {
  func encodeElements<Leaf: LeafCoding>(to encoder: any Encoder, by leaf: Leaf.Type) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(Elementwise<Element, Leaf>(element)) }
  }

  static func decodeElements<Leaf: LeafCoding>(from decoder: any Decoder, by leaf: Leaf.Type) throws -> Self {
    var container = try decoder.unkeyedContainer()
    var elements: Self = []
    while !container.isAtEnd {
      elements.append(try container.decode(Elementwise<Element, Leaf>.self).value)
    }
    return elements
  }
}

extension Dictionary: ElementContainer where Key: CodingKeyRepresentable {
  func encodeElements<Leaf: LeafCoding>(to encoder: any Encoder, by leaf: Leaf.Type) throws {
    var container = encoder.container(keyedBy: PathKey.self)
    for (key, value) in self {
      let name = PathKey(stringValue: key.codingKey.stringValue)
      try container.encode(Elementwise<Value, Leaf>(value), forKey: name)
    }
  }

  static func decodeElements<Leaf: LeafCoding>(from decoder: any Decoder, by leaf: Leaf.Type) throws -> Self {
    // A template gives nothing to the values of a dictionary.
    let decoder = (decoder as? MergedDecoder)?.message ?? decoder
    let container = try decoder.container(keyedBy: PathKey.self)
    var elements: Self = [:]
    for name in container.allKeys {
      let value = try container.decode(Elementwise<Value, Leaf>.self, forKey: name).value
      guard let key = Key(codingKey: name), elements.updateValue(value, forKey: key) == nil else {
        throw DecodingError.dataCorruptedError(
          forKey: name, in: container,
          debugDescription: "The key stands for no \(Key.self), or for one that another key stands for.")
      }
    }
    return elements
  }
}

extension Optional: ElementContainer {
  func encodeElements<Leaf: LeafCoding>(to encoder: any Encoder, by leaf: Leaf.Type) throws {
    guard let self else {
      var container = encoder.singleValueContainer()
      return try container.encodeNil()
    }
    if (self as? any AnyOptional)?.isNil == true {
      // Written as nil, it would come back one level higher.
      throw EncodingError.invalid(
        self, path: encoder.codingPath,
        "The nil of an optional within another cannot be told from the other's.")
    }
    try Elementwise<Wrapped, Leaf>(self).encode(to: encoder)
  }

  static func decodeElements<Leaf: LeafCoding>(from decoder: any Decoder, by leaf: Leaf.Type) throws -> Self {
    if try decoder.singleValueContainer().decodeNil() { return nil }
    return try Elementwise<Wrapped, Leaf>(from: decoder).value
  }
}
