/// A property whose value may be of any registered type that conforms to a protocol or is a subclass of a class.
///
/// ```swift
/// struct Drawing: Codable {
///   @Polymorphic var shapes: [any Shape]
///   @Polymorphic var frame: (any Shape)?
///   @Polymorphic var named: [String: any Shape]
/// }
/// ```
///
/// The coder's ``TypeRegistry`` has the types. A value is written as an object with one key, the name of its type, and
/// so is each element of arrays, optionals and dictionaries with `CodingKeyRepresentable` keys, at any depth. An
/// optional that is nil is left out, and one whose key is missing is nil. <doc:PolymorphicValues> lists the errors.
@propertyWrapper
public struct Polymorphic<Value>: Codable, DecodableWrapper {
  /// The value.
  public var wrappedValue: Value

  /// Makes a property of a value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Decodes a value of the type that the message names.
  public init(from decoder: any Decoder) throws {
    wrappedValue = try Elementwise<Value, NamedCoding>(from: decoder).value
  }

  /// Encodes the value with the name of its type.
  public func encode(to encoder: any Encoder) throws {
    try Elementwise<Value, NamedCoding>(wrappedValue).encode(to: encoder)
  }

  static var wrapped: Any.Type { Value.self }
}

extension Polymorphic: Sendable where Value: Sendable {}
extension Polymorphic: Equatable where Value: Equatable {}
extension Polymorphic: Hashable where Value: Hashable {}

// The compiler's code always asks for the key of a property with a wrapper; these overloads make it optional.

extension KeyedDecodingContainer {
  /// Decodes an optional property; nil if the key is missing.
  public func decode<Value>(_ type: Polymorphic<Value?>.Type, forKey key: Key) throws -> Polymorphic<Value?> {
    try decodeIfPresent(type, forKey: key) ?? Polymorphic(wrappedValue: nil)
  }
}

extension KeyedEncodingContainer {
  /// Encodes an optional property, which is left out if it is nil.
  public mutating func encode<Value>(_ value: Polymorphic<Value?>, forKey key: Key) throws {
    try encodeIfPresent(value.wrappedValue == nil ? nil : value, forKey: key)
  }
}

/// Codes a value as an object with one key, the registered name of its type: `{"circle": {"radius": 2}}`.
enum NamedCoding: LeafCoding {
  /// Whether content of a value that is not registered may be kept; nil if nothing forbids it.
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
    while !container.isAtEnd { elements.append(try container.decode(Elementwise<Element, Leaf>.self).value) }
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

// MARK: names

/// The types that a message may name, each with its name.
///
/// ```swift
/// var types = TypeRegistry()
/// types.register(Circle.self, as: "circle")
/// types.register(Square.self, as: "square")
/// encoder.types = types
/// decoder.types = types
/// ```
///
/// Values are written as an object with one key, the name: `{"circle": {"radius": 2}}`. A name in a message is
/// looked up here and nowhere else. See <doc:PolymorphicValues>.
public struct TypeRegistry: Sendable {
  private typealias Registered = any (Codable & SendableMetatype).Type

  private var types = [String: Registered]()
  private var writtenNames = [ObjectIdentifier: String]()

  /// Makes a registry without types.
  public init() {}

  /// The type that keeps values whose name is not registered; nil unless set.
  ///
  /// Without a fallback, or with one that is not of the kind of values that are wanted, such a value is a `DecodingError`.
  public var fallback: (any UnregisteredValue.Type)?

  /// Registers a type, so that its values can be encoded and decoded by name.
  ///
  /// A type may have several names. All of them are read; the one registered first is written.
  ///
  /// ```swift
  /// types.register(Circle.self, as: "circle")
  /// types.register(Circle.self, as: "disk")  // as older messages call it
  /// ```
  ///
  /// Takes constant time.
  ///
  /// - Precondition: No other type has the name, and the type is no `Array`, `Dictionary` or `Optional`.
  public mutating func register<Value: Codable & SendableMetatype>(_ type: Value.Type, as name: String) {
    precondition(!(type is any ElementContainer.Type), "\(type) is written element by element and can have no name.")
    if let other = types[name] {
      precondition(other == type, "The name \(name) is registered for \(other) and cannot be for \(type).")
    }
    types[name] = type
    if writtenNames[ObjectIdentifier(type)] == nil { writtenNames[ObjectIdentifier(type)] = name }
  }

  /// All names that are registered, sorted. Takes the time of sorting them.
  public var names: [String] {
    let names = Array(types.keys)
    return sortedIndices(names.count) { names[$0] < names[$1] }.map { names[$0] }
  }

  func type(named name: String) -> (any Codable.Type)? { types[name] }

  /// Returns the name that values of a type are written with. A subclass does not have the name of its superclass.
  func name(of type: Any.Type) -> String? { writtenNames[ObjectIdentifier(type)] }

  /// Makes the registry of a coder; one without types if the coder has no registry.
  init(userInfo: [CodingUserInfoKey: Any]) {
    self = userInfo[.typeRegistry] as? TypeRegistry ?? TypeRegistry()
  }

  /// The names as part of an error.
  var listing: String {
    types.isEmpty ? "No types are registered (see TypeRegistry)." : "Registered are: \(names.joined(separator: ", "))."
  }
}

extension CodingUserInfoKey {
  /// The key under which other coders, such as `JSONDecoder`, find the `TypeRegistry`:
  ///
  /// ```swift
  /// jsonDecoder.userInfo[.typeRegistry] = types
  /// ```
  public static let typeRegistry = CodingUserInfoKey(rawValue: "stow.typeRegistry")!
}

/// A value of a type that the program does not know. A type that conforms to this and to the protocol of its
/// family keeps what a newer program wrote, and writes it back unchanged:
///
/// ```swift
/// struct UnknownShape: Shape, UnregisteredValue {
///   let typeName: String
///   let content: StowValue
/// }
/// types.fallback = UnknownShape.self
/// ```
///
/// If the family requires `Codable`, it is already implemented, by an object with one key, the name.
public protocol UnregisteredValue: SendableMetatype {
  /// The name in the message.
  var typeName: String { get }
  /// The value for the name.
  var content: StowValue { get }

  /// Makes the value of a name that is not registered.
  init(typeName: String, content: StowValue)
}

extension UnregisteredValue {
  /// Decodes an object with one key, the name.
  ///
  /// - Throws: `DecodingError.typeMismatch` if there is no such object, and what the decoder throws.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: PathKey.self)
    let name = try NamedCoding.name(of: Self.self, in: container)
    self.init(typeName: name.stringValue, content: try container.decode(StowValue.self, forKey: name))
  }

  /// Encodes an object with one key, the name.
  ///
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: PathKey.self)
    try container.encode(content, forKey: PathKey(stringValue: typeName))
  }
}
