#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A value is decoded by a plan, if its type has one, or by its own `init(from:)`, which is handed a `ValueDecoder`.

/// Where a value stands that is to be decoded: at an offset of the message, with its tag, or among elements without tags.
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

  var number: ElementNumber { ElementNumber(bits: position) }

  /// The offset by which a path finds the value.
  var offset: Int {
    guard let elements else { return position }
    return elements.layout.row(number) ?? elements.offset
  }

  /// Returns how many levels of optionals stand around the nil that stands here; nil if another value does.
  func levelOfNil(_ message: Message) -> Int? {
    guard elements == nil, Nils.isNil(message.reader, at: position) else { return nil }
    return Nils.level(message.reader, at: position)
  }

  @inline(__always)
  func read<Value: ReadableScalar>(_ type: Value.Type, _ message: Message) throws(FormatError) -> Value {
    if let elements { return try elements.read(type, number) }
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

/// Elements without tags, with the session that reads them, so that a decoder of one of them holds both in one word.
final class Elements {
  let session: DecodingSession
  let layout: ElementLayout
  var offset: Int { layout.offset }
  var count: Int { layout.count }
  /// The shape of rows that are objects.
  let shape: Int?

  init(_ layout: ElementLayout, _ session: DecodingSession) {
    self.layout = layout
    self.session = session
    shape = layout.columns?.shape
  }

  /// Returns the elements of the array at `offset`; nil if they are whole values, or there is no array.
  static func at(_ offset: Int, _ session: DecodingSession) throws(FormatError) -> Elements? {
    let tag = try session.message.reader.byte(at: offset)
    guard ElementLayout.isArray(tag) || tag == DataValues.tag else { return nil }
    return try ElementLayout(session.message, at: offset).map { Elements($0, session) }
  }

  /// Returns the cells of a row of a matrix; nil if the element is another.
  func cells(ofRow number: ElementNumber) -> Elements? {
    guard shape == nil, let row = layout.row(number) else { return nil }
    return layout.cells(ofRow: number, at: row).map { Elements($0, session) }
  }

  /// Returns the container of a row that is an object.
  func container<Key: CodingKey>(
    _ keyType: Key.Type, _ number: ElementNumber, _ node: PathNode
  ) throws(FormatError) -> KeyedDecodingContainer<Key> {
    guard let shape, let row = layout.row(number) else { try fail(.cellMismatch, at: offset) }
    return session.container(keyType) { $0.open(row: row, of: self, shape: shape, node) }
  }

  /// Returns the scalars of a row that is an array; nil if it is not one.
  func array<Value: ReadableScalar>(
    of type: Value.Type, inRow number: ElementNumber, _ message: Message
  ) throws(FormatError) -> [Value]? {
    guard shape == nil, let columns = layout.columns, let row = layout.row(number) else { return nil }
    return try Value.array(message, inRow: row, of: columns)
  }

  func cell(_ number: ElementNumber) throws(FormatError) -> Cell {
    try layout.cell(number, session.message.reader)
  }

  func read<Value: ReadableScalar>(_ type: Value.Type, _ number: ElementNumber) throws(FormatError) -> Value {
    guard var constant = layout.constant(number) else { return try Value.read(cell(number), at: offset) }
    return try Value.read(session.message, at: constant, next: &constant)
  }

  func column(_ keyIndex: Int) throws(FormatError) -> Columns.Column {
    guard let columns = layout.columns?.columns, keyIndex < columns.count else {
      try fail(.malformed, at: offset)
    }
    return columns[keyIndex]
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
    // The plan of a subclass is one of its own.
    if entry.isPlain || type != Value.self { return try decodePlain(type, ValueDecoder(self, place, node)) }
    return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(at: place, from: self, node) }
  }

  /// The same to where the value is to stand.
  func decode<Value: Decodable>(
    into target: UnsafeMutablePointer<Value>, _ entry: DecodingPlans.Entry, at place: OpenPlace,
    _ node: PathNode
  ) throws {
    if entry.isPlain {
      return target.initialize(to: try decodePlain(Value.self, ValueDecoder(self, place, node)))
    }
    try entry.withPlan(as: DecodingPlan<Value>.self) {
      try $0.decode(into: target, at: place, from: self, node)
    }
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
  /// The elements that the value is among, or the session, which elements hold. An enumeration of both would be copied by a
  /// call for every existential that is.
  private let owner: AnyObject
  /// The position, and in the last bit whether it is one among elements.
  private let code: Int
  private let node: PathNode

  @inline(__always)
  init(_ session: DecodingSession, _ place: OpenPlace, _ node: PathNode) {
    owner = place.elements ?? session
    code = place.position &<< 1 | (place.elements == nil ? 0 : 1)
    self.node = node
  }

  @inline(__always)
  init(row index: Int, of elements: Elements, _ node: PathNode) {
    owner = elements
    code = ElementNumber.element(index).bits &<< 1 | 1
    self.node = node
  }

  private var position: Int { code &>> 1 }
  private var isElement: Bool { code & 1 == 1 }
  private var elements: Elements { unsafeDowncast(owner, to: Elements.self) }

  private var session: DecodingSession {
    isElement ? elements.session : unsafeDowncast(owner, to: DecodingSession.self)
  }

  private var place: OpenPlace {
    OpenPlace(isElement ? elements : nil, position)
  }

  var codingPath: [any CodingKey] { session.codingPath(node, at: place.offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    do throws(FormatError) {
      if isElement { return try elements.container(type, ElementNumber(bits: position), node) }
      let session = session
      guard let object = try ObjectHeader.read(session.message.reader, at: position) else {
        try fail(.mismatch, at: position)
      }
      return try session.container(type) { reader throws(FormatError) in try reader.open(object, node) }
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
    guard session.types.entry(for: type).isPlain || type is any StowFields.Type else { throw mismatch(type) }
    return try session.decodePlain(type, self)
  }

  private func mismatch(_ type: Any.Type) -> any Error {
    DecodingError.noValue(of: type, path: codingPath, "Expected a value of type \(type), but there is none.")
  }
}

// MARK: arrays

/// An array whose nested containers are those of the decoders of its elements.
protocol ElementNesting: UnkeyedDecodingContainer {
  /// Hands `body` the decoder of the next element, and passes the element if it does not throw. The element's step stays
  /// in the path until the array itself is left.
  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result
}

extension ElementNesting {
  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try nested(KeyedDecodingContainer<NestedKey>.self) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nested((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try nested((any Decoder).self) { $0 } }
}

/// The container of an array.
///
/// A value type, as every container is: a copy goes on by itself.
struct ArrayDecoder: UnkeyedDecodingContainer, ElementNesting {
  private let session: DecodingSession
  private let elements: Elements?
  let count: Int?
  /// Where the next element stands, and after the last; without tags, its number, and how many there are.
  private var current: Int
  private let end: Int
  private(set) var currentIndex = 0
  private let node: PathNode

  init(of place: OpenPlace, _ session: DecodingSession, _ node: PathNode) throws(FormatError) {
    self.session = session
    let (untagged, values) = try place.array(session)
    elements = untagged
    (current, end) = untagged.map { (0, $0.count) } ?? (values.lowerBound, values.upperBound)
    count = untagged == nil ? try Arrays.count(values, session.message.reader) : end
    self.node = node
  }

  var codingPath: [any CodingKey] { session.codingPath(node, at: elements?.offset) }
  var isAtEnd: Bool { current >= end }

  private var step: PathStep { PathStep(.index, parent: node, value: currentIndex) }

  /// Returns where the next element stands, and what `current` is after it.
  private func next(_ type: Any.Type) throws -> (place: OpenPlace, end: Int) {
    guard current < end else { throw atEnd(type) }
    if let elements { return (OpenPlace(.element(current), of: elements), current + 1) }
    do throws(FormatError) {
      return (OpenPlace(at: current), try checked(session.message.reader.end(of: current)))
    } catch {
      throw failure(error, nil)
    }
  }

  @inline(never)
  private func atEnd(_ type: Any.Type) -> any Error {
    DecodingError.atEnd(type, path: session.codingPath(step, of: node))
  }

  /// Returns the end of the next element, if it is within the array.
  private func checked(_ next: Int) throws(FormatError) -> Int {
    guard next <= end else { try fail(.malformed, at: current) }
    return next
  }

  private mutating func pass(to next: Int) {
    current = next
    currentIndex &+= 1
  }

  @inline(never)
  private func failure(_ error: FormatError, _ type: Any.Type?) -> any Error {
    session.error(error, path: session.codingPath(step, of: node), expected: type)
  }

  @inline(__always)
  mutating func decode<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    guard current < end else { throw atEnd(type) }
    do throws(FormatError) {
      var next = current &+ 1
      let result =
        if let elements {
          try elements.read(type, .element(current))
        } else {
          try Value.read(session.message, at: current, next: &next)
        }
      pass(to: try checked(next))
      return result
    } catch {
      throw failure(error, type)
    }
  }
  // The standard library has defaults for these, which throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }
  private mutating func scalar<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { try decode(type) }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try element(type) }

  private mutating func element<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (place, end) = try next(type)
    let value = try session.decode(type, at: place, step)
    pass(to: end)
    return value
  }

  mutating func decodeNil() throws -> Bool {
    let (place, end) = try next(Never.self)
    guard place.levelOfNil(session.message) != nil else { return false }
    pass(to: end)
    return true
  }

  mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    if isAtEnd { return nil }
    let (place, end) = try next(type)
    guard let level = place.levelOfNil(session.message) else { return try decode(type) }
    pass(to: end)
    return session.none(type, level: level - 1)
  }

  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result {
    let (place, end) = try next(type)
    let result = try body(ValueDecoder(session, place, session.path.push(step)))
    pass(to: end)
    return result
  }
}
