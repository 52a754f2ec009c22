/// How the values of a type are encoded and decoded: by their own conformance, or by a way of ours that does
/// the same with fewer calls.
enum ValueKind: UInt8 {
  /// By `encode(to:)` and `init(from:)`.
  case plain
  /// By a `TypeEncoder` and a `DecodingPlan`.
  case planned
  /// By the conformance of an optional, which knows what is inside as a type that can be encoded and decoded:
  /// with very many levels that takes too long to ask.
  case deepOptional

  /// The kind of a type that is no scalar; nil if that depends on what it conforms to.
  init?(_ type: Any.Type) {
    let name = TypeName(type)
    if name.nestsManyOptionals {
      self = name.isOptional ? .deepOptional : .plain
    } else if name.mayBeGeneric {
      return nil
    } else {
      self = .plain
    }
  }
}
