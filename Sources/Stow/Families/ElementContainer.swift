/// A way to encode and decode values whose type is only known when the program runs.
protocol LeafCoding {
  static func encode<Value>(_ value: Value, to encoder: any Encoder) throws
  static func decode<Value>(_ type: Value.Type, from decoder: any Decoder) throws -> Value
}

/// A value that is coded by `Leaf`; of arrays, dictionaries and optionals, the elements are.
struct Elementwise<Value, Leaf: LeafCoding>: Codable {
  let value: Value

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
    // By the type that is declared and not by that of the value, so that decoding goes the same way.
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
      // As nil it would come back one level higher.
      let description = "The nil of an optional within another cannot be told from the other's."
      throw EncodingError.invalidValue(
        self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: description))
    }
    try Elementwise<Wrapped, Leaf>(self).encode(to: encoder)
  }

  static func decodeElements<Leaf: LeafCoding>(from decoder: any Decoder, by leaf: Leaf.Type) throws -> Self {
    if try decoder.singleValueContainer().decodeNil() { return nil }
    return try Elementwise<Wrapped, Leaf>(from: decoder).value
  }
}

/// An optional of whatever type.
private protocol AnyOptional {
  var isNil: Bool { get }
}

extension Optional: AnyOptional {
  fileprivate var isNil: Bool { self == nil }
}
