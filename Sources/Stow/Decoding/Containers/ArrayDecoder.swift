/// An array whose elements are whole values.
///
/// A value type, as every container is: a copy goes on by itself.
struct ArrayDecoder: UnkeyedDecodingContainer, ElementNesting {
  let session: DecodingSession
  /// Where the next element stands, and behind the last.
  private(set) var current: Int
  let end: Int
  /// The number of the next element.
  private(set) var currentIndex = 0
  /// The place in the path.
  let node: PathNode

  var codingPath: [any CodingKey] { session.codingPath(node) }
  var isAtEnd: Bool { current >= end }

  /// The number of elements: a walk over those that are left, a step for each, the first times it is asked for.
  var count: Int? {
    do throws(FormatError) {
      return try session.count(current..<end, from: currentIndex)
    } catch {
      session.note(error, path: codingPath)
      return nil
    }
  }

  // MARK: reading

  private var step: PathStep { PathStep(.index, parent: node, value: currentIndex) }
  private var elementPath: [any CodingKey] { session.codingPath(step, of: node) }

  @inline(__always)
  private func offset(_ type: Any.Type) throws -> Int {
    guard current < end else { throw atEnd(type) }
    return current
  }

  @inline(never)
  private func atEnd(_ type: Any.Type) -> DecodingError {
    .atEnd(type, path: elementPath)
  }

  @inline(__always)
  private mutating func pass(to next: Int) throws(FormatError) {
    guard next <= end else { try fail(.malformed, at: current) }
    current = next
    currentIndex &+= 1
  }

  @inline(never)
  private func failure(_ error: FormatError, _ type: Any.Type?) -> any Error {
    session.error(error, path: elementPath, expected: type)
  }

  @inline(__always)
  private mutating func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
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

  /// Returns the end of the element at `offset`, which must not lie beyond the array's.
  private func elementEnd(_ offset: Int) throws -> Int {
    do throws(FormatError) {
      let next = try session.message.reader.end(of: offset)
      guard next <= end else { try fail(.malformed, at: offset) }
      return next
    } catch {
      throw failure(error, nil)
    }
  }

  mutating func decodeNil() throws -> Bool {
    let offset = try offset(Never.self)
    guard Nils.isNil(session.message.reader, at: offset) else { return false }
    do throws(FormatError) { try pass(to: session.message.reader.end(of: offset)) } catch {
      throw failure(error, nil)
    }
    return true
  }

  @inline(__always)
  mutating func decode<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { try read(type) }
  // The standard library has defaults for these, which throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let offset = try offset(type)
    let next = try elementEnd(offset)
    let value = try session.decode(type, at: offset, step)
    current = next
    currentIndex &+= 1
    return value
  }

  mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    guard current < end else { return nil }
    guard Nils.isNil(session.message.reader, at: current) else { return try decode(type) }
    let value = try session.decodeNil(type, at: current)
    _ = try decodeNil()
    return value
  }

  /// Hands `body` the decoder of the next element, whose step stays in the path until the array itself is left.
  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result {
    let offset = try offset(type)
    let next = try elementEnd(offset)
    let result = try body(session.decoder(at: offset, session.path.push(step)))
    current = next
    currentIndex &+= 1
    return result
  }
}
