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
/// message is looked up here and nowhere else. <doc:Families> says how such values are encoded and decoded.
///
/// Other coders, as `JSONEncoder`, are given a registry in their `userInfo`, as `.typeRegistry`.
public struct TypeRegistry: Sendable {
  private var types: [String: any (Codable & SendableMetatype).Type] = [:]
  private var writtenNames: [ObjectIdentifier: String] = [:]

  /// Makes a registry without types.
  public init() {}

  /// The type that keeps values whose name is not registered; nil unless set.
  ///
  /// Without one, such a value is a `DecodingError`. It is one, too, where values of another kind are wanted than the
  /// fallback is.
  public var fallback: (any UnregisteredValue.Type)?

  /// Registers a type, so that its values can be encoded and decoded by name.
  ///
  /// A type may be registered under several names, all of which are read: the one that was registered first is written.
  ///
  /// ```swift
  /// types.register(Circle.self, as: "circle")
  /// types.register(Circle.self, as: "disk")  // as older messages call it
  /// ```
  ///
  /// Takes constant time.
  ///
  /// - Precondition: No other type has the name, and the type is no `Array`, `Dictionary` or `Optional`, which are
  ///   written element by element.
  public mutating func register<Value: Codable & SendableMetatype>(
    _ type: Value.Type, as name: String
  ) {
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

  /// The type that is registered under a name; nil if there is none. Takes constant time.
  ///
  /// ```swift
  /// if types.type(named: name) == nil { types.register(Plugin.self, as: name) }
  /// ```
  public func type(named name: String) -> (any Codable.Type)? { types[name] }

  /// The name that values of a type are written with; nil if the type is not registered. Takes constant time.
  ///
  /// A subclass does not have the name of its superclass.
  public func name(of type: Any.Type) -> String? { writtenNames[ObjectIdentifier(type)] }
}

extension CodingUserInfoKey {
  /// Where coders find the `TypeRegistry`.
  ///
  /// `StowEncoder.types` and `StowDecoder.types` set it. For other coders:
  ///
  /// ```swift
  /// jsonDecoder.userInfo[.typeRegistry] = types
  /// ```
  public static let typeRegistry = CodingUserInfoKey(rawValue: "stow.typeRegistry")!
}

extension TypeRegistry {
  /// The registry of a coder; one without types if it has none.
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
