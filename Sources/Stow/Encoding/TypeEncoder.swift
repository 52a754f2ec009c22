#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A way to record the values of some type.
class AnyTypeEncoder {}

/// A way to record the values of one type, without knowing its parameters where it is called.
///
/// The caller knows only `Value`, and calls a method of the object's class. This looks up no metadata.
class TypeEncoder<Value>: AnyTypeEncoder {
  /// Appends a value, which the caller links to `parent`.
  ///
  /// - Parameter level: How many optionals are around the value, which distinguishes a nil in it from theirs.
  func append(
    _ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    preconditionFailure("a type encoder without a way to encode")
  }

  /// Records the elements of an array.
  func encode(_ elements: UnsafeBufferPointer<Value>, to builder: TapeBuilder, in array: Int) throws {
    try borrowingEach(of: elements) {
      let index = builder.recorded.tape.count
      try append($0, to: builder, key: builder.recorded.tape.key($1), parent: array, level: 0)
      builder.recorded.tape.link(index, in: array)
    }
  }

  /// Returns an array as a value that is packed when it is written, or nil.
  func retained(_ elements: [Value]) -> RetainedValue? { nil }
}

// MARK: - Scalars

/// A type whose values are recorded without their own `encode(to:)`.
protocol RecordableScalar: Encodable, Sendable {
  /// Appends a token.
  func record(in message: inout RecordedMessage, key: TokenKey)

  /// Record the elements of an array, and the entries of a map. Each type has its own, specialized code.
  static func record(_ values: UnsafeBufferPointer<Self>, in message: inout RecordedMessage, _ array: Int)
  static func record(_ values: [String: Self], in message: inout RecordedMessage, _ map: Int)

  /// Returns an array as a value that is packed when it is written; nil if it has no such form.
  static func retained(_ values: [Self]) -> RetainedValue?
}

/// A scalar that is recorded as a token, and a word if it needs one.
protocol TapeScalar: RecordableScalar {
  func record(on tape: inout some TokenTape & ~Copyable, key: TokenKey)
}

extension TapeScalar {
  @inline(__always)
  func record(in message: inout RecordedMessage, key: TokenKey) { record(on: &message.tape, key: key) }
}

extension TapeScalar where Self: FixedWidthInteger {
  @inline(__always)
  func record(on tape: inout some TokenTape & ~Copyable, key: TokenKey) {
    if let short = Int32(exactly: self) {
      tape.append(.integer, key: key, value: Int(short))
    } else {
      let isUnsigned = !Self.isSigned && Self.bitWidth == 64 && self > Self(truncatingIfNeeded: Int64.max)
      tape.append(isUnsigned ? .unsigned : .longInteger, key: key, word: UInt64(truncatingIfNeeded: self))
    }
  }
}

extension Bool: TapeScalar {
  @inline(__always)
  func record(on tape: inout some TokenTape & ~Copyable, key: TokenKey) {
    tape.append(self ? .true : .false, key: key, value: 0)
  }

  static func retained(_ values: [Bool]) -> RetainedValue? { .bools(values) }
}

extension Double: TapeScalar {
  @inline(__always)
  func record(on tape: inout some TokenTape & ~Copyable, key: TokenKey) {
    tape.append(.double, key: key, word: bitPattern)
  }

  static func retained(_ values: [Double]) -> RetainedValue? { .doubles(values) }
}

extension Float: TapeScalar {
  /// Records the `Double` of the same value. A NaN keeps its own bits, which conversion may change.
  @inline(__always)
  func record(on tape: inout some TokenTape & ~Copyable, key: TokenKey) {
    if isNaN {
      tape.append(.float, key: key, word: UInt64(bitPattern))
    } else {
      Double(self).record(on: &tape, key: key)
    }
  }

  static func retained(_ values: [Float]) -> RetainedValue? {
    values.contains(where: \.isNaN) ? nil : .doubles(values.map(Double.init))
  }
}

extension Int: TapeScalar {
  static func retained(_ values: [Int]) -> RetainedValue? { .ints(values) }
}

extension Int8: TapeScalar {}
extension Int16: TapeScalar {}
extension Int32: TapeScalar {}
extension Int64: TapeScalar {
  static func retained(_ values: [Int64]) -> RetainedValue? { .integers(values) }
}

extension UInt: TapeScalar {}
extension UInt8: TapeScalar {}
extension UInt16: TapeScalar {}
extension UInt32: TapeScalar {}
extension UInt64: TapeScalar {}

extension Int128: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    if let value = Int64(exactly: self) {
      value.record(in: &message, key: key)
    } else if let value = UInt64(exactly: self) {
      value.record(in: &message, key: key)
    } else {
      message.record(Integers.form(bits: UInt128(bitPattern: self), isSigned: true), key: key)
    }
  }
}

extension UInt128: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    if let value = Int128(exactly: self) {
      value.record(in: &message, key: key)
    } else {
      message.record(Integers.form(bits: self, isSigned: false), key: key)
    }
  }
}

extension String: RecordableScalar {
  @inline(__always)
  func record(in message: inout RecordedMessage, key: TokenKey) {
    let index = message.strings.intern(self)
    message.strings[index].valueUses &+= 1
    message.tape.append(.string, key: key, value: index)
  }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: RecordableScalar {
    func record(in message: inout RecordedMessage, key: TokenKey) {
      Float(preserving: self).record(in: &message, key: key)
    }
  }
#endif

extension Date: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    message.tape.append(.date, key: key, word: timeIntervalSinceReferenceDate.bitPattern)
  }
}

extension UUID: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    let bits = withUnsafeBytes(of: uuid) { $0.loadUnaligned(as: UInt128.self) }
    message.record(UUIDs.form(UInt128(littleEndian: bits)), key: key)
  }
}

extension URL: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    message.record(url: absoluteString, key: key)
  }
}

extension Data: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    message.retain(.data(self), key: key)
  }
}

extension Decimal: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    message.record(Decimals.form(DecimalParts(self)), key: key)
  }
}

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

typealias TypeEncoders = TypePlans<AnyTypeEncoder>

extension TypeEncoders {
  init() {
    self.init { type in
      if type == StowValue.self { return StowValueEncoder() }
      if let encoder = ScalarTypes.scalar(type)?.makeTypeEncoder() { return encoder }
      if mayBeGeneric(type), let encoder = (type as? any WholeEncodable.Type)?.makeTypeEncoder() {
        return encoder
      }
      return (type as? any StowFields.Type)?.makeFieldsEncoder()
    }
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

  static func record(_ values: UnsafeBufferPointer<Self>, in message: inout RecordedMessage, _ array: Int) {
    let first = message.tape.count
    borrowingEach(of: values) { value, _ in value.record(in: &message, key: TokenKey()) }
    message.tape.linkAll(from: first, in: array)
  }

  static func record(_ values: [String: Self], in message: inout RecordedMessage, _ map: Int) {
    let first = message.tape.count
    // The first keys of a message are new, because a dictionary has none of its keys twice.
    let areNew = message.strings.count == 0
    for (key, value) in values {
      value.record(in: &message, key: areNew ? message.key(new: key) : message.key(key))
    }
    message.tape.linkAll(from: first, in: map)
  }

  static func retained(_ values: [Self]) -> RetainedValue? { nil }
}

extension TapeScalar where Self: FixedWidthInteger {
  /// For integers of any width; those beyond `Int64` are recorded one by one.
  static func retained(_ values: [Self]) -> RetainedValue? {
    if bitWidth == 64, !isSigned, values.contains(where: { $0 > Self(Int64.max) }) { return nil }
    return .integers(values.map { Int64(truncatingIfNeeded: $0) })
  }
}
