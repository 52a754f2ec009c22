// How the values of one field are recorded from where they lie, and decoded to where they are to stand.

/// Codes the values of a field. Those of most types are known by their kind, and coded in line.
class FieldCoder {
  enum Kind {
    case double, int, string, bool, optionalDouble, optionalInt, optionalString
    /// Another scalar, or an optional of one.
    case scalar
    /// What may hold containers, and calls `Codable`.
    case other
  }

  let kind: Kind
  /// Decodes the values of rows, if that can be done at once; false where each row must be looked at, also to find out what
  /// is wrong. Nil of types that are no cells.
  let decodeRows: ((FieldColumn, Message, FieldTarget) -> Bool)?

  fileprivate init(_ kind: Kind, _ decodeRows: ((FieldColumn, Message, FieldTarget) -> Bool)?) {
    self.kind = kind
    self.decodeRows = decodeRows
  }

  var isOptional: Bool { false }
  var hasDefault: Bool { false }

  /// Whether an optional has a value.
  func isPresent(_ value: UnsafeRawPointer) -> Bool { true }

  /// Records a value that is present.
  func encode(_ value: UnsafeRawPointer, key: TokenKey, into recorder: Recorder) throws {
    preconditionFailure("a field without a type")
  }

  /// Decodes the value that stands at an offset of the object, or in a column.
  func decode(
    _ field: CodedField, at offset: Int, of object: FieldsObject, to target: UnsafeMutableRawPointer,
    _ session: DecodingSession
  ) throws {
    preconditionFailure("a field without a type")
  }

  /// Makes the value that stands for none; false if there must be one.
  func makeAbsent(_ target: UnsafeMutableRawPointer) -> Bool { false }

  /// Deinitializes what was decoded.
  func destroy(_ target: FieldTarget) {}
}

/// A field of the values that are coded: its key, and where its property lies.
struct CodedField: BitwiseCopyable {
  let kind: FieldCoder.Kind
  let isOptional: Bool
  /// Whether values are coded in line; and of these, whether one that is absent is nil.
  let isInLine: Bool
  let isNilIfAbsent: Bool
  let number: Int
  /// The byte of its key.
  let byte: Int
  let offset: Int
  let coder: Unmanaged<FieldCoder>

  /// The fields in memory of their own, where they are read without counting references.
  static func allocate(
    _ coders: [FieldCoder], _ bytes: [Int], _ offsets: [Int]
  ) -> UnsafeMutableBufferPointer<CodedField> {
    let fields = UnsafeMutableBufferPointer<CodedField>.allocate(capacity: offsets.count)
    for (number, offset) in offsets.enumerated() {
      let coder = coders[number]
      let isInLine = coder.kind != .scalar && coder.kind != .other
      fields.initializeElement(
        at: number,
        to: CodedField(
          kind: coder.kind, isOptional: coder.isOptional, isInLine: isInLine,
          isNilIfAbsent: isInLine && coder.isOptional && !coder.hasDefault, number: number,
          byte: bytes[number], offset: offset,
          coder: .passUnretained(coder)))
    }
    return fields
  }

  /// Whether an optional has a value, which is written then.
  func isPresent(_ value: UnsafeRawPointer) -> Bool {
    switch kind {
    case .optionalDouble: value.load(as: Double?.self) != nil
    case .optionalInt: value.load(as: Int?.self) != nil
    case .optionalString: value.assumingMemoryBound(to: String?.self).pointee != nil
    default: coder._withUnsafeGuaranteedRef { $0.isPresent(value) }
    }
  }

  /// Reads a value that is read in line.
  @inline(__always)
  func read(
    _ message: Message, at offset: Int, next: inout Int, to target: UnsafeMutableRawPointer
  ) throws(FormatError) {
    if isOptional, Nils.isNil(message.reader, at: offset) {
      next = try message.reader.end(of: offset)
      return putNil(target)
    }
    switch kind {
    case .double: target.put(try Double.read(message, at: offset, next: &next))
    case .int: target.put(try Int.read(message, at: offset, next: &next))
    case .string: target.put(try String.read(message, at: offset, next: &next))
    case .bool: target.put(try Bool.read(message, at: offset, next: &next))
    case .optionalDouble: target.put(Optional(try Double.read(message, at: offset, next: &next)))
    case .optionalInt: target.put(Optional(try Int.read(message, at: offset, next: &next)))
    case .optionalString: target.put(Optional(try String.read(message, at: offset, next: &next)))
    case .scalar, .other: preconditionFailure("a field that is not coded in line")
    }
  }

  /// Puts in the nil of an optional that is coded in line.
  func putNil(_ target: UnsafeMutableRawPointer) {
    switch kind {
    case .optionalDouble: target.put(nil as Double?)
    case .optionalInt: target.put(nil as Int?)
    default: target.put(nil as String?)
    }
  }

  /// Of which type `read` wanted a value.
  func expected(at offset: Int, _ message: Message) -> Any.Type? {
    if isOptional, Nils.isNil(message.reader, at: offset) { return nil }
    return switch kind {
    case .double, .optionalDouble: Double.self
    case .int, .optionalInt: Int.self
    case .bool: Bool.self
    default: String.self
    }
  }

  /// The bytes that tell keys from the others of their type; nil if they are not a trivial byte each.
  static func bytes(of keys: [any CodingKey]) -> [Int]? {
    func byte<Key: CodingKey>(_ key: Key) -> Int? {
      MemoryLayout<Key>.size <= 1 && _isPOD(Key.self) ? keyByte(key) : nil
    }
    let bytes = keys.compactMap { byte($0) }
    return bytes.count == keys.count ? bytes : nil
  }
}

/// Where the values of a field are to stand, in one or more values at equal distances.
struct FieldTarget {
  let start: UnsafeMutableRawPointer
  var stride = 0
  var count = 1

  subscript(index: Int) -> UnsafeMutableRawPointer { start + index &* stride }
}

/// Where the values of a field stand in rows: nowhere, once for all, or in cells.
enum FieldColumn {
  case absent
  case constant(Int)
  case cells(type: UInt8, base: Int64, first: Int, stride: Int)

  init(_ column: Columns.Column?, _ columns: Columns) {
    guard let column else {
      self = .absent
      return
    }
    let first = columns.rows.lowerBound + Int(column.offset)
    self =
      column.constant.map { .constant($0) }
      ?? .cells(type: column.type, base: column.base, first: first, stride: columns.stride)
  }
}

extension UnsafeMutableRawPointer {
  func put<Value>(_ value: Value) { initializeMemory(as: Value.self, to: value) }
}

// MARK: which coder a field has

/// Makes the coder of a field.
struct CoderMaker: FieldVisitor {
  func visit<Value: Codable>(_ type: Value.Type, _ makeDefault: (() -> Value)?) -> FieldCoder {
    if let optional = type as? any OptionalField.Type { return optional.makeCoder(makeDefault) }
    if let scalar = scalar(type) { return scalar.makeCoder(makeDefault) }
    return ValueCoder<Value>.make(makeDefault)
  }
}

private typealias CodedScalar = ReadableScalar & RecordableScalar

private func scalar(_ type: Any.Type) -> (any CodedScalar.Type)? {
  Scalars.all.first { $0 == type }.flatMap { $0 as? any CodedScalar.Type }
}

private protocol OptionalField {
  static func makeCoder<Value>(_ makeDefault: (() -> Value)?) -> FieldCoder
}

extension Optional: OptionalField where Wrapped: Codable {
  fileprivate static func makeCoder<Value>(_ makeDefault: (() -> Value)?) -> FieldCoder {
    if let scalar = scalar(Wrapped.self) { return scalar.makeOptionalCoder(makeDefault) }
    return OptionalCoder(.other, ValueCoder<Wrapped>.make(nil), typed(makeDefault))
  }
}

/// What makes a default, which is known to be a `Target`.
private func typed<Value, Target>(_ makeDefault: (() -> Value)?) -> (() -> Target)? {
  makeDefault.map { make in { reinterpret(make(), as: Target.self) } }
}

extension ReadableScalar where Self: RecordableScalar {
  fileprivate static func makeCoder<Value>(_ makeDefault: (() -> Value)?) -> FieldCoder {
    if self == Double.self { return coder(Double.self, .double, typed(makeDefault)) }
    if self == Int.self { return coder(Int.self, .int, typed(makeDefault)) }
    if self == Bool.self { return coder(Bool.self, .bool, typed(makeDefault)) }
    return coder(Self.self, self == String.self ? .string : .scalar, typed(makeDefault))
  }

  fileprivate static func makeOptionalCoder<Value>(_ makeDefault: (() -> Value)?) -> FieldCoder {
    if self == Double.self { return optionalCoder(Double.self, .optionalDouble, typed(makeDefault)) }
    if self == Int.self { return optionalCoder(Int.self, .optionalInt, typed(makeDefault)) }
    return optionalCoder(Self.self, self == String.self ? .optionalString : .scalar, typed(makeDefault))
  }
}

/// In line, so that rows are decoded by code that is compiled for their type.
@inline(__always)
private func coder<Value: CodedScalar>(
  _ type: Value.Type, _ kind: FieldCoder.Kind, _ makeDefault: (() -> Value)?
) -> FieldCoder {
  ValueCoder<Value>(kind, makeDefault) { column, message, target in
    target.fill(type, from: column, message, makeDefault) { $0 }
  }
}

@inline(__always)
private func optionalCoder<Value: CodedScalar>(
  _ type: Value.Type, _ kind: FieldCoder.Kind, _ makeDefault: (() -> Value?)?
) -> FieldCoder {
  OptionalCoder(kind, ValueCoder<Value>(kind, nil, nil), makeDefault) { column, message, target in
    if case .constant(let offset) = column, Nils.isNil(message.reader, at: offset) {
      return target.fill { nil as Value? }
    }
    if case .absent = column { return target.fill(makeDefault ?? { nil }) }
    return target.fill(type, from: column, message, nil) { Optional($0) }
  }
}

// MARK: values of any type

/// Codes values by the plans of their type, or by their own `Codable`.
private class ValueCoder<Value: Codable>: FieldCoder {
  private let makeDefault: (() -> Value)?
  /// Whether keyed containers have methods of their own for the type, and how it is read then.
  private let keyedScalar: (any ReadableScalar.Type)?

  init(
    _ kind: Kind, _ makeDefault: (() -> Value)?,
    _ decodeRows: ((FieldColumn, Message, FieldTarget) -> Bool)? = nil
  ) {
    self.makeDefault = makeDefault
    let isKeyed =
      Value.self is any FixedWidthInteger.Type || Value.self == Float.self || Value.self == Double.self
      || Value.self == Bool.self || Value.self == String.self
    keyedScalar = isKeyed ? Scalars.readable(Value.self) : nil
    super.init(kind, decodeRows)
  }

  static func make(_ makeDefault: (() -> Value)?) -> ValueCoder {
    CaseCoder<Value>.isOfCases ? CaseCoder(.other, makeDefault) : ValueCoder(.other, makeDefault)
  }

  override func encode(_ value: UnsafeRawPointer, key: TokenKey, into recorder: Recorder) throws {
    let entry = recorder.types.encoders.entry(for: Value.self)
    try borrowing(value.assumingMemoryBound(to: Value.self)) { value in
      if entry.isPlain { return try recorder.encodePlain(value, key: key, parent: recorder.current) }
      try entry.withPlan(as: TypeEncoder<Value>.self) {
        try $0.encode(value, into: recorder, key: key, parent: recorder.current, level: 0)
      }
    }
  }

  override func decode(
    _ field: CodedField, at offset: Int, of object: FieldsObject, to target: UnsafeMutableRawPointer,
    _ session: DecodingSession
  ) throws {
    func read<Read: ReadableScalar>(_ type: Read.Type) throws {
      target.put(try object.read(field, at: offset, session) as Read)
    }
    if let keyedScalar { return try read(keyedScalar) }
    try object.pass(field, offset, session)
    try object.decode(
      field, at: offset, to: target.bindMemory(to: Value.self, capacity: 1), session)
  }

  final override func makeAbsent(_ target: UnsafeMutableRawPointer) -> Bool {
    guard let makeDefault else { return false }
    target.put(makeDefault())
    return true
  }

  final override func destroy(_ target: FieldTarget) {
    for index in 0..<target.count {
      target[index].assumingMemoryBound(to: Value.self).deinitialize(count: 1)
    }
  }
}

/// Codes optionals, which are absent if they are nil.
private final class OptionalCoder<Wrapped: Codable>: FieldCoder {
  private let wrapped: ValueCoder<Wrapped>
  private let makeDefault: (() -> Wrapped?)?

  init(
    _ kind: Kind, _ wrapped: ValueCoder<Wrapped>, _ makeDefault: (() -> Wrapped?)?,
    _ decodeRows: ((FieldColumn, Message, FieldTarget) -> Bool)? = nil
  ) {
    self.wrapped = wrapped
    self.makeDefault = makeDefault
    super.init(kind, decodeRows)
  }

  override var isOptional: Bool { true }
  override var hasDefault: Bool { makeDefault != nil }

  override func isPresent(_ value: UnsafeRawPointer) -> Bool {
    var isPresent = false
    borrowing(value.assumingMemoryBound(to: Wrapped?.self)) { isPresent = borrowingSome($0) { _ in } }
    return isPresent
  }

  override func encode(_ value: UnsafeRawPointer, key: TokenKey, into recorder: Recorder) throws {
    try borrowing(value.assumingMemoryBound(to: Wrapped?.self)) {
      _ = try borrowingSome($0) { try recorder.encode($0, key: key, level: 1) }
    }
  }

  override func decode(
    _ field: CodedField, at offset: Int, of object: FieldsObject, to target: UnsafeMutableRawPointer,
    _ session: DecodingSession
  ) throws {
    if let level = object.place(offset).levelOfNil(session.message) {
      try object.pass(field, offset, session)
      // A nil of an optional within this one is a value here.
      target.put(session.none(Wrapped.self, level: level - 1) as Wrapped?)
      return
    }
    try withUnsafeTemporaryAllocation(of: Wrapped.self, capacity: 1) { memory in
      guard let value = memory.baseAddress else { return }
      try wrapped.decode(field, at: offset, of: object, to: UnsafeMutableRawPointer(value), session)
      target.put(Optional(value.move()))
    }
  }

  override func makeAbsent(_ target: UnsafeMutableRawPointer) -> Bool {
    target.put(makeDefault?() as Wrapped?)
    return true
  }

  override func destroy(_ target: FieldTarget) {
    for index in 0..<target.count {
      target[index].assumingMemoryBound(to: Wrapped?.self).deinitialize(count: 1)
    }
  }
}

/// What a case of an enumeration encodes.
private enum KnownCase {
  case string(String)
  case integer(Int32)
}

/// Codes enumerations with raw values. What a case encodes, and which case a string decodes, is known once its own `Codable` has
/// done it.
private final class CaseCoder<Value: Codable>: ValueCoder<Value> {
  @exclusivity(unchecked) private var encoded = [KnownCase?](repeating: nil, count: 256)
  @exclusivity(unchecked) private var decoded: [(string: String, byte: UInt8)] = []

  /// More strings are not compared one by one.
  private static var mostDecoded: Int { 16 }

  static var isOfCases: Bool {
    MemoryLayout<Value>.size == 1 && _isPOD(Value.self) && Value.self is any RawRepresentable.Type
  }

  override func encode(_ value: UnsafeRawPointer, key: TokenKey, into recorder: Recorder) throws {
    let byte = Int(value.load(as: UInt8.self))
    switch encoded[byte] {
    case .string(let string)? where recorder.userInfo.isEmpty: recorder.recording.record(string, key: key)
    case .integer(let integer)? where recorder.userInfo.isEmpty: recorder.recording.record(integer, key: key)
    default:
      let start = recorder.recording.tape.count
      try super.encode(value, key: key, into: recorder)
      if recorder.recording.tape.count == start + 1 { encoded[byte] = known(start, recorder) }
    }
  }

  /// What was encoded as one token; nil if it takes more to know it.
  private func known(_ start: Int, _ recorder: Recorder) -> KnownCase? {
    let token = recorder.recording.tape[start]
    switch token.kind {
    case .string: return .string(recorder.recording.strings.string(token.index))
    case .integer: return .integer(Int32(truncatingIfNeeded: token.integer))
    default: return nil
    }
  }

  override func decode(
    _ field: CodedField, at offset: Int, of object: FieldsObject, to target: UnsafeMutableRawPointer,
    _ session: DecodingSession
  ) throws {
    var string: String?
    if let start = object.place(offset).tagged, session.userInfo.isEmpty {
      var next = start
      string = try? String.read(session.message, at: start, next: &next)
    }
    if let string, let known = decoded.first(where: { $0.string == string }) {
      try object.pass(field, offset, session)
      target.storeBytes(of: known.byte, as: UInt8.self)
      return
    }
    try super.decode(field, at: offset, of: object, to: target, session)
    if let string, decoded.count < Self.mostDecoded {
      decoded.append((string, target.load(as: UInt8.self)))
    }
  }
}

// MARK: rows

extension FieldTarget {
  fileprivate func fill<Value>(_ make: () -> Value) -> Bool {
    for index in 0..<count { self[index].put(make()) }
    return true
  }

  /// Fills in the values of a column; if one is no `Value`, none is left.
  @inline(__always)
  fileprivate func fill<Value: ReadableScalar, Stored>(
    _ type: Value.Type, from column: FieldColumn, _ message: Message, _ makeDefault: (() -> Value)?,
    _ stored: (Value) -> Stored
  ) -> Bool {
    switch column {
    case .absent: return makeDefault.map { make in fill { stored(make()) } } ?? false
    case .constant(var offset):
      guard let value = try? type.read(message, at: offset, next: &offset) else { return false }
      return fill { stored(value) }
    case .cells(let cellType, let base, let first, let stride):
      for index in 0..<count {
        do throws(FormatError) {
          let value = try type.read(message.reader, at: first &+ index &* stride, cellType, base: base)
          self[index].put(stored(value))
        } catch {
          for done in 0..<index { self[done].assumingMemoryBound(to: Stored.self).deinitialize(count: 1) }
          return false
        }
      }
      return true
    }
  }
}
