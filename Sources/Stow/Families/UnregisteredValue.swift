/// A value of a type that the program does not have: its name, and all that it holds.
///
/// A type that conforms to this and to the protocol of its family keeps what a newer program wrote, and writes it again
/// as it was:
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
public protocol UnregisteredValue: SendableMetatype {
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
