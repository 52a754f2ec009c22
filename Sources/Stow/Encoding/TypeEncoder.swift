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
  /// Records a value.
  ///
  /// - Parameter level: How many optionals are around the value, which distinguishes a nil in it from theirs.
  func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    preconditionFailure("a type encoder without a way to encode")
  }

  /// Records the elements of the array that begins at `parent`.
  func encode(_ elements: UnsafeBufferPointer<Value>, into recorder: Recorder, parent: Int) throws {
    try borrowingEach(of: elements) {
      try encode($0, into: recorder, key: TokenKey($1), parent: parent, level: 0)
    }
  }

  /// Returns an array as a value that is packed when it is written, or nil.
  func retained(_ elements: [Value]) -> RetainedValue? { nil }
}

// MARK: - Scalars

/// A type whose values are recorded without their own `encode(to:)`.
protocol RecordableScalar: Encodable, Sendable {
  func record(in recording: inout Recording, key: TokenKey)

  /// Record the elements of an array, and the entries of a map. Each type has its own, specialized code.
  static func record(_ values: UnsafeBufferPointer<Self>, in recording: inout Recording)
  static func record(_ values: [String: Self], in recording: inout Recording)

  /// Returns an array as a value that is packed when it is written; nil if it has no such form.
  static func retained(_ values: [Self]) -> RetainedValue?
}

/// A scalar that is recorded as a token, and a word if it needs one.
protocol TapeScalar: RecordableScalar {
  func record(on tape: inout some TokenTape & ~Copyable, key: TokenKey)
}

extension TapeScalar {
  @inline(__always)
  func record(in recording: inout Recording, key: TokenKey) { record(on: &recording.tape, key: key) }
}

extension TapeScalar where Self: FixedWidthInteger {
  @inline(__always)
  func record(on tape: inout some TokenTape & ~Copyable, key: TokenKey) {
    if let short = Int32(exactly: self) {
      tape.append(Token(.integer, key: key, index: Int(short)))
    } else {
      let isUnsigned = !Self.isSigned && Self.bitWidth == 64 && self > Self(truncatingIfNeeded: Int64.max)
      tape.append(isUnsigned ? .unsigned : .longInteger, key: key, word: UInt64(truncatingIfNeeded: self))
    }
  }
}

extension Bool: TapeScalar {
  @inline(__always)
  func record(on tape: inout some TokenTape & ~Copyable, key: TokenKey) {
    tape.append(Token(self ? .true : .false, key: key))
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
  func record(in recording: inout Recording, key: TokenKey) {
    if let value = Int64(exactly: self) {
      value.record(in: &recording, key: key)
    } else if let value = UInt64(exactly: self) {
      value.record(in: &recording, key: key)
    } else {
      recording.record(Integers.form(bits: UInt128(bitPattern: self), isSigned: true), key: key)
    }
  }
}

extension UInt128: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    if let value = Int128(exactly: self) {
      value.record(in: &recording, key: key)
    } else {
      recording.record(Integers.form(bits: self, isSigned: false), key: key)
    }
  }
}

extension String: RecordableScalar {
  @inline(__always)
  func record(in recording: inout Recording, key: TokenKey) {
    let index = recording.strings.intern(self)
    recording.strings[index].valueUses &+= 1
    recording.tape.append(Token(.string, key: key, index: index))
  }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: RecordableScalar {
    func record(in recording: inout Recording, key: TokenKey) {
      Float(preserving: self).record(in: &recording, key: key)
    }
  }
#endif

extension Date: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    recording.tape.append(.date, key: key, word: timeIntervalSinceReferenceDate.bitPattern)
  }
}

extension UUID: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    let bits = withUnsafeBytes(of: uuid) { $0.loadUnaligned(as: UInt128.self) }
    recording.record(UUIDs.form(UInt128(littleEndian: bits)), key: key)
  }
}

extension URL: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    recording.record(url: absoluteString, key: key)
  }
}

extension Data: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    recording.retain(.data(self), key: key)
  }
}

extension Decimal: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    recording.record(Decimals.form(DecimalParts(self)), key: key)
  }
}

/// Records values of a type that is recorded without its own `encode(to:)`.
final class ScalarTypeEncoder<Value: RecordableScalar>: TypeEncoder<Value> {
  override func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) {
    value.record(in: &recorder.recording, key: key)
  }

  override func encode(_ elements: UnsafeBufferPointer<Value>, into recorder: Recorder, parent: Int) {
    Value.record(elements, in: &recorder.recording)
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
  override func encode(
    _ value: borrowing Wrapped?, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    let isPresent = try borrowingSome(value) {
      let entry = recorder.encoder(of: Wrapped.self)
      try recorder.encode($0, by: entry, key: key, parent: parent, level: level + 1)
    }
    if !isPresent { recorder.recording.recordNil(level: level, key: key) }
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

  override func encode(
    _ elements: borrowing [Element], into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    let entry = recorder.encoder(of: Element.self)
    let container = ContainerStart(.array, key: key, parent: parent, index: elements.count)
    if elements.count >= Self.shortestRetained, let value = retained(copy elements, entry) {
      try recorder.checkDepth(of: elements, key: key, parent: parent)
      return recorder.recording.retain(value, container)
    }
    try recorder.recordContainer(of: elements, container) { begin in
      try elements.withUnsafeBufferPointer { try record($0, by: entry, in: recorder, begin) }
    }
  }

  private func retained(_ elements: [Element], _ entry: TypeEncoders.Entry) -> RetainedValue? {
    entry.isPlain ? nil : entry.withPlan(as: TypeEncoder<Element>.self) { $0.retained(elements) }
  }

  /// Records the elements of the array that begins at a token.
  private func record(
    _ elements: UnsafeBufferPointer<Element>, by entry: TypeEncoders.Entry, in recorder: Recorder,
    _ begin: Int
  ) throws {
    if entry.isPlain {
      return try borrowingEach(of: elements) {
        try recorder.encodePlain($0, key: TokenKey($1), parent: begin)
      }
    }
    try entry.withPlan(as: TypeEncoder<Element>.self) {
      try $0.encode(elements, into: recorder, parent: begin)
    }
  }
}

/// A dictionary whose keys are strings: a map.
class DictionaryTypeEncoder<Value: Encodable>: TypeEncoder<[String: Value]> {
  final override func encode(
    _ dictionary: borrowing [String: Value], into recorder: Recorder, key: TokenKey, parent: Int,
    level: Int
  ) throws {
    try recorder.recordContainer(of: dictionary, ContainerStart(.map, key: key, parent: parent)) { begin in
      recorder.recording.noteMap(at: begin)
      try record(copy dictionary, in: recorder, begin)
    }
  }

  /// Records the entries of the map that begins at a token.
  func record(_ dictionary: [String: Value], in recorder: Recorder, _ begin: Int) throws {
    let entry = recorder.encoder(of: Value.self)
    for (key, value) in dictionary {
      recorder.recording.recordKey(key)
      try recorder.encode(value, by: entry, key: TokenKey(), parent: begin, level: 0)
    }
  }
}

/// Records dictionaries of scalars by code that is specialized for their type.
private final class ScalarDictionaryEncoder<Value: RecordableScalar>: DictionaryTypeEncoder<Value> {
  override func record(_ dictionary: [String: Value], in recorder: Recorder, _ begin: Int) {
    Value.record(dictionary, in: &recorder.recording)
  }
}

extension RecordableScalar {
  static func makeTypeEncoder() -> AnyTypeEncoder { ScalarTypeEncoder<Self>() }
  fileprivate static func makeDictionaryEncoder() -> AnyTypeEncoder { ScalarDictionaryEncoder<Self>() }

  static func record(_ values: UnsafeBufferPointer<Self>, in recording: inout Recording) {
    borrowingEach(of: values) { value, _ in value.record(in: &recording, key: TokenKey()) }
  }

  static func record(_ values: [String: Self], in recording: inout Recording) {
    // The first keys of a message are new, because a dictionary has none of its keys twice.
    let areNew = recording.strings.count == 0
    for (key, value) in values {
      if areNew { recording.recordKey(new: key) } else { recording.recordKey(key) }
      value.record(in: &recording, key: TokenKey())
    }
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
