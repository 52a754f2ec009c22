// Optionals, arrays and dictionaries, decoded without their own `init(from:)`: a call, a container and an
// existential are saved for every element.

extension Optional: PlannedDecodable where Wrapped: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan { OptionalDecodingPlan<Wrapped>() }
}

extension Array: PlannedDecodable where Element: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan {
    if Element.self == StowValue.self { return StowValueArrayPlan() }
    return ScalarTypes.scalar(Element.self)?.makeArrayPlan() ?? ArrayDecodingPlan<Element>()
  }
}

extension Dictionary: PlannedDecodable where Key: Decodable, Value: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan {
    guard Key.self == String.self else { return PlainDecodingPlan<Self>() }
    return ScalarTypes.scalar(Value.self)?.makeDictionaryPlan() ?? DictionaryDecodingPlan<Value>()
  }
}
