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
  /// The elements, if they have no tags.
  private let elements: Elements?
  private let start: Int
  /// Where the next element stands, and after the last; without tags, its number, and how many there are.
  private var current: Int
  private let end: Int
  /// The number of the next element.
  private(set) var currentIndex = 0
  private let node: PathNode

  init(of place: OpenPlace, _ session: DecodingSession, _ node: PathNode) throws(FormatError) {
    self.session = session
    let (untagged, values) = try place.array(session)
    elements = untagged
    (start, end) = untagged.map { (0, $0.count) } ?? (values.lowerBound, values.upperBound)
    current = start
    self.node = node
  }

  var codingPath: [any CodingKey] { session.codingPath(node, at: elements?.offset) }
  var isAtEnd: Bool { current >= end }

  /// The number of elements: if they have tags, a walk over those that are left, a step for each, the first times it is
  /// asked for.
  var count: Int? {
    if elements != nil { return end }
    do throws(FormatError) {
      return try session.count(current..<end, from: currentIndex, ofArrayAt: start)
    } catch {
      session.note(error, path: codingPath)
      return nil
    }
  }

  private var step: PathStep { PathStep(.index, parent: node, value: currentIndex) }

  /// Where the next element stands.
  private func place(_ type: Any.Type) throws -> OpenPlace {
    guard current < end else { throw DecodingError.atEnd(type, path: session.codingPath(step, of: node)) }
    return elements.map { OpenPlace(.element(current), of: $0) } ?? OpenPlace(at: current)
  }

  /// Passes the next element, which ends at `next`.
  private mutating func pass(to next: Int) throws(FormatError) {
    guard next <= end else { try fail(.malformed, at: current) }
    current = next
    currentIndex &+= 1
  }

  @inline(never)
  private func failure(_ error: FormatError, _ type: Any.Type?) -> any Error {
    session.error(error, path: session.codingPath(step, of: node), expected: type)
  }

  @inline(__always)
  mutating func decode<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    guard elements == nil, current < end else { return try element(type) }
    var next = current
    do throws(FormatError) {
      let result = try Value.read(session.message, at: current, next: &next)
      try pass(to: next)
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
    let (session, step) = (session, step)
    return try next(type) { try session.decode(type, at: $0, step) }
  }

  mutating func decodeNil() throws -> Bool {
    guard try place(Never.self).levelOfNil(session.message) != nil else { return false }
    try next(Never.self) { _ in }
    return true
  }

  mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    if isAtEnd { return nil }
    guard let level = try place(type).levelOfNil(session.message) else { return try decode(type) }
    let value = session.none(type, level: level - 1)
    try next(Never.self) { _ in }
    return value
  }

  /// Returns what `body` makes of the next element, and passes it if that does not throw.
  private mutating func next<Result>(
    _ type: Any.Type, _ body: (OpenPlace) throws -> Result
  ) throws -> Result {
    let place = try place(type)
    var passed = self
    do throws(FormatError) {
      try passed.pass(to: elements == nil ? session.message.reader.end(of: current) : current + 1)
    } catch {
      throw failure(error, nil)
    }
    let result = try body(place)
    self = passed
    return result
  }

  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result {
    let (session, step) = (session, step)
    return try next(type) { try body(ValueDecoder(session, $0, session.path.push(step))) }
  }
}
