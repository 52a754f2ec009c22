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
/// Values of these types are written as an object with one key, the name: `{"circle": {"radius": 2}}`. A name in a
/// message is looked up here and nowhere else. <doc:PolymorphicValues> says how such values are encoded and decoded.
///
/// Other coders, such as `JSONEncoder`, find a registry in their `userInfo`, as `.typeRegistry`.
public struct TypeRegistry: Sendable {
  private typealias Registered = any (Codable & SendableMetatype).Type

  private var types: [String: Registered] = [:]
  private var writtenNames: [ObjectIdentifier: String] = [:]

  /// Makes a registry without types.
  public init() {}

  /// The type that keeps values whose name is not registered; nil unless set.
  ///
  /// Without a fallback, such a value is a `DecodingError`. It is one, too, if the fallback is not of the
  /// kind of values that are wanted.
  public var fallback: (any UnregisteredValue.Type)?

  /// Registers a type, so that its values can be encoded and decoded by name.
  ///
  /// A type may be registered under several names. All of them are read; the one registered first is
  /// written.
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
    add(type, as: name)
  }

  private mutating func add(_ type: Registered, as name: String) {
    precondition(
      !(type is any ElementContainer.Type), "\(type) is written element by element and can have no name.")
    if let other = types[name] {
      precondition(other == type, "The name \(name) is registered for \(other) and cannot be for \(type).")
    }
    types[name] = type
    if writtenNames[ObjectIdentifier(type)] == nil { writtenNames[ObjectIdentifier(type)] = name }
  }

  /// All names that are registered, sorted. Takes the time of sorting them.
  public var names: [String] { types.keys.sorted() }

  /// Returns the type that is registered under a name, or nil. Takes constant time.
  ///
  /// ```swift
  /// if types.type(named: name) == nil { types.register(Plugin.self, as: name) }
  /// ```
  public func type(named name: String) -> (any Codable.Type)? { types[name] }

  /// Returns the name that values of a type are written with; nil if the type is not registered. Takes
  /// constant time.
  ///
  /// A subclass does not have the name of its superclass.
  public func name(of type: Any.Type) -> String? { writtenNames[ObjectIdentifier(type)] }
}

extension CodingUserInfoKey {
  /// The key under which coders find the `TypeRegistry`.
  ///
  /// `StowEncoder.types` and `StowDecoder.types` set it. For other coders:
  ///
  /// ```swift
  /// jsonDecoder.userInfo[.typeRegistry] = types
  /// ```
  public static let typeRegistry = CodingUserInfoKey(rawValue: "stow.typeRegistry")!
}

extension TypeRegistry {
  /// Makes the registry of a coder; one without types if the coder has no registry.
  init(userInfo: [CodingUserInfoKey: Any]) {
    self = userInfo[.typeRegistry] as? TypeRegistry ?? TypeRegistry()
  }

  /// The names as part of an error.
  var listing: String {
    types.isEmpty
      ? "No types are registered (see TypeRegistry)."
      : "Registered are: \(names.joined(separator: ", "))."
  }
}

/// A value of a type that the program does not know: the name of the type, and the content.
///
/// A type that conforms to this and to the protocol of its family keeps what a newer program wrote, and
/// writes it back unchanged:
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
