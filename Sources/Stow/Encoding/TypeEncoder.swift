/// Records values of a type that is recorded without its own `encode(to:)`.
final class ScalarTypeEncoder<Value: RecordableScalar>: TypeEncoder<Value> {
  override func append(
    _ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) {
    value.record(in: &builder.recorded, key: key)
  }

  override func encode(_ elements: UnsafeBufferPointer<Value>, to builder: TapeBuilder, in array: Int) {
    Value.record(elements, in: &builder.recorded, array)
  }

  override func retained(_ elements: [Value]) -> RetainedValue? { Value.retained(elements) }
}

/// The generic types that have a type encoder: optionals, arrays, and dictionaries whose keys are strings.
protocol WholeEncodable {
  /// Returns nil if values are encoded by their own `encode(to:)`.
  static func makeTypeEncoder() -> AnyTypeEncoder?
}

extension AnyTypeEncoder {
  /// Returns how values of a type are recorded without their own `encode(to:)`; nil if they are recorded by that, or by a
  /// way that is not known here.
  static func known(_ type: Any.Type) -> AnyTypeEncoder? {
    if type == StowValue.self { return StowValueEncoder() }
    if let encoder = ScalarTypes.scalar(type)?.makeTypeEncoder() { return encoder }
    return mayBeGeneric(type) ? (type as? any WholeEncodable.Type)?.makeTypeEncoder() : nil
  }
}

// MARK: - Optionals, arrays and dictionaries

// Recorded without their own `encode(to:)`: what they would record is known, and this saves a call and an
// existential for every element.

extension Optional: WholeEncodable where Wrapped: Encodable {
  static func makeTypeEncoder() -> AnyTypeEncoder? { OptionalTypeEncoder<Wrapped>() }
}

/// Keeps the level of a nil, which `Optional.encode(to:)` would lose.
private final class OptionalTypeEncoder<Wrapped: Encodable>: TypeEncoder<Wrapped?> {
  override func append(
    _ value: borrowing Wrapped?, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    let isPresent = try borrowingSome(value) {
      let entry = builder.encoder(of: Wrapped.self)
      try builder.append($0, by: entry, key: key, parent: parent, level: level + 1)
    }
    if !isPresent { builder.recorded.recordNil(level: level, key: key) }
  }
}

// Without a condition, which the runtime would check by a search for the conformance, also of a scalar.
extension Array: WholeEncodable {
  static func makeTypeEncoder() -> AnyTypeEncoder? {
    (ScalarTypes.scalar(Element.self) ?? Element.self as? any Encodable.Type)?.makeArrayEncoder()
  }
}

extension Encodable {
  fileprivate static func makeArrayEncoder() -> AnyTypeEncoder { ArrayTypeEncoder<Self>() }
}

extension Dictionary: WholeEncodable where Key: Encodable, Value: Encodable {
  static func makeTypeEncoder() -> AnyTypeEncoder? {
    guard Key.self == String.self else { return nil }
    return ScalarTypes.scalar(Value.self)?.makeDictionaryEncoder() ?? DictionaryTypeEncoder<Value>()
  }
}

private final class ArrayTypeEncoder<Element: Encodable>: TypeEncoder<[Element]> {
  /// The shortest array that is retained; shorter ones are recorded element by element.
  private static var shortestRetained: Int { 17 }

  override func append(
    _ elements: borrowing [Element], to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    let entry = builder.encoder(of: Element.self)
    if elements.count >= Self.shortestRetained, let value = retained(copy elements, entry) {
      try builder.checkDepth(of: elements, key: key, parent: parent)
      return builder.recorded.retain(value, key: key)
    }
    try builder.recordContainer(of: elements, isMap: false, key: key, parent: parent) { array in
      try elements.withUnsafeBufferPointer { try encode($0, by: entry, to: builder, in: array) }
    }
  }

  private func retained(_ elements: [Element], _ entry: TypeEncoders.Entry) -> RetainedValue? {
    entry.isPlain ? nil : entry.withPlan(as: TypeEncoder<Element>.self) { $0.retained(elements) }
  }

  private func encode(
    _ elements: UnsafeBufferPointer<Element>, by entry: TypeEncoders.Entry, to builder: TapeBuilder,
    in array: Int
  ) throws {
    if entry.isPlain {
      return try borrowingEach(of: elements) {
        let index = builder.recorded.tape.count
        try builder.appendPlain($0, key: builder.recorded.tape.key($1), parent: array)
        builder.recorded.tape.link(index, in: array)
      }
    }
    try entry.withPlan(as: TypeEncoder<Element>.self) { try $0.encode(elements, to: builder, in: array) }
  }
}

/// A dictionary whose keys are strings: a map.
class DictionaryTypeEncoder<Value: Encodable>: TypeEncoder<[String: Value]> {
  final override func append(
    _ dictionary: borrowing [String: Value], to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    try builder.recordContainer(of: dictionary, isMap: true, key: key, parent: parent) {
      try encode(copy dictionary, to: builder, in: $0)
    }
  }

  /// Records the entries of a map.
  func encode(_ dictionary: [String: Value], to builder: TapeBuilder, in map: Int) throws {
    let entry = builder.encoder(of: Value.self)
    for (key, value) in dictionary {
      try builder.encode(value, by: entry, key: builder.recorded.key(key), in: map)
    }
  }
}

/// Records dictionaries of scalars by code that is specialized for their type.
private final class ScalarDictionaryEncoder<Value: RecordableScalar>: DictionaryTypeEncoder<Value> {
  override func encode(_ dictionary: [String: Value], to builder: TapeBuilder, in map: Int) {
    Value.record(dictionary, in: &builder.recorded, map)
  }
}

extension RecordableScalar {
  static func makeTypeEncoder() -> AnyTypeEncoder { ScalarTypeEncoder<Self>() }
  fileprivate static func makeDictionaryEncoder() -> AnyTypeEncoder { ScalarDictionaryEncoder<Self>() }
}
