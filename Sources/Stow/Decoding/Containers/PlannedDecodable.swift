/// The types that have a plan besides scalars and `StowValue`: optionals, arrays, and dictionaries of strings.
protocol PlannedDecodable {
  static func makeDecodingPlan() -> AnyDecodingPlan
}

typealias DecodingPlans = TypePlans<AnyDecodingPlan>

extension DecodingPlans {
  init() {
    self.init(
      ofScalar: {
        $0 == StowValue.self ? Self.plan($0) : ScalarTypes.scalar($0)?.makeDecodingPlan()
      },
      ofGeneric: Self.plan)
  }

  private static func plan(_ type: Any.Type) -> AnyDecodingPlan? {
    (type as? any PlannedDecodable.Type)?.makeDecodingPlan()
  }
}
