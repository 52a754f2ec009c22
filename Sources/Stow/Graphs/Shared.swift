/// A property whose object is shared with others, so that decoding makes one object where there was one.
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
/// The value is an object, or an array, a dictionary or an optional of objects, at any depth. It can be coded
/// only as part of a `SharedGraph`; elsewhere it is an `EncodingError` or a `DecodingError`. See
/// <doc:SharedObjects> for what such objects may be.
@propertyWrapper
public struct Shared<Value>: Codable, DecodableWrapper {
  /// The object, or the value that holds the objects.
  public var wrappedValue: Value

  /// Makes a property of a value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Decodes references, and the objects that they lead to.
  public init(from decoder: any Decoder) throws {
    wrappedValue = try Elementwise<Value, SharedCoding>(from: decoder).value
  }

  /// Encodes references. The graph writes the objects.
  public func encode(to encoder: any Encoder) throws {
    try Elementwise<Value, SharedCoding>(wrappedValue).encode(to: encoder)
  }

  static var wrapped: Any.Type { Value.self }
}

extension Shared: Sendable where Value: Sendable {}
extension Shared: Equatable where Value: Equatable {}
extension Shared: Hashable where Value: Hashable {}

/// A property whose object is encoded only if a `Shared` property refers to it, too; else it decodes as nil.
///
/// ```swift
/// final class Task: Codable {
///   @ConditionallyShared var assignee: Person?  // one of the project's members, or nobody
/// }
/// ```
///
/// As `NSCoder.encodeConditionalObject(_:)` does. It is coded only in a `SharedGraph`, like a `Shared` property.
@propertyWrapper
public struct ConditionallyShared<Value>: Codable, DecodableWrapper {
  /// The object.
  public var wrappedValue: Value?

  /// Makes a property of an object.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  /// Decodes a reference, and the object that it leads to, if the graph has it.
  public init(from decoder: any Decoder) throws {
    if try decoder.singleValueContainer().decodeNil() {
      wrappedValue = nil
    } else {
      wrappedValue = try SharedCoding.object(Value.self, from: decoder)
    }
  }

  /// Encodes a reference. The graph writes the object if another property requires it.
  public func encode(to encoder: any Encoder) throws {
    if let wrappedValue {
      try SharedCoding.encodeReference(to: wrappedValue, isConditional: true, encoder)
    } else {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }

  static var wrapped: Any.Type { Value?.self }
}

extension ConditionallyShared: Sendable where Value: Sendable {}
extension ConditionallyShared: Equatable where Value: Equatable {}
extension ConditionallyShared: Hashable where Value: Hashable {}

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

/// A value, and the objects that are shared in it.
///
/// ```swift
/// let data = try encoder.encode(SharedGraph(project))
/// let project = try decoder.decode(SharedGraph<Project>.self, from: data).root
/// ```
///
/// The value's `Shared` properties are written as references, and each object once, beside the value
/// (<doc:SharedObjects>). Any coder can code it. Takes time in proportion to the value and its objects.
public struct SharedGraph<Root> {
  /// The value.
  public var root: Root

  /// Makes a graph of a value.
  public init(_ root: Root) { self.root = root }
}

extension SharedGraph: Sendable where Root: Sendable {}
extension SharedGraph: Equatable where Root: Equatable {}
extension SharedGraph: Hashable where Root: Hashable {}

/// Has a value recorded, as a graph if it has shared properties, because it can only be encoded as one.
func recordShared(_ value: any Encodable, by record: (any Encodable) throws -> Void) throws {
  func recordGraph(_ root: some Encodable) throws { try record(SharedGraph(root)) }
  let objects = WrittenObjects()
  try objects.run { try record(value) }
  if !objects.isEmpty { try recordGraph(value) }
}

enum SharedGraphKey: String, CodingKey {
  case root, objects, named
}

extension SharedGraph: Encodable where Root: Encodable {
  /// Encodes the value and its objects.
  ///
  /// - Throws: `EncodingError.invalidValue` if an object leads to itself, if more than 128 lead to each other in a
  ///   chain, or if one is of a subclass that is not registered, and what encoding them throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: SharedGraphKey.self)
    let objects = WrittenObjects()
    try objects.run {
      try container.encode(root, forKey: .root)
      try objects.write(to: &container, TypeRegistry(userInfo: encoder.userInfo))
    }
  }
}

extension SharedGraph: Decodable where Root: Decodable {
  /// Decodes the value, and the objects that it refers to.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if a reference leads to no object, if an object leads to itself, or if
  ///   more than 128 lead to each other in a chain, and what decoding them throws.
  public init(from decoder: any Decoder) throws {
    // A template numbers its objects differently, so it is left out.
    let decoder = (decoder as? MergedDecoder)?.message ?? decoder
    let container = try decoder.container(keyedBy: SharedGraphKey.self)
    let objects = try ReadObjects(container)
    defer { objects.end() }
    // References in content that is kept would be written to another graph with the numbers of this one.
    let mayKeep: @Sendable (StowValue) -> Bool = { !objects.isCurrent || !SharedCoding.mayRefer($0) }
    root = try ReadObjects.$inherited.withValue(objects) {
      try NamedCoding.$mayKeep.withValue(mayKeep) { try container.decode(Root.self, forKey: .root) }
    }
  }
}

/// Codes an object as a reference, by its number in the graph: `{"shared": 0}`.
enum SharedCoding: LeafCoding {
  private enum Key: String, CodingKey {
    case shared
  }

  static func encode<Value>(_ value: Value, to encoder: any Encoder) throws {
    try encodeReference(to: value, isConditional: false, encoder)
  }

  static func decode<Value>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
    guard let object = try object(type, from: decoder) else {
      throw DecodingError.corrupted("The graph has no such object.", path: decoder.codingPath)
    }
    return object
  }

  /// - Parameter isConditional: Whether the object is written only if another reference requires it.
  static func encodeReference<Value>(to value: Value, isConditional: Bool, _ encoder: any Encoder) throws {
    guard let objects = WrittenObjects.current else {
      throw EncodingError.invalid(value, path: encoder.codingPath, "A shared object is encoded only in a SharedGraph.")
    }
    // Generic code would otherwise get the type of the existential.
    let type = type(of: value as Any)
    guard type is AnyObject.Type, let object = value as? any Encodable & AnyObject else {
      throw EncodingError.invalid(
        value, path: encoder.codingPath,
        "Only objects of classes that are Encodable are shared, and \(type) is not one.")
    }
    let registry = TypeRegistry(userInfo: encoder.userInfo)
    guard type == Value.self || registry.name(of: type) != nil else {
      // Decoding would make an object of another class.
      throw EncodingError.invalid(
        value, path: encoder.codingPath,
        "The type \(type) is not registered, and it is not \(Value.self). \(registry.listing)")
    }
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(objects.number(of: object, isConditional: isConditional), forKey: .shared)
  }

  /// Returns the object that a reference leads to; nil if it was not written.
  static func object<Value>(_ type: Value.Type, from decoder: any Decoder) throws -> Value? {
    guard let objects = ReadObjects.current else {
      throw DecodingError.corrupted("A shared object is decoded only in a SharedGraph.", path: decoder.codingPath)
    }
    let number = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .shared)
    return try objects.object(number, type, decoder)
  }

  /// Returns whether a value holds anything that may be a reference.
  static func mayRefer(_ value: StowValue) -> Bool {
    switch value {
    case .array(let elements): elements.contains(where: mayRefer)
    case .object(let object):
      object.count == 1 && object[Key.shared.stringValue]?.int != nil || object.values.contains(where: mayRefer)
    default: false
    }
  }
}
