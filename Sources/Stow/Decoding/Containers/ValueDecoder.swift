// A value is decoded by a plan, if its type has one, or by its own `init(from:)`, which receives a `ValueDecoder`.

class AnyDecodingPlan {}

typealias DecodingPlans = TypePlans<AnyDecodingPlan>

/// A way to decode the values of one type, of which the caller knows no parameters. Calling it looks up no metadata.
class DecodingPlan<Value>: AnyDecodingPlan {
  func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    preconditionFailure("a plan without a way to decode")
  }

  func decode(
    into target: UnsafeMutablePointer<Value>, at place: OpenPlace, from session: DecodingSession,
    _ node: PathNode
  ) throws {
    target.initialize(to: try decode(at: place, from: session, node))
  }

  // These return nil if each value must be decoded by itself, also to find out what is wrong.

  /// Decodes an array of values at once.
  func decode(arrayAt place: OpenPlace, from session: DecodingSession) -> [Value]? { nil }

  /// Decodes values that follow each other.
  func decode(_ count: Int, from start: Int, session: DecodingSession, _ node: PathNode) throws -> [Value]? { nil }

  /// Decodes all rows of a table at once.
  func decode(rows: Elements, from session: DecodingSession, _ node: PathNode) throws -> [Value]? { nil }

  /// Returns the value for a nil `level` optionals deep, or nil if the type has no such value.
  func none(level: Int, _ session: DecodingSession) -> Value? { nil }
}

/// Elements with their session, so that a decoder of one holds both in one word. All `Elements` are of this class.
class OpenElements: Elements {
  final let session: DecodingSession

  init(_ layout: ElementLayout, _ session: DecodingSession, isEach: Bool = false) {
    self.session = session
    super.init(layout, isEach: isEach)
  }

  /// Returns the place of an element that a path must find, and its node, which is left in the coding path.
  func place(of index: Int, for type: Any.Type, mayBeAbsent: Bool, _ node: PathNode) throws -> (OpenPlace, PathNode) {
    preconditionFailure("elements that no path finds")
  }
}

extension OpenPlace {
  /// Returns the elements of the array at this place, or where they are if they are whole values.
  func array(_ session: DecodingSession) throws(FormatError) -> (untagged: OpenElements?, values: Range<Int>) {
    var layout: ElementLayout?
    if let elements {
      if isEach { return (unsafeDowncast(elements, to: OpenElements.self), 0..<0) }
      if elements.shape == nil { layout = elements.layout.cells(ofRow: number) }
      if layout == nil { try fail(.cellMismatch, at: offset) }
    } else {
      let tag = try session.message.reader.byte(at: position)
      if ElementLayout.isArray(tag) || tag == DataValues.tag {
        layout = try ElementLayout(session.message, at: position)
      }
    }
    if let layout { return (OpenElements(layout, session), 0..<0) }
    return (nil, try Arrays.read(session.message.reader, at: position))
  }
}

extension DecodingSession {
  /// Decodes the value at a place, one step below where `step` begins.
  @inline(__always)
  func decode<Value: Decodable>(
    _ type: Value.Type, at place: OpenPlace, _ step: @autoclosure () -> PathStep
  ) throws -> Value {
    let entry = plan(of: type)
    let mark = path.count
    let node = path.push(step())
    defer { path.pop(to: mark) }
    if entry.isPlain { return try decodePlain(type, ValueDecoder(self, place, node)) }
    return try decode(type, entry, at: place, node)
  }

  @inline(__always)
  func decodePlain<Value: Decodable>(_ type: Value.Type, _ decoder: consuming some Decoder) throws -> Value {
    // Called on the type that was passed in, which may be a subclass of `Value`.
    try nest(decoder) { try type.init(from: $0) }
  }

  /// Runs `body`, which decodes from `decoder`, unless calls are nested too deeply.
  @inline(__always)
  func nest<From: Decoder, Result>(
    _ decoder: consuming From, _ body: (consuming From) throws -> Result
  ) throws -> Result {
    if let reason = calls.enter(maximumDepth: message.maximumDepth) {
      throw DecodingError.unreadable(reason, path: decoder.codingPath)
    }
    defer { calls.leave() }
    return try body(decoder)
  }

  @inline(never)
  func decode<Value: Decodable>(
    _ type: Value.Type, _ entry: DecodingPlans.Entry, at place: OpenPlace, _ node: PathNode
  ) throws -> Value {
    // The type may be a subclass of `Value`, whose plan does not make a `Value`.
    if entry.isPlain || type != Value.self { return try decodePlain(type, ValueDecoder(self, place, node)) }
    return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(at: place, from: self, node) }
  }

  func decode<Value: Decodable>(
    into target: UnsafeMutablePointer<Value>, _ entry: DecodingPlans.Entry, at place: OpenPlace,
    _ node: PathNode
  ) throws {
    if entry.isPlain { return target.initialize(to: try decodePlain(Value.self, ValueDecoder(self, place, node))) }
    try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(into: target, at: place, from: self, node) }
  }

  /// Returns the nil of an optional type inside `level` others; nil for other types.
  func none<Value: Decodable>(_ type: Value.Type, level: Int) -> Value? {
    let entry = plan(of: type)
    guard level >= 0, !entry.isPlain, type == Value.self else { return nil }
    return entry.withPlan(as: DecodingPlan<Value>.self) { $0.none(level: level, self) }
  }
}

// MARK: decoders

/// The decoder that a value receives: the place of the value, in three words, so that it fits inside its existential.
/// It keeps the session alive and may outlive the `init(from:)` it was made for.
struct ValueDecoder: Decoder, SingleValueDecodingContainer, StowValueCoder {
  /// The elements that the value is among, or the session. An enumeration would cost a call for every copy.
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

  private var position: Int { code &>> 1 }
  private var isElement: Bool { code & 1 == 1 }
  private var elements: OpenElements { unsafeDowncast(owner, to: OpenElements.self) }

  private var session: DecodingSession {
    isElement ? elements.session : unsafeDowncast(owner, to: DecodingSession.self)
  }

  private var place: OpenPlace { OpenPlace(elements: isElement ? elements : nil, position: position) }

  /// Whether the value is missing, as it may be for `superDecoder(forKey:)`.
  var isAbsent: Bool { !isElement && position == OpenPlace.absent.offset }

  var codingPath: [any CodingKey] { session.codingPath(node, at: place.offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.shown }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    do throws(FormatError) {
      if isElement {
        let (elements, position) = (elements, position)
        return try elements.session.container(type) { reader throws(FormatError) in
          try reader.open(elements.number(at: position), of: elements, node)
        }
      }
      return try session.container(type) { reader throws(FormatError) in
        try reader.open(objectAt: position, node)
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
  // The standard library's default implementations of these throw, here and below.
  func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }
  private func scalar<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { try decode(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (session, place) = (session, place)
    let mark = session.path.count
    defer { session.path.pop(to: mark) }
    let node = session.path.renew(node, at: place.offset)
    return try session.decode(type, session.plan(of: type), at: place, node)
  }
}

// MARK: arrays

/// The container of an array. A copy continues independently, from the next element on.
struct ArrayDecoder: UnkeyedDecodingContainer {
  private let session: DecodingSession
  /// The elements, if they have no tags.
  private let elements: OpenElements?
  let count: Int?
  /// Where the next element with a tag is, and the end of the array.
  private var current: Int
  private let end: Int
  private(set) var currentIndex = 0
  private let node: PathNode
  /// Where the array begins.
  private let offset: Int
  /// The first element with a step in the path because its container or decoder was taken, and how many calls ran then.
  private var taken: (node: PathNode, calls: Int)?

  init(of place: OpenPlace, _ session: DecodingSession, _ node: PathNode) throws(FormatError) {
    let (untagged, values) = try place.array(session)
    count = untagged == nil ? try Arrays.count(values, session.message.reader) : untagged?.count
    self.session = session
    elements = untagged
    (current, end) = (values.lowerBound, values.upperBound)
    self.node = node
    offset = place.offset
  }

  var codingPath: [any CodingKey] { session.codingPath(node, at: offset) }
  var isAtEnd: Bool { elements.map { currentIndex >= $0.count } ?? (current >= end) }

  private var nextPath: [any CodingKey] { codingPath + [PathKey.index(currentIndex)] }

  /// Returns the place of the next element, its node, which the caller must pop, and where it ends.
  private func next(
    _ type: Any.Type, mayBeAbsent: Bool = false
  ) throws -> (place: OpenPlace, node: PathNode, end: Int) {
    guard !isAtEnd else { throw DecodingError.noValue(of: type, path: nextPath, "Unkeyed container is at end.") }
    var end = current
    if elements == nil {
      do throws(FormatError) { end = try checked(session.message.reader.end(of: current)) } catch {
        throw failure(error, nil)
      }
    }
    let parent = session.path.renew(node, at: offset)
    if let elements, elements.isEach {
      let (place, node) = try elements.place(of: currentIndex, for: type, mayBeAbsent: mayBeAbsent, parent)
      return (place, node, end)
    }
    let step = session.path.push(PathStep(.index, parent: parent, value: currentIndex))
    let place = elements.map { OpenPlace(.element(currentIndex), of: $0) } ?? OpenPlace(at: current)
    return (place, step, end)
  }

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
    session.error(error, path: nextPath, expected: type)
  }

  @inline(__always)
  mutating func decode<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    guard elements == nil, current < end else { return try untagged(type) }
    do throws(FormatError) {
      var next = current
      let result = try Value.readOutOfLine(session.message, at: current, next: &next)
      pass(to: try checked(next))
      return result
    } catch {
      throw failure(error, type)
    }
  }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }
  private mutating func scalar<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { try decode(type) }

  private mutating func untagged<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    let (session, mark) = (session, session.path.count)
    defer { session.path.pop(to: mark) }
    let (place, node, end) = try next(type)
    let result = try session.attempt(at: node, expected: type) { () throws(FormatError) in
      try place.read(type, session.message)
    }
    pass(to: end)
    return result
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (session, mark) = (session, session.path.count)
    defer { session.path.pop(to: mark) }
    let (place, node, end) = try next(type)
    let value = try session.decode(type, session.plan(of: type), at: place, node)
    pass(to: end)
    return value
  }

  /// Returns how many levels of optionals are around the nil that is next, and moves past it; nil before other values.
  private mutating func passNil(_ type: Any.Type) throws -> Int? {
    let (session, mark) = (session, session.path.count)
    defer { session.path.pop(to: mark) }
    let (place, _, end) = try next(type, mayBeAbsent: true)
    guard let level = place.levelOfNil(session.message) else { return nil }
    pass(to: end)
    return level
  }

  mutating func decodeNil() throws -> Bool { try passNil(Never.self) != nil }

  mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    if isAtEnd { return nil }
    guard let level = try passNil(type) else { return try decode(type) }
    return session.none(type, level: level - 1)
  }

  // MARK: nested containers

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try nested(KeyedDecodingContainer<NestedKey>.self) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nested((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
  }

  /// Returns a decoder even for what a path does not find, which an optional reads as nil.
  mutating func superDecoder() throws -> any Decoder { try nested((any Decoder).self, mayBeAbsent: true) { $0 } }

  /// Passes the decoder of the next element to `body`, and moves past the element if `body` does not throw.
  /// The element's step stays in the path until the array itself is left, or many came after it.
  private mutating func nested<Result>(
    _ type: Any.Type, mayBeAbsent: Bool = false, _ body: (ValueDecoder) throws -> Result
  ) throws -> Result {
    session.leaveKeptPlaces()
    if let (first, calls) = taken, session.path.count - Int(first.index) > DecodingPath.mostTaken {
      // Unless something in the elements is being decoded. Containers that are still held find their paths by offsets.
      if session.path.holds(first), session.calls.count == calls { session.path.pop(to: Int(first.index)) }
      taken = nil
    }
    let (place, node, end) = try next(type, mayBeAbsent: mayBeAbsent)
    if taken == nil { taken = (node, session.calls.count) }
    let result = try body(ValueDecoder(session, place, node))
    pass(to: end)
    return result
  }
}
