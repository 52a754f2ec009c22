/// Records values of a type that is recorded without its own `encode(to:)`.
final class ScalarEncodingPlan<Value: RecordableScalar>: EncodingPlan<Value> {
  override func append(_ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int) {
    value.record(in: &builder.recorded, key: key)
  }
}

/// Records arrays or dictionaries of scalars.
private final class ScalarsEncodingPlan<Values>: EncodingPlan<Values> {
  private let record: (borrowing Values, inout RecordedMessage, inout TapeRoom, TokenKey) -> Void

  init(_ record: @escaping (borrowing Values, inout RecordedMessage, inout TapeRoom, TokenKey) -> Void) {
    self.record = record
  }

  override func append(
    _ values: borrowing Values, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    try builder.checkDepth(of: values, key: key, parent: parent)
    var room = builder.recorded.tape.room(1, in: parent)
    record(values, &builder.recorded, &room, key)
    builder.recorded.tape.take(room)
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
    ScalarTypes.scalar(Element.self)?.makeScalarArrayPlan() ?? (Element.self as? any Encodable.Type)?.makeArrayPlan()
  }
}

extension Encodable {
  fileprivate static func makeArrayPlan() -> AnyEncodingPlan { ArrayEncodingPlan<Self>() }
}

extension Dictionary: WholeEncodable where Key: Encodable, Value: Encodable {
  static func makeEncodingPlan() -> AnyEncodingPlan? {
    guard Key.self == String.self else { return nil }
    // The most usual dictionaries have code for their type; that of all others would be much.
    return switch Value.self {
    case is String.Type: String.makeDictionaryPlan()
    case is Int.Type: Int.makeDictionaryPlan()
    default: ScalarTypes.scalar(Value.self)?.makeDictionaryPlan() ?? DictionaryEncodingPlan<Value>()
    }
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
      let token = builder.recorded.retain(value)
      return builder.recorded.tape.append(token, key: key)
    }
    try builder.recordContainer(of: elements, isMap: false, key: key, parent: parent) { array in
      try elements.withUnsafeBufferPointer { elements in
        guard entry.isPlain else {
          return try entry.withPlan(as: EncodingPlan<Element>.self) { try $0.encode(elements, to: builder, in: array) }
        }
        try borrowingEach(of: elements) {
          let index = builder.recorded.tape.count
          try builder.appendPlain($0, key: builder.recorded.tape.key($1), parent: array)
          builder.recorded.tape.link(index, in: array)
        }
      }
    }
  }
}

/// A dictionary whose keys are strings: a map.
private final class DictionaryEncodingPlan<Value: Encodable>: EncodingPlan<[String: Value]> {
  override func append(
    _ dictionary: borrowing [String: Value], to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    try builder.recordContainer(of: dictionary, isMap: true, key: key, parent: parent) { map in
      let entry = builder.plan(of: Value.self)
      for (key, value) in copy dictionary {
        try builder.encode(value, by: entry, key: builder.recorded.key(key), in: map)
      }
    }
  }
}

extension RecordableScalar {
  static func makeEncodingPlan() -> AnyEncodingPlan { ScalarEncodingPlan<Self>() }
  fileprivate static func makeScalarArrayPlan() -> AnyEncodingPlan {
    ScalarsEncodingPlan<[Self]> { Self.record(copy $0, in: &$1, on: &$2, key: $3) }
  }
  fileprivate static func makeDictionaryPlan() -> AnyEncodingPlan {
    ScalarsEncodingPlan<[String: Self]> { Self.record(copy $0, in: &$1, on: &$2, key: $3) }
  }
}
