/// A value, and the objects that it and they share.
///
/// ```swift
/// let data = try encoder.encode(SharedGraph(project))
/// let project = try decoder.decode(SharedGraph<Project>.self, from: data).root
/// ```
///
/// The value's `Shared` properties are written as references, and each object once, beside the value:
///
/// ```
/// {"root":    {"owner": {"shared": 0}, "members": [{"shared": 0}, {"shared": 1}]},
///  "objects": {"0": {"name": "Ada"}},              an object by its number
///  "named":   {"1": {"guest": {"name": "Bob"}}}}   the same, of a registered type
/// ```
///
/// Any coder can code it. An object is decoded when the first reference to it is, so that it does not matter in which
/// order types ask for their keys, or whether they skip some.
///
/// Takes time in proportion to the value and its objects.
public struct SharedGraph<Root> {
  /// The value.
  public var root: Root

  /// Makes a graph of a value.
  public init(_ root: Root) { self.root = root }
}

extension SharedGraph: Sendable where Root: Sendable {}
extension SharedGraph: Equatable where Root: Equatable {}
extension SharedGraph: Hashable where Root: Hashable {}

enum SharedGraphKey: String, CodingKey {
  case root, objects, named
}

extension SharedGraph: Encodable where Root: Encodable {
  /// Encodes the value and its objects.
  ///
  /// - Throws: `EncodingError.invalidValue` if an object leads to itself, if more than 128 lead to each other in a row, or
  ///   if one is of a subclass that is not registered, and what encoding the value and the objects throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: SharedGraphKey.self)
    let objects = WrittenObjects()
    try WrittenObjects.$inherited.withValue(objects) {
      try container.encode(root, forKey: .root)
      try objects.write(to: &container, TypeRegistry(userInfo: encoder.userInfo))
    }
  }
}

extension SharedGraph: Decodable where Root: Decodable {
  /// Decodes the value, and the objects that it refers to.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if a reference leads to no object, if an object leads to itself, or if more
  ///   than 128 lead to each other in a row, and what decoding the value and the objects throws.
  public init(from decoder: any Decoder) throws {
    // The numbers of a template's objects are others.
    let decoder = (decoder as? MergedDecoder)?.message ?? decoder
    let container = try decoder.container(keyedBy: SharedGraphKey.self)
    let objects = try ReadObjects(container)
    defer { objects.end() }
    root = try ReadObjects.$inherited.withValue(objects) { try container.decode(Root.self, forKey: .root) }
  }
}
