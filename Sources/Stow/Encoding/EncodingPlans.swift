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
    // The most common dictionaries have code of their own. Code for every type would take too much room.
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

/// Records values of any kind, without a call of `Codable` for any of them.
final class StowValueEncodingPlan: EncodingPlan<StowValue> {
  override func append(
    _ value: borrowing StowValue, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    try builder.append(value, key: key, parent: parent, level: level)
  }
}

// Methods of the builder, so that loops need not retain it. Values are lent in place.

extension TapeBuilder {
  @inline(__always)
  fileprivate func append(_ value: borrowing StowValue, key: TokenKey, parent: Int, level: Int = 0) throws {
    switch value {
    case .string(let value): value.record(in: &recorded, key: key)
    case .integer(let value): value.record(in: &recorded, key: key)
    case .double(let value): value.record(in: &recorded, key: key)
    case .bool(let value): value.record(in: &recorded, key: key)
    case .null: recorded.recordNil(level: level, key: key)
    default: try appendOther(value, key: key, parent: parent, level: level)
    }
  }

  @inline(never)
  private func appendOther(_ value: borrowing StowValue, key: TokenKey, parent: Int, level: Int) throws {
    switch value {
    case .array(let elements):
      try recordNest(of: value, isMap: false, key: key, parent: parent) { array in
        try elements.withUnsafeBufferPointer { try encode($0, in: array) }
      }
    case .object(let object):
      try recordNest(of: value, isMap: true, key: key, parent: parent) { map in
        try object.keys.withUnsafeBufferPointer { keys in
          try object.values.withUnsafeBufferPointer { try encode(keys, $0, in: map) }
        }
      }
    case .nestedNull(let inner): recorded.recordNil(level: level + min(max(inner, 0), 255), key: key)
    case .unsignedInteger(let value): value.record(in: &recorded, key: key)
    case .float(let value): value.record(in: &recorded, key: key)
    case .data(let value): value.record(in: &recorded, key: key)
    case .date(let value): value.record(in: &recorded, key: key)
    case .uuid(let value): value.record(in: &recorded, key: key)
    case .url(let value): recorded.tape.append(recorded.token(of: value, as: .url), key: key)
    case .decimal(let value): value.record(in: &recorded, key: key)
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      let parts = DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
      let form = Decimals.form(parts.decimal.map { DecimalParts($0) } ?? parts)
      recorded.tape.append(recorded.token(of: form), key: key)
    default: preconditionFailure("recorded by the caller")
    }
  }

  @inline(never)
  private func encode(_ elements: UnsafeBufferPointer<StowValue>, in array: Int) throws {
    try borrowingEach(of: elements) {
      let index = recorded.tape.count
      try append($0, key: recorded.tape.key($1), parent: array)
      recorded.tape.link(index, in: array)
    }
  }

  @inline(never)
  private func encode(
    _ names: UnsafeBufferPointer<String>, _ values: UnsafeBufferPointer<StowValue>, in map: Int
  ) throws {
    try borrowingEach(of: values) { value, number in
      let index = recorded.tape.count
      try append(value, key: recorded.key(names[number]), parent: map)
      recorded.tape.link(index, in: map)
    }
  }
}
