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

/// An array whose elements are whole values.
///
/// A value type, as every container is: a copy goes on by itself.
struct ArrayDecoder: UnkeyedDecodingContainer, ElementNesting {
  private let session: DecodingSession
  private let start: Int
  /// Where the next element stands, and after the last.
  private var current: Int
  private let end: Int
  /// The number of the next element.
  private(set) var currentIndex = 0
  private let node: PathNode

  init(session: DecodingSession, _ elements: Range<Int>, _ node: PathNode) {
    self.session = session
    (start, end) = (elements.lowerBound, elements.upperBound)
    current = start
    self.node = node
  }

  var codingPath: [any CodingKey] { session.codingPath(node) }
  var isAtEnd: Bool { current >= end }

  /// The number of elements: a walk over those that are left, a step for each, the first times it is asked for.
  var count: Int? {
    do throws(FormatError) {
      return try session.count(current..<end, from: currentIndex, ofArrayAt: start)
    } catch {
      session.note(error, path: codingPath)
      return nil
    }
  }

  private var step: PathStep { PathStep(.index, parent: node, value: currentIndex) }

  private func offset(_ type: Any.Type) throws -> Int {
    guard current < end else { throw DecodingError.atEnd(type, path: session.codingPath(step, of: node)) }
    return current
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
    let offset = try offset(type)
    var next = offset
    do throws(FormatError) {
      let result = try Value.read(session.message, at: offset, next: &next)
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

  mutating func decodeNil() throws -> Bool {
    let offset = try offset(Never.self)
    guard Nils.isNil(session.message.reader, at: offset) else { return false }
    do throws(FormatError) { try pass(to: session.message.reader.end(of: offset)) } catch {
      throw failure(error, nil)
    }
    return true
  }

  /// Returns what `body` makes of the next element, and passes it if that does not throw.
  private mutating func next<Result>(_ type: Any.Type, _ body: (_ offset: Int) throws -> Result) throws
    -> Result
  {
    let offset = try offset(type)
    let next: Int
    do throws(FormatError) {
      next = try session.message.reader.end(of: offset)
      guard next <= end else { try fail(.malformed, at: offset) }
    } catch {
      throw failure(error, nil)
    }
    let result = try body(offset)
    current = next
    currentIndex &+= 1
    return result
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (session, step) = (session, step)
    return try next(type) { try session.decode(type, at: $0, step) }
  }

  mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    guard current < end else { return nil }
    guard Nils.isNil(session.message.reader, at: current) else { return try decode(type) }
    let value = try session.decodeNil(type, at: current)
    _ = try decodeNil()
    return value
  }

  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result {
    let (session, step) = (session, step)
    return try next(type) {
      try body(ValueDecoder(session: session, offset: $0, node: session.path.push(step)))
    }
  }
}

/// An array whose elements have no tags: each is a cell or a row.
struct ElementsDecoder: UnkeyedDecodingContainer, ElementNesting {
  private let elements: Elements
  private let node: PathNode
  private(set) var currentIndex = 0

  init(elements: Elements, node: PathNode) {
    self.elements = elements
    self.node = node
  }

  var codingPath: [any CodingKey] { elements.session.codingPath(node, at: elements.offset) }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private var step: PathStep { PathStep(.index, parent: node, value: currentIndex) }

  /// Returns what `body` makes of the next element, and passes it if that does not throw.
  private mutating func next<Result>(
    _ type: Any.Type, _ body: (DecodingSession, ElementNumber) throws -> Result
  ) throws -> Result {
    guard currentIndex < elements.count else {
      throw DecodingError.atEnd(type, path: elements.session.codingPath(step, of: node))
    }
    let result = try body(elements.session, .element(currentIndex))
    currentIndex += 1
    return result
  }

  mutating func decodeNil() throws -> Bool {
    let elements = elements
    let isNil = try next(Never.self) { session, number in
      elements.layout.constant(number).map { Nils.isNil(session.message.reader, at: $0) } ?? false
    }
    if !isNil { currentIndex -= 1 }
    return isNil
  }

  // The standard library's defaults for these throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try element(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try element(type) }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try element(type) }

  private mutating func element<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (step, elements) = (step, elements)
    return try next(type) { session, number in try session.decode(type, number, of: elements, step) }
  }

  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result {
    let (step, elements) = (step, elements)
    return try next(type) { session, number in
      try body(session.decoder(number, of: elements, session.path.push(step)))
    }
  }
}
