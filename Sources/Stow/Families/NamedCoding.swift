/// Codes a value as an object with one key, the registered name of its type.
///
/// ```
/// {"circle": {"radius": 2}}
/// ```
enum NamedCoding: LeafCoding {
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
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription: "The type \(type) is not registered. \(registry.listing)"))
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
      throw mismatch(
        type, container.codingPath + [key],
        "Expected a value of type \(type), but found one of type \(known), which is none.")
    }
    return value
  }

  /// Returns the name of a value that must be of some type: the only key.
  static func name(of type: Any.Type, in container: KeyedDecodingContainer<PathKey>) throws -> PathKey {
    let keys = container.allKeys
    guard keys.count == 1, let key = keys.first else {
      throw mismatch(
        type, container.codingPath, "Expected one key, the name of a type, but found \(keys.count) keys.")
    }
    return key
  }

  /// Returns the value of a name that is not registered, as the fallback keeps it.
  private static func unregistered<Value>(
    _ type: Value.Type, _ key: PathKey, _ container: KeyedDecodingContainer<PathKey>, _ registry: TypeRegistry
  ) throws -> Value {
    guard let fallback = registry.fallback else {
      throw unknownName(key, container, registry)
    }
    let content = try container.decode(StowValue.self, forKey: key)
    // What is kept would be written with the numbers that objects have in this graph, and not in that.
    guard ReadObjects.current == nil || !SharedCoding.mayRefer(content) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container,
        debugDescription:
          "A value of a type that is not registered cannot be kept if it refers to shared objects.")
    }
    guard let value = fallback.init(typeName: key.stringValue, content: content) as? Value else {
      throw mismatch(
        type, container.codingPath + [key], "The fallback \(fallback) is no \(type). \(registry.listing)")
    }
    return value
  }

  // MARK: errors

  private static func mismatch(_ type: Any.Type, _ path: [any CodingKey], _ text: String) -> DecodingError {
    .typeMismatch(type, DecodingError.Context(codingPath: path, debugDescription: text))
  }

  private static func unknownName(
    _ key: PathKey, _ container: KeyedDecodingContainer<PathKey>, _ registry: TypeRegistry
  ) -> DecodingError {
    // A stranger may have chosen a long one.
    let name = String(String.UnicodeScalarView(key.stringValue.unicodeScalars.prefix(longestName)))
    return .dataCorruptedError(
      forKey: key, in: container, debugDescription: "No type is named \"\(name)\". \(registry.listing)")
  }

  private static let longestName = 100
}
