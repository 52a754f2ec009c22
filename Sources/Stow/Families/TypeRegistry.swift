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
/// message is looked up here and nowhere else (<doc:Families>). Other coders, as `JSONEncoder`, are given a registry in
/// their `userInfo`, as `.typeRegistry`.
public struct TypeRegistry: Sendable {
  private typealias Registered = any (Codable & _SharedType).Type

  private var types: [String: Registered] = [:]
  private var writtenNames: [ObjectIdentifier: String] = [:]

  /// Makes a registry without types.
  public init() {}

  /// The type that keeps values whose name is not registered; nil unless set.
  ///
  /// Without one, and where values of another kind are wanted than it is, such a value is a `DecodingError`.
  public var fallback: (any UnregisteredValue.Type)?

  /// Registers a type, so that its values can be encoded and decoded by name. Takes constant time.
  ///
  /// ```swift
  /// types.register(Circle.self, as: "circle")
  /// types.register(Circle.self, as: "disk")  // as older messages call it
  /// ```
  ///
  /// Of several names of a type all are read, and the first is written.
  ///
  /// - Precondition: No other type has the name, and the type is no `Array`, `Dictionary` or `Optional`, which are
  ///   written element by element.
  public mutating func register<Value: Codable & _SharedType>(_ type: Value.Type, as name: String) {
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
  public func type(named name: String) -> (any Codable.Type)? { types[name] }

  /// The name that values of a type are written with; nil if the type is not registered, also if its superclass is. Takes
  /// constant time.
  public func name(of type: Any.Type) -> String? { writtenNames[ObjectIdentifier(type)] }
}

extension CodingUserInfoKey {
  /// Where coders find the `TypeRegistry`, which `StowEncoder.types` and `StowDecoder.types` set:
  /// `jsonDecoder.userInfo[.typeRegistry] = types`.
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

#if compiler(>=6.2)
  /// A type that several threads may name.
  public typealias _SharedType = SendableMetatype
#else
  /// A type that several threads may name: compilers before 6.2 take that for granted.
  public typealias _SharedType = Any
#endif

/// A value of a type that the program does not have: its name, and all that it holds.
///
/// A type that conforms to this and to the protocol of its family keeps what a newer program wrote:
///
/// ```swift
/// struct UnknownShape: Shape, UnregisteredValue {
///   let typeName: String
///   let content: StowValue
/// }
/// types.fallback = UnknownShape.self
/// ```
///
/// If the family asks for `Codable`, that is there: an object with one key, the name.
public protocol UnregisteredValue: _SharedType {
  /// The name that stands in the message.
  var typeName: String { get }
  /// What stands for the name.
  var content: StowValue { get }

  /// Makes the value of a name that is not registered.
  init(typeName: String, content: StowValue)
}

extension UnregisteredValue {
  /// Decodes an object with one key, the name.
  ///
  /// - Throws: `DecodingError.typeMismatch` if it is no such object, and what the decoder throws.
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
