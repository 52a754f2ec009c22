// What a type asks for while it is decoded, for StowTesting. Only sessions of their own are observed: their containers are not
// reused, and a key that is missing is always looked for once more, so that other sessions do no work for an observer.

extension DecodingSession {
  convenience init(_ observer: any DecodingObserver) {
    self.init { type in
      if type == StowValue.self || ScalarTypes.scalar(type) != nil { return AnyDecodingPlan.known(type) }
      return (type as? any Decodable.Type)?.makeObservedPlan()
    }
    self.observer = observer
    pools.reusesContainers = false
  }
}

extension Decodable {
  fileprivate static func makeObservedPlan() -> AnyDecodingPlan { ObservedPlan<Self>() }
}

/// Decodes values by their own `init(from:)`.
private final class ObservedPlan<Value: Decodable>: DecodingPlan<Value> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    let decoder = ValueDecoder(session, place, node)
    session.observer?.note(Value.self, at: decoder.codingPath)
    return try session.decodePlain(Value.self, decoder)
  }
}
