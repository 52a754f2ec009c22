/// A way to decode the values of one generic type, without knowing its parameters where it is called.
///
/// The caller knows only `Value`, and calls what the object's class has. No metadata is looked up for that.
class DecodingPlan<Value>: AnyDecodingPlan {
  /// Decodes the value at `offset`.
  func decode(at offset: Int, from session: DecodingSession, _ node: PathNode) throws -> Value {
    preconditionFailure("a plan without a way to decode")
  }

  /// Decodes an element without a tag.
  func decode(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) throws -> Value {
    throw source.session.error(
      FormatError(.cellMismatch, at: source.offset), at: node, expected: Value.self)
  }

  /// Returns the value that stands for a nil `level` optionals deep, or nil if the type has none.
  func none(level: Int, _ session: DecodingSession) -> Value? { nil }
}

/// Decodes values by their own `init(from:)`.
final class PlainDecodingPlan<Value: Decodable>: DecodingPlan<Value> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> Value {
    try session.decodePlain(Value.self, ValueDecoder(session: session, offset: offset, node: node))
  }

  override func decode(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) throws -> Value {
    try source.session.decodePlain(Value.self, source.session.decoder(element, of: source, node))
  }
}
