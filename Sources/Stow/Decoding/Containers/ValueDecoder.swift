#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A value is decoded by a plan, if its type has one, or by its own `init(from:)`, which is handed one of the decoders
// below: of a value with its tag, of an element without one, or of nothing.
//
//     a value     offset  ─▶ plan.decode(at:)          or  init(from: ValueDecoder)
//     an element  number  ─▶ plan.decode(number, of:)  or  init(from: ElementDecoder)

extension DecodingSession {
  /// Decodes the value at `offset`, one step below where `step` begins.
  @inline(__always)
  func decode<Value: Decodable>(
    _ type: Value.Type, at offset: Int, _ step: @autoclosure () -> PathStep
  ) throws -> Value {
    let entry = types.entry(for: type)
    let mark = path.count
    let node = path.push(step())
    defer { path.pop(to: mark) }
    if entry.isPlain {
      return try decodePlain(type, ValueDecoder(session: self, offset: offset, node: node))
    }
    return try decodeKnown(type, entry, at: offset, node)
  }

  @inline(__always)
  func decodePlain<Value: Decodable>(_ type: Value.Type, _ decoder: consuming some Decoder) throws -> Value {
    if !calls.enter(maximumDepth: message.maximumDepth) {
      try calls.enterDue(maximumDepth: message.maximumDepth, decoder)
    }
    defer { calls.leave() }
    // Called on the type that was handed in, which may be a subclass of `Value`.
    return try type.init(from: decoder)
  }

  /// Decodes the value at `offset`, which is at a place of the path.
  @inline(never)
  func decodeKnown<Value: Decodable>(
    _ type: Value.Type, _ entry: DecodingPlans.Entry, at offset: Int, _ node: PathNode
  ) throws -> Value {
    if entry.isPlain {
      return try decodePlain(type, ValueDecoder(session: self, offset: offset, node: node))
    }
    return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(at: offset, from: self, node) }
  }

  /// Decodes an element without a tag, one step below where `step` begins.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ number: ElementNumber, of elements: Elements, _ step: PathStep
  ) throws -> Value {
    let mark = path.count
    let node = path.push(step)
    defer { path.pop(to: mark) }
    return try decode(type, number, of: elements, at: node)
  }

  /// Decodes an element without a tag, which is at a place of the path.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ number: ElementNumber, of elements: Elements, at node: PathNode
  ) throws -> Value {
    let entry = types.entry(for: type)
    if let offset = elements.layout.constant(number) { return try decodeKnown(type, entry, at: offset, node) }
    if entry.isPlain {
      return try decodePlain(type, ElementDecoder(elements: elements, number: number, node: node))
    }
    return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(number, of: elements, node) }
  }

  func decoder(_ number: ElementNumber, of elements: Elements, _ node: PathNode) -> any Decoder {
    if let offset = elements.layout.constant(number) {
      return ValueDecoder(session: self, offset: offset, node: node)
    }
    return ElementDecoder(elements: elements, number: number, node: node)
  }

  // MARK: nil

  /// Returns what the nil at `offset` stands for inside an optional: nil, unless the type is an optional itself and the
  /// nil is its own.
  func decodeNil<Value: Decodable>(_ type: Value.Type, at offset: Int) throws -> Value? {
    let level = Nils.level(message.reader, at: offset)
    return level == 0 ? nil : none(type, level: level - 1)
  }

  /// Returns the nil of an optional type that stands in `level` others; nil for other types.
  func none<Value: Decodable>(_ type: Value.Type, level: Int = 0) -> Value? {
    let entry = types.entry(for: type)
    guard !entry.isPlain else { return nil }
    return entry.withPlan(as: DecodingPlan<Value>.self) { $0.none(level: level, self) }
  }
}

// MARK: decoders

/// A single-value container that reads every scalar in one way.
protocol ScalarContainer: SingleValueDecodingContainer {
  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value
}

extension ScalarContainer {
  func decode<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { try read(type) }
  // The standard library has defaults for these, which throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }
}

/// The decoder that a value is handed: the place in the message where its bytes stand.
///
/// Three words, so that it sits inside its existential. It keeps the session alive and may outlive the
/// `init(from:)` it was made for.
struct ValueDecoder: Decoder, ScalarContainer, StowValueCoder {
  let session: DecodingSession
  let offset: Int
  let node: PathNode

  var codingPath: [any CodingKey] { session.codingPath(node, at: offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    do throws(FormatError) {
      guard let object = try ObjectHeader.read(session.message.reader, at: offset) else {
        try fail(.mismatch, at: offset)
      }
      return try session.container(type) { reader throws(FormatError) in try reader.open(object, node) }
    } catch {
      throw session.error(error, at: node, offset, expected: [String: Any].self)
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    do throws(FormatError) {
      if let elements = try Elements.at(offset, session) {
        return ElementsDecoder(elements: elements, node: node)
      }
      return ArrayDecoder(session: session, try Arrays.read(session.message.reader, at: offset), node)
    } catch {
      throw session.error(error, at: node, offset, expected: [Any].self)
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  // MARK: the single value

  func decodeNil() -> Bool { Nils.isNil(session.message.reader, at: offset) }

  @inline(__always)
  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    var next = offset
    do throws(FormatError) { return try Value.read(session.message, at: offset, next: &next) } catch {
      throw session.error(error, at: node, offset, expected: type)
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try session.decodeKnown(type, session.types.entry(for: type), at: offset, node)
  }
}

/// The decoder of an element without a tag: a row, which is an object or an array, or a cell. Three words, too.
struct ElementDecoder: Decoder, ScalarContainer, StowValueCoder {
  let elements: Elements
  let number: ElementNumber
  let node: PathNode

  private var session: DecodingSession { elements.session }
  private var offset: Int { elements.layout.row(number) ?? elements.offset }
  var codingPath: [any CodingKey] { session.codingPath(node, at: offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let shape = elements.shape, let row = elements.layout.row(number) else {
      throw failure(FormatError(.cellMismatch, at: elements.offset), [String: Any].self)
    }
    return session.container(type) { $0.open(row: row, of: elements, shape: shape, node) }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let cells = elements.cells(ofRow: number) else {
      throw failure(FormatError(.cellMismatch, at: elements.offset), [Any].self)
    }
    return ElementsDecoder(elements: cells, node: node)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private func failure(_ error: FormatError, _ type: Any.Type) -> any Error {
    session.error(error, at: node, offset, expected: type)
  }

  // MARK: the single value

  func decodeNil() -> Bool { false }

  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    do throws(FormatError) { return try Value.read(elements.cell(number), at: elements.offset) } catch {
      throw failure(error, type)
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try session.decode(type, number, of: elements, at: node)
  }
}

/// The decoder of a value that is not there, for `superDecoder(forKey:)`: it finds nil.
struct MissingDecoder: Decoder, SingleValueDecodingContainer, StowValueCoder {
  let session: DecodingSession
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch([String: Any].self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { true }

  // The standard library's defaults for these throw.
  func decode(_ type: Int128.Type) throws -> Int128 { throw mismatch(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { throw mismatch(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // An optional finds its nil; other types may make something of it.
    if let none = session.none(type) { return none }
    guard session.types.entry(for: type).isPlain else { throw mismatch(type) }
    return try session.decodePlain(type, self)
  }

  private func mismatch(_ type: Any.Type) -> any Error {
    DecodingError.noValue(of: type, path: codingPath, "Expected a value of type \(type), but there is none.")
  }
}
