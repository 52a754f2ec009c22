/// Records values of a type that is recorded without its own `encode(to:)`.
final class ScalarEncodingPlan<Value: RecordableScalar>: EncodingPlan<Value> {
  override func append(_ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int) {
    value.record(in: &builder.recorded, key: key)
  }

  override func encode(_ elements: UnsafeBufferPointer<Value>, to builder: TapeBuilder, in array: Int) {
    Value.record(elements, in: &builder.recorded, array)
  }

  override func retained(_ elements: [Value], by builder: TapeBuilder, in parent: Int) -> RetainedValue? {
    Value.retained(elements)
  }
}

/// The generic types that have an encoding plan: optionals, arrays, and dictionaries whose keys are strings.
protocol WholeEncodable {
  /// Returns nil if values are encoded by their own `encode(to:)`.
  static func makeEncodingPlan() -> AnyEncodingPlan?
}

extension AnyEncodingPlan {
  /// Returns how values of a type are recorded without their own `encode(to:)`; nil if they are recorded by that, or by
  /// a way that is not known here.
  static func known(_ type: Any.Type) -> AnyEncodingPlan? {
    if type == StowValue.self { return StowValueEncodingPlan() }
    if let encoder = ScalarTypes.scalar(type)?.makeEncodingPlan() { return encoder }
    return mayBeGeneric(type) ? (type as? any WholeEncodable.Type)?.makeEncodingPlan() : nil
  }
}

// MARK: - Optionals, arrays and dictionaries

// Recorded without their own `encode(to:)`: what they would record is known, and this saves a call and an
// existential for every element.

extension Optional: WholeEncodable where Wrapped: Encodable {
  static func makeEncodingPlan() -> AnyEncodingPlan? { OptionalEncodingPlan<Wrapped>() }
}

/// Keeps the level of a nil, which `Optional.encode(to:)` would lose.
private final class OptionalEncodingPlan<Wrapped: Encodable>: EncodingPlan<Wrapped?> {
  override func append(
    _ value: borrowing Wrapped?, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    let isPresent = try borrowingSome(value) {
      let entry = builder.plan(of: Wrapped.self)
      try builder.append($0, by: entry, key: key, parent: parent, level: level + 1)
    }
    if !isPresent { builder.recorded.recordNil(level: level, key: key) }
  }
}

// Without a condition, which the runtime would check by a search for the conformance, also of a scalar.
extension Array: WholeEncodable {
  static func makeEncodingPlan() -> AnyEncodingPlan? {
    (ScalarTypes.scalar(Element.self) ?? Element.self as? any Encodable.Type)?.makeArrayPlan()
  }
}

extension Encodable {
  fileprivate static func makeArrayPlan() -> AnyEncodingPlan { ArrayEncodingPlan<Self>() }
}

extension Dictionary: WholeEncodable where Key: Encodable, Value: Encodable {
  static func makeEncodingPlan() -> AnyEncodingPlan? {
    guard Key.self == String.self else { return nil }
    return ScalarTypes.scalar(Value.self)?.makeDictionaryPlan() ?? DictionaryEncodingPlan<Value>()
  }
}

private final class ArrayEncodingPlan<Element: Encodable>: EncodingPlan<[Element]> {
  override func append(
    _ elements: borrowing [Element], to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    let entry = builder.plan(of: Element.self)
    if elements.count >= RetainedValue.fewestElements, !entry.isPlain,
      let value = entry.withPlan(
        as: EncodingPlan<Element>.self, { $0.retained(copy elements, by: builder, in: parent) })
    {
      try builder.checkDepth(of: elements, key: key, parent: parent)
      return builder.recorded.retain(value, key: key)
    }
    try builder.recordContainer(of: elements, isMap: false, key: key, parent: parent) { array in
      try elements.withUnsafeBufferPointer { try encode($0, by: entry, to: builder, in: array) }
    }
  }

  private func encode(
    _ elements: UnsafeBufferPointer<Element>, by entry: EncodingPlans.Entry, to builder: TapeBuilder,
    in array: Int
  ) throws {
    if entry.isPlain {
      return try borrowingEach(of: elements) {
        let index = builder.recorded.tape.count
        try builder.appendPlain($0, key: builder.recorded.tape.key($1), parent: array)
        builder.recorded.tape.link(index, in: array)
      }
    }
    try entry.withPlan(as: EncodingPlan<Element>.self) { try $0.encode(elements, to: builder, in: array) }
  }
}

/// A dictionary whose keys are strings: a map.
class DictionaryEncodingPlan<Value: Encodable>: EncodingPlan<[String: Value]> {
  final override func append(
    _ dictionary: borrowing [String: Value], to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    try builder.recordContainer(of: dictionary, isMap: true, key: key, parent: parent) {
      try encode(copy dictionary, to: builder, in: $0)
    }
  }

  func encode(_ dictionary: [String: Value], to builder: TapeBuilder, in map: Int) throws {
    let entry = builder.plan(of: Value.self)
    for (key, value) in dictionary { try builder.encode(value, by: entry, key: builder.recorded.key(key), in: map) }
  }
}

/// Records dictionaries of scalars by code that is specialized for their type.
private final class ScalarDictionaryEncodingPlan<Value: RecordableScalar>: DictionaryEncodingPlan<Value> {
  override func encode(_ dictionary: [String: Value], to builder: TapeBuilder, in map: Int) {
    Value.record(dictionary, in: &builder.recorded, map)
  }
}

extension RecordableScalar {
  static func makeEncodingPlan() -> AnyEncodingPlan { ScalarEncodingPlan<Self>() }
  fileprivate static func makeDictionaryPlan() -> AnyEncodingPlan { ScalarDictionaryEncodingPlan<Self>() }
}
