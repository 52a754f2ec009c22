/// Tells a nil of its own from one of the optional inside, which `Optional.init(from:)` cannot.
final class OptionalDecodingPlan<Wrapped: Decodable>: DecodingPlan<Wrapped?> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> Wrapped? {
    if Nils.isNil(session.message.reader, at: offset) {
      return inner(level: Nils.level(session.message.reader, at: offset), session)
    }
    return try session.decodeKnown(Wrapped.self, session.types.entry(for: Wrapped.self), at: offset, node)
  }

  override func decode(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) throws -> Wrapped? {
    try source.session.decode(Wrapped.self, element, of: source, at: node)
  }

  override func none(level: Int, _ session: DecodingSession) -> Wrapped?? {
    .some(inner(level: level, session))
  }

  /// Returns what a nil stands for: nil if it is this optional's own, or a value that holds it further inside.
  private func inner(level: Int, _ session: DecodingSession) -> Wrapped? {
    level == 0 ? nil : session.none(Wrapped.self, level: level - 1)
  }
}
