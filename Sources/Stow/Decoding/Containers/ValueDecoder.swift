#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A value is decoded by a plan, if its type has one, or by its own `init(from:)`, which is handed a `ValueDecoder`.

/// Where a value stands that is to be decoded: at an offset of the message, with its tag, or among elements that have no tags.
struct OpenPlace {
  /// The elements without tags that this is one of.
  let elements: Elements?
  /// The offset in the message, or the bits of the number among the elements.
  fileprivate let position: Int

  fileprivate init(_ elements: Elements?, _ position: Int) {
    self.elements = elements
    self.position = position
  }

  init(at offset: Int) { self.init(nil, offset) }

  /// The place of an element, or of the one value that its column has.
  init(_ number: ElementNumber, of elements: Elements) {
    if let offset = elements.layout.constant(number) {
      self.init(nil, offset)
    } else {
      self.init(elements, number.bits)
    }
  }

  /// Where a value with a tag stands; nil of an element.
  var tagged: Int? { elements == nil ? position : nil }

  /// The number of an element.
  var number: ElementNumber { ElementNumber(bits: position) }

  /// The offset by which a path finds the value.
  var offset: Int {
    guard let elements else { return position }
    return elements.layout.row(number) ?? elements.offset
  }

  /// Returns how many levels of optionals stand around the nil that stands here; nil if another value does.
  @inline(__always)
  func levelOfNil(_ message: Message) -> Int? {
    guard elements == nil, Nils.isNil(message.reader, at: position) else { return nil }
    return Nils.level(message.reader, at: position)
  }

  @inline(__always)
  func read<Value: ReadableScalar>(_ type: Value.Type, _ message: Message) throws(FormatError) -> Value {
    if let elements { return try Value.read(elements.cell(number), at: elements.offset) }
    var next = position
    return try Value.read(message, at: position, next: &next)
  }

  /// Returns the elements of the array that stands here, or where they stand if they are whole values.
  func array(_ session: DecodingSession) throws(FormatError) -> (untagged: Elements?, values: Range<Int>) {
    if let elements {
      guard let cells = elements.cells(ofRow: number) else { try fail(.cellMismatch, at: elements.offset) }
      return (cells, 0..<0)
    }
    if let elements = try Elements.at(position, session) { return (elements, 0..<0) }
    return (nil, try Arrays.read(session.message.reader, at: position))
  }
}

extension DecodingSession {
  /// Decodes the value at a place, one step below where `step` begins.
  @inline(__always)
  func decode<Value: Decodable>(
    _ type: Value.Type, at place: OpenPlace, _ step: @autoclosure () -> PathStep
  ) throws -> Value {
    let entry = types.entry(for: type)
    let mark = path.count
    let node = path.push(step())
    defer { path.pop(to: mark) }
    if entry.isPlain { return try decodePlain(type, ValueDecoder(self, place, node)) }
    return try decode(type, entry, at: place, node)
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

  /// Decodes the value at a place, which is at a node of the path.
  @inline(never)
  func decode<Value: Decodable>(
    _ type: Value.Type, _ entry: DecodingPlans.Entry, at place: OpenPlace, _ node: PathNode
  ) throws -> Value {
    if entry.isPlain { return try decodePlain(type, ValueDecoder(self, place, node)) }
    return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(at: place, from: self, node) }
  }

  /// Returns the nil of an optional type that stands in `level` others; nil for other types.
  func none<Value: Decodable>(_ type: Value.Type, level: Int = 0) -> Value? {
    let entry = types.entry(for: type)
    guard level >= 0, !entry.isPlain else { return nil }
    return entry.withPlan(as: DecodingPlan<Value>.self) { $0.none(level: level, self) }
  }
}

// MARK: decoders

/// The decoder that a value is handed: the place where it stands.
///
/// Three words, so that it sits inside its existential. It keeps the session alive and may outlive the
/// `init(from:)` it was made for.
struct ValueDecoder: Decoder, SingleValueDecodingContainer, StowValueCoder {
  /// The session, which elements hold.
  private enum Source {
    case message(DecodingSession)
    case elements(Elements)
  }

  private let source: Source
  private let position: Int
  private let node: PathNode

  @inline(__always)
  init(_ session: DecodingSession, _ place: OpenPlace, _ node: PathNode) {
    source = place.elements.map { .elements($0) } ?? .message(session)
    position = place.position
    self.node = node
  }

  @inline(__always)
  init(row index: Int, of elements: Elements, _ node: PathNode) {
    source = .elements(elements)
    position = ElementNumber.element(index).bits
    self.node = node
  }

  private var session: DecodingSession {
    switch source {
    case .message(let session): session
    case .elements(let elements): elements.session
    }
  }

  private var place: OpenPlace {
    if case .elements(let elements) = source {
      OpenPlace(elements, position)
    } else {
      OpenPlace(nil, position)
    }
  }

  var codingPath: [any CodingKey] { session.codingPath(node, at: place.offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    do throws(FormatError) {
      switch source {
      case .message(let session):
        guard let object = try ObjectHeader.read(session.message.reader, at: position) else {
          try fail(.mismatch, at: position)
        }
        return try session.container(type) { reader throws(FormatError) in try reader.open(object, node) }
      case .elements(let elements): return try elements.container(type, ElementNumber(bits: position), node)
      }
    } catch {
      throw failure(error, [String: Any].self)
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    do throws(FormatError) { return try ArrayDecoder(of: place, session, node) } catch {
      throw failure(error, [Any].self)
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  @inline(never)
  private func failure(_ error: FormatError, _ type: Any.Type) -> any Error {
    session.error(error, at: node, place.offset, expected: type)
  }

  // MARK: the single value

  func decodeNil() -> Bool { place.levelOfNil(session.message) != nil }

  @inline(__always)
  func decode<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    do throws(FormatError) { return try place.read(type, session.message) } catch {
      throw failure(error, type)
    }
  }
  // The standard library has defaults for these, which throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }
  private func scalar<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { try decode(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let session = session
    return try session.decode(type, session.types.entry(for: type), at: place, node)
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
