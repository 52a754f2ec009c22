/// A value of a type that the program does not have: its name, and all that it holds.
///
/// A type that conforms to this and to the protocol of its family keeps what a newer program wrote, and writes it again
/// as it was:
///
/// ```swift
/// struct UnknownShape: Shape, UnregisteredValue {
///   var typeName: String
///   var content: StowValue
///   var area: Double { 0 }
/// }
/// types.fallback = UnknownShape.self
/// ```
///
/// It need not be `Codable` itself.
public protocol UnregisteredValue: SendableMetatype {
  /// The name that stands in the message.
  var typeName: String { get }
  /// What stands for the name.
  var content: StowValue { get }

  /// Makes the value of a name that is not registered.
  init(typeName: String, content: StowValue)
}
