/// An array whose elements have no tags: each is a cell or a row.
struct ElementsDecoder: UnkeyedDecodingContainer, ElementNesting {
  let source: SessionElements
  let node: PathNode
  private(set) var currentIndex = 0

  init(source: SessionElements, node: PathNode) {
    self.source = source
    self.node = node
  }

  private var session: DecodingSession { source.session }
  var codingPath: [any CodingKey] { session.codingPath(node, at: source.offset) }
  var count: Int? { source.count }
  var isAtEnd: Bool { currentIndex >= source.count }

  private var step: PathStep { PathStep(.index, parent: node, value: currentIndex) }
  private var elementPath: [any CodingKey] { session.codingPath(step, of: node) }

  /// Reads the next element, and passes it if that succeeds.
  private mutating func next<Value>(
    _ type: Any.Type, _ body: (ElementSource.Element) throws -> Value
  ) throws -> Value {
    guard currentIndex < source.count else {
      throw DecodingError.atEnd(type, path: elementPath)
    }
    do {
      let value = try body(source.element(at: currentIndex, session.message.reader))
      currentIndex += 1
      return value
    } catch let error as FormatError {
      throw session.error(error, path: elementPath, expected: type)
    }
  }

  mutating func decodeNil() throws -> Bool {
    let session = session
    guard currentIndex < source.count else {
      throw DecodingError.atEnd(Never.self, path: elementPath)
    }
    guard let constant = source.constant(at: currentIndex), Nils.isNil(session.message.reader, at: constant)
    else {
      return false
    }
    currentIndex += 1
    return true
  }

  // The standard library's defaults for these throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try known(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try known(type) }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (step, source) = (step, source)
    return try next(type) { try source.session.decode(type, $0, of: source, step) }
  }

  private mutating func known<Value: Decodable>(_ type: Value.Type) throws -> Value { try decode(type) }

  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result {
    let (step, source) = (step, source)
    return try next(type) { element in
      let node = source.session.path.push(step)
      return try body(source.session.decoder(element, of: source, node))
    }
  }
}
