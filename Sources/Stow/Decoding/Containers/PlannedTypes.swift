// Optionals, arrays and dictionaries, decoded without their own `init(from:)`: a call, a container and an
// existential are saved for every element.

extension Optional: PlannedDecodable where Wrapped: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan { OptionalDecodingPlan<Wrapped>() }
}

extension Array: PlannedDecodable where Element: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan {
    switch ValueKind(Element.self) {
    case .int: IntArrayPlan()
    case .int8: IntegerArrayPlan<Int8>()
    case .int16: IntegerArrayPlan<Int16>()
    case .int32: IntegerArrayPlan<Int32>()
    case .int64: IntegerArrayPlan<Int64>()
    case .uint: IntegerArrayPlan<UInt>()
    case .uint8: IntegerArrayPlan<UInt8>()
    case .uint16: IntegerArrayPlan<UInt16>()
    case .uint32: IntegerArrayPlan<UInt32>()
    case .uint64: IntegerArrayPlan<UInt64>()
    case .double: DoubleArrayPlan()
    case .string: StringArrayPlan()
    default: ArrayDecodingPlan<Element>()
    }
  }
}

extension Dictionary: PlannedDecodable where Key: Decodable, Value: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan {
    guard Key.self == String.self else { return PlainDecodingPlan<Self>() }
    switch ValueKind(Value.self) {
    case .string: return StringDictionaryPlan()
    case .int: return IntDictionaryPlan()
    default: return DictionaryDecodingPlan<Value>()
    }
  }
}
