/// The types that have a plan besides scalars: optionals, arrays, and dictionaries of strings.
protocol PlannedDecodable {
  static func makeDecodingPlan() -> AnyDecodingPlan
}

typealias DecodingPlans = TypePlans<AnyDecodingPlan>

extension DecodingPlans {
  init() {
    self.init(
      ofScalar: { ScalarTypes.scalar($0)?.makeDecodingPlan() },
      ofGeneric: { ($0 as? any PlannedDecodable.Type)?.makeDecodingPlan() })
  }
}
