// How the values of one field are recorded from their place in memory, and decoded into it.

/// Codes the values of a field.
class FieldCoder {
  /// The types whose values are coded by specialized code. For an optional, this is the type that it wraps.
  enum Kind {
    case double, int, string, bool
    /// Another scalar.
    case scalar
    /// A type that may hold containers, and calls `Codable`.
    case other
  }

  let kind: Kind
  let isOptional: Bool
  /// The scalar that the type is, or wraps.
  fileprivate let scalar: (any ReadableScalar.Type)?

  fileprivate init(_ kind: Kind, isOptional: Bool, _ scalar: (any ReadableScalar.Type)?) {
    self.kind = kind
    self.isOptional = isOptional
    self.scalar = scalar
  }

  /// Whether values of the kind are coded in line.
  final var isInLine: Bool { kind != .scalar && kind != .other }
  var hasDefault: Bool { false }

  /// Returns whether an optional has a value.
  func isPresent(_ value: UnsafeRawPointer) -> Bool { true }

  /// Records a value that is present.
  func encode(_ value: UnsafeRawPointer, key: TokenKey, into recorder: Recorder) throws {
    preconditionFailure("a field without a type")
  }

  /// Decodes the value at a place. Types that keyed containers have methods for are read differently.
  func decode(
    _ target: UnsafeMutableRawPointer, at place: OpenPlace, _ session: DecodingSession, _ node: PathNode
  ) throws {
    preconditionFailure("a field without a type")
  }

  /// Makes the value of a missing key. Returns false if there must be one.
  func makeAbsent(_ target: UnsafeMutableRawPointer) -> Bool { false }

  /// Makes the nil of an optional.
  func makeNil(_ target: UnsafeMutableRawPointer) {}

  /// Deinitializes what was decoded.
  func destroy(_ target: UnsafeMutableRawPointer) {}

  /// The scalar, if keyed containers have a method for its type, which reads a value before moving past it.
  final var keyedScalar: (any ReadableScalar.Type)? {
    switch kind {
    case .double, .int, .string, .bool: scalar
    case .scalar: scalar is any FixedWidthInteger.Type || scalar == Float.self ? scalar : nil
    case .other: nil
    }
  }
}

/// Codes values by the plans of their type, or by their own `Codable`.
final class ValueCoder<Value: Codable>: FieldCoder {
  private let makeDefault: (() -> Value)?

  init(_ makeDefault: (() -> Value)?) {
    self.makeDefault = makeDefault
    let scalar = ReadableTypes.scalar(Value.self)
    let kind: Kind =
      switch scalar {
      case is Double.Type: .double
      case is Int.Type: .int
      case is String.Type: .string
      case is Bool.Type: .bool
      default: scalar == nil ? .other : .scalar
      }
    super.init(kind, isOptional: false, scalar)
  }

  override func encode(_ value: UnsafeRawPointer, key: TokenKey, into recorder: Recorder) throws {
    let entry = recorder.types.encoders.entry(for: Value.self)
    try borrowing(value.assumingMemoryBound(to: Value.self)) { value in
      if entry.isPlain { return try recorder.encodePlain(value, key: key, parent: recorder.currentContainer) }
      try entry.withPlan(as: TypeEncoder<Value>.self) {
        try $0.encode(value, into: recorder, key: key, parent: recorder.currentContainer, level: 0)
      }
    }
  }

  override func decode(
    _ target: UnsafeMutableRawPointer, at place: OpenPlace, _ session: DecodingSession, _ node: PathNode
  ) throws {
    let target = target.bindMemory(to: Value.self, capacity: 1)
    try session.decode(into: target, session.types.entry(for: Value.self), at: place, node)
  }

  override func makeAbsent(_ target: UnsafeMutableRawPointer) -> Bool {
    guard let makeDefault else { return false }
    target.put(makeDefault())
    return true
  }

  override func destroy(_ target: UnsafeMutableRawPointer) {
    target.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
  }
}

/// Codes optionals, which are absent if they are nil.
final class OptionalCoder<Wrapped: Codable>: FieldCoder {
  private let wrapped: ValueCoder<Wrapped>
  private let makeDefault: (() -> Wrapped?)?

  init(_ makeDefault: (() -> Wrapped?)?) {
    wrapped = ValueCoder(nil)
    self.makeDefault = makeDefault
    super.init(wrapped.kind, isOptional: true, wrapped.scalar)
  }

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
    _ target: UnsafeMutableRawPointer, at place: OpenPlace, _ session: DecodingSession, _ node: PathNode
  ) throws {
    if let level = place.levelOfNil(session.message) {
      // The nil of an optional within this one is a value here.
      return target.put(session.none(Wrapped.self, level: level - 1) as Wrapped?)
    }
    try withUnsafeTemporaryAllocation(of: Wrapped.self, capacity: 1) { memory in
      guard let value = memory.baseAddress else { return }
      try wrapped.decode(UnsafeMutableRawPointer(value), at: place, session, node)
      target.put(Optional(value.move()))
    }
  }

  override func makeAbsent(_ target: UnsafeMutableRawPointer) -> Bool {
    target.put(makeDefault?() as Wrapped?)
    return true
  }

  override func makeNil(_ target: UnsafeMutableRawPointer) { target.put(nil as Wrapped?) }

  override func destroy(_ target: UnsafeMutableRawPointer) {
    target.assumingMemoryBound(to: Wrapped?.self).deinitialize(count: 1)
  }
}

/// An optional, whose coder is found by the type of a field.
private protocol OptionalField {
  /// - Parameter makeDefault: Makes values of this type.
  static func makeCoder(_ makeDefault: (() -> Any)?) -> FieldCoder
}

extension Optional: OptionalField where Wrapped: Codable {
  fileprivate static func makeCoder(_ makeDefault: (() -> Any)?) -> FieldCoder {
    OptionalCoder<Wrapped>(typed(makeDefault))
  }
}

/// Returns what makes a default, which is known to be a `Value`.
private func typed<Value>(_ makeDefault: (() -> Any)?) -> (() -> Value)? {
  makeDefault.map { make in
    {
      guard let value = make() as? Value else { preconditionFailure("a default of another type") }
      return value
    }
  }
}

extension Decodable where Self: Encodable {
  fileprivate static func makeFieldCoder(_ makeDefault: (() -> Any)?) -> FieldCoder {
    ValueCoder<Self>(typed(makeDefault))
  }
}

extension AnyField {
  /// Makes the coder for the values of the field.
  func makeCoder() -> FieldCoder {
    (type as? any OptionalField.Type)?.makeCoder(makeDefault) ?? type.makeFieldCoder(makeDefault)
  }
}

extension UnsafeMutableRawPointer {
  func put<Value>(_ value: Value) { initializeMemory(as: Value.self, to: value) }
}

// MARK: the fields of a type

/// A field of the values being coded: its key, and the offset of its property.
struct CodedField: BitwiseCopyable {
  let kind: FieldCoder.Kind
  let isOptional: Bool
  /// The byte that identifies its key.
  let byte: Int
  let offset: Int
  let coder: Unmanaged<FieldCoder>

  /// Puts the fields into memory of their own, where they are read without reference counting; empty if no
  /// offsets are known.
  static func allocate(
    _ coders: [FieldCoder], _ bytes: [Int], _ offsets: [Int]?
  ) -> UnsafeMutableBufferPointer<CodedField> {
    let fields = UnsafeMutableBufferPointer<CodedField>.allocate(capacity: offsets?.count ?? 0)
    for (number, offset) in (offsets ?? []).enumerated() {
      let coder = coders[number]
      fields.initializeElement(
        at: number,
        to: CodedField(
          kind: coder.kind, isOptional: coder.isOptional, byte: bytes[number], offset: offset,
          coder: .passUnretained(coder), isInLine: coder.isInLine,
          isNilIfAbsent: coder.isInLine && coder.isOptional && !coder.hasDefault))
    }
    return fields
  }

  /// Returns the bytes that tell keys from others of their type; nil if a key is not a single trivial byte.
  static func bytes(of keys: [any CodingKey]) -> [Int]? {
    func byte<Key: CodingKey>(_ key: Key) -> Int? {
      MemoryLayout<Key>.size <= 1 && _isPOD(Key.self) ? keyByte(key) : nil
    }
    let bytes = keys.compactMap { byte($0) }
    return bytes.count == keys.count ? bytes : nil
  }

  /// Whether values are decoded by `read`, and if so, whether an absent one is nil.
  let isInLine: Bool
  let isNilIfAbsent: Bool

  /// Returns whether an optional has a value, which must then be written.
  func isPresent(_ value: UnsafeRawPointer) -> Bool {
    switch kind {
    case .double: value.load(as: Double?.self) != nil
    case .int: value.load(as: Int?.self) != nil
    case .string: value.assumingMemoryBound(to: String?.self).pointee != nil
    default: coder._withUnsafeGuaranteedRef { $0.isPresent(value) }
    }
  }

  /// Makes the nil of an optional that is read in line.
  @inline(__always)
  func putNil(_ target: UnsafeMutableRawPointer) {
    switch kind {
    case .double: target.put(nil as Double?)
    case .int: target.put(nil as Int?)
    case .bool: target.put(nil as Bool?)
    default: target.put(nil as String?)
    }
  }

  /// Reads a value in line, and returns where it ends.
  @inline(__always)
  func read(
    _ target: UnsafeMutableRawPointer, at offset: Int, _ message: Message
  ) throws(FormatError) -> Int {
    switch kind {
    case .double: try read(Double.self, target, at: offset, message)
    case .int: try read(Int.self, target, at: offset, message)
    case .string: try read(String.self, target, at: offset, message)
    case .bool: try read(Bool.self, target, at: offset, message)
    case .scalar, .other: preconditionFailure("a field that is not read in line")
    }
  }

  /// Reads a scalar, or the nil of an optional, and returns where it ends.
  @inline(__always)
  func read<Value: ReadableScalar>(
    _ type: Value.Type, _ target: UnsafeMutableRawPointer, at offset: Int, _ message: Message
  ) throws(FormatError) -> Int {
    var next = offset
    if !isOptional {
      target.put(try type.read(message, at: offset, next: &next))
    } else if Nils.isNil(message.reader, at: offset) {
      next = try message.reader.end(of: offset)
      target.put(nil as Value?)
    } else {
      target.put(Optional(try type.read(message, at: offset, next: &next)))
    }
    return next
  }
}

// MARK: rows

/// Where the values of a field are in rows: nowhere, once for all rows, or in cells.
enum FieldColumn {
  case absent
  case constant(Int)
  case cells(type: UInt8, base: Int64, first: Int, stride: Int)
}

/// Where the values of a field are to be put: `count` values at equal distances.
struct FieldTarget {
  let start: UnsafeMutableRawPointer
  let stride: Int
  let count: Int

  subscript(index: Int) -> UnsafeMutableRawPointer { start + index &* stride }
}

extension FieldCoder {
  /// Decodes the values of all rows at once. Returns false, and leaves nothing decoded, if each row must be
  /// looked at, also to find out what is wrong.
  final func decode(_ column: FieldColumn, _ message: Message, to target: FieldTarget) -> Bool {
    switch kind {
    case .double: fill(target, with: Double.self, column, message)
    case .int: fill(target, with: Int.self, column, message)
    case .bool: fill(target, with: Bool.self, column, message)
    default: scalar.map { fill(target, with: $0, column, message) } ?? false
    }
  }

  final func destroy(_ target: FieldTarget, upTo count: Int) {
    for index in 0..<count { destroy(target[index]) }
  }

  @inline(__always)
  private func fill<Value: ReadableScalar>(
    _ target: FieldTarget, with type: Value.Type, _ column: FieldColumn, _ message: Message
  ) -> Bool {
    isOptional
      ? fill(target, with: type, column, message) { Optional($0) }
      : fill(target, with: type, column, message) { $0 }
  }

  @inline(__always)
  private func fill<Value: ReadableScalar, Stored>(
    _ target: FieldTarget, with type: Value.Type, _ column: FieldColumn, _ message: Message,
    _ stored: (Value) -> Stored
  ) -> Bool {
    switch column {
    case .absent:
      return (0..<target.count).allSatisfy { makeAbsent(target[$0]) }
    case .constant(var offset):
      if isOptional, Nils.isNil(message.reader, at: offset) {
        for index in 0..<target.count { makeNil(target[index]) }
        return true
      }
      guard let value = try? type.read(message, at: offset, next: &offset) else { return false }
      for index in 0..<target.count { target[index].put(stored(value)) }
      return true
    case .cells(let cellType, let base, let first, let stride):
      for index in 0..<target.count {
        do throws(FormatError) {
          let offset = first &+ index &* stride
          target[index].put(stored(try type.read(message.reader, at: offset, cellType, base: base)))
        } catch {
          destroy(target, upTo: index)
          return false
        }
      }
      return true
    }
  }
}
