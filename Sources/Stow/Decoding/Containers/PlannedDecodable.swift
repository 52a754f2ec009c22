/// A way to decode the values of some generic type.
class AnyDecodingPlan {}

/// The types that have a plan: optionals, arrays, and dictionaries of strings.
protocol PlannedDecodable {
  static func makeDecodingPlan() -> AnyDecodingPlan
}

typealias DecodingPlans = TypePlans<AnyDecodingPlan>

extension DecodingPlans {
  init() { self.init { ($0 as? any PlannedDecodable.Type)?.makeDecodingPlan() } }
}
