#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The decoder of what a path finds in each of some elements: it stands for an array.
struct EachDecoder: Decoder, SingleValueDecodingContainer {
  let session: DecodingSession
  let elements: PlaceElements
  let node: PathNode

  var codingPath: [any CodingKey] { session.codingPath(node, at: elements.place.offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch([String: Any].self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    EachContainer(session: session, elements: elements, node: node)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    let description = "Expected a value of type \(type), but the path leads to an array of values."
    return .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: description))
  }

  // MARK: the single value

  func decodeNil() -> Bool { false }

  // The standard library's defaults for these throw.
  func decode(_ type: Int128.Type) throws -> Int128 { throw mismatch(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { throw mismatch(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == StowValue.self, let value = StowValue.array(try decode([StowValue].self)) as? Value {
      return value
    }
    // Scalars decode themselves by asking for themselves, and data as the array of its bytes.
    guard ScalarTypes.scalar(type) == nil || type == Data.self else { throw mismatch(type) }
    return try session.decodePlain(type, self)
  }
}

/// The container of what a path finds in each of some elements.
struct EachContainer: UnkeyedDecodingContainer, ElementNesting {
  let session: DecodingSession
  private var elements: PlaceElements
  let node: PathNode

  init(session: DecodingSession, elements: PlaceElements, node: PathNode) {
    self.session = session
    self.elements = elements
    self.node = node
  }

  var codingPath: [any CodingKey] { session.codingPath(node, at: elements.place.offset) }
  var currentIndex: Int { elements.index }
  var isAtEnd: Bool { elements.isAtEnd }

  var count: Int? {
    guard let rest = elements.rest else { return elements.count }
    do throws(FormatError) {
      return try session.count(rest, from: elements.index)
    } catch {
      session.note(error, path: codingPath)
      return nil
    }
  }

  /// Hands `body` a walk that has gone to the next element and on to the end of the path, or as far as there was
  /// something; passes the element if `body` returns a result.
  private mutating func next<Result>(
    _ type: Any.Type, _ body: (PathWalk, _ isThere: Bool) throws -> Result?
  ) throws -> Result? {
    var elements = elements
    let found: (StowPath.Step, ValuePlace)?
    do throws(FormatError) { found = try elements.next(session.message) } catch {
      throw session.error(error, at: node, expected: nil)
    }
    guard let (step, place) = found else {
      throw DecodingError.atEnd(type, path: codingPath + [PathKey.index(currentIndex)])
    }
    let child = session.path.push(step, from: node)
    var walk = PathWalk(session, from: place, child, marks: nil)
    let isThere = try walk.follow(elements.steps)
    let result = try body(walk, isThere)
    if result != nil { self.elements = elements }
    return result
  }

  /// The same, and leaves the element in the coding path when `body` returns.
  private mutating func read<Result>(
    _ type: Any.Type, _ body: (PathWalk, _ isThere: Bool) throws -> Result?
  ) throws -> Result? {
    let session = session
    let mark = session.path.count
    defer { session.path.pop(to: mark) }
    return try next(type, body)
  }

  mutating func decodeNil() throws -> Bool {
    try read(Never.self) { walk, isThere in !isThere || walk.isNil ? true : nil } ?? false
  }

  // The standard library's defaults for these throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try known(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try known(type) }

  private mutating func known<Value: Decodable>(_ type: Value.Type) throws -> Value { try decode(type) }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // Of an optional type, a value that is nil is one that was read.
    let value: Value? = try read(type) { walk, isThere in
      .some(isThere ? try walk.decode(type) : try walk.decodeMissing(type))
    }
    guard case .some(let value) = value else { throw DecodingError.atEnd(type, path: codingPath) }
    return value
  }

  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result {
    let result = try next(type) { walk, isThere in
      guard isThere else { throw walk.missing(type) }
      return try body(walk.decoder())
    }
    guard let result else { throw DecodingError.atEnd(type, path: codingPath) }
    return result
  }
}
