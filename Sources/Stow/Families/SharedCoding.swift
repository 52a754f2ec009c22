/// Codes an object as a reference, which says the number of the object in the graph.
///
/// ```
/// {"shared": 0}
/// ```
enum SharedCoding: LeafCoding {
  private enum Key: String, CodingKey {
    case shared
  }

  static func encode<Value>(_ value: Value, to encoder: any Encoder) throws {
    try encodeReference(to: value, isConditional: false, encoder)
  }

  static func decode<Value>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
    guard let object = try object(type, from: decoder) else {
      throw ReadObjects.error("The graph has no such object.", decoder.codingPath)
    }
    return object
  }

  /// - Parameter isConditional: Whether the object is only written if another reference wants it.
  static func encodeReference<Value>(to value: Value, isConditional: Bool, _ encoder: any Encoder) throws {
    guard let objects = WrittenObjects.current else {
      throw error(value, encoder, "A shared object is encoded only in a SharedGraph.")
    }
    // Generic code would otherwise get the type of the existential.
    let type = type(of: value as Any)
    guard type is AnyObject.Type, let object = value as? any Encodable & AnyObject else {
      throw error(
        value, encoder, "Only objects of classes that are Encodable are shared, and \(type) is none.")
    }
    let registry = TypeRegistry(userInfo: encoder.userInfo)
    guard type == Value.self || registry.name(of: type) != nil else {
      // Decoding would make an object of another class.
      throw error(
        value, encoder, "The type \(type) is not registered, and it is not \(Value.self). \(registry.listing)"
      )
    }
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(objects.number(of: object, isConditional: isConditional), forKey: .shared)
  }

  /// Returns the object that a reference leads to; nil if it was not written.
  static func object<Value>(_ type: Value.Type, from decoder: any Decoder) throws -> Value? {
    guard let objects = ReadObjects.current else {
      throw ReadObjects.error("A shared object is decoded only in a SharedGraph.", decoder.codingPath)
    }
    let number = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .shared)
    return try objects.object(number, type, decoder)
  }

  /// Whether a value holds what may be a reference.
  static func mayRefer(_ value: StowValue) -> Bool {
    switch value {
    case .array(let elements): elements.contains(where: mayRefer)
    case .object(let object):
      object.count == 1 && object[Key.shared.stringValue]?.int != nil
        || object.values.contains(where: mayRefer)
    default: false
    }
  }

  private static func error(_ value: Any, _ encoder: any Encoder, _ text: String) -> EncodingError {
    .invalidValue(value, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: text))
  }
}
