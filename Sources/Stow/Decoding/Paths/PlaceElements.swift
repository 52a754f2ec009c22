#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The elements of an array, or the values of an object, one after the other.
struct PlaceElements: Sendable {
  private enum Source: Sendable {
    /// Whole values.
    case values(Children)
    /// Elements without tags, or the cells of a row.
    case elements(ElementLayout)
  }

  let place: ValuePlace
  private var source: Source
  /// The keys of the object; none of an array.
  let keys: [String]
  private let isObject: Bool
  /// The steps that lead on from each element.
  private(set) var steps: ArraySlice<StowPath.Step> = []
  private(set) var index = 0

  /// The elements of the array, or the values of the object, that stands at a place.
  init(of place: ValuePlace, _ message: Message) throws(FormatError) {
    if case .each(let elements) = place.content {
      self = elements
      return
    }
    self.place = place
    isObject = try place.kind(message.reader) == .object
    switch place.content {
    case .value(let offset):
      if let children = try Children(of: offset, message) {
        guard place.depth < message.maximumDepth else { try fail(.tooDeep, at: offset) }
        if let map = children.map { _ = try TextIndex.checkingKeys(ofMap: map, message) }
        source = .values(children)
        keys = isObject ? try children.names(message) : []
        return
      }
      guard ElementLayout.isArray(try message.reader.byte(at: offset)),
        let layout = try ElementLayout(message, at: offset)
      else { try fail(.mismatch, at: offset) }
      source = .elements(layout)
      keys = []
    case .element(let number, let layout):
      guard let cells = layout.cells(ofRow: number, at: layout.offset) else {
        try fail(.cellMismatch, at: layout.offset)
      }
      source = .elements(cells)
      keys =
        try layout.columns?.shape.map { shape throws(FormatError) in
          try message.names(ofShape: shape).names
        } ?? []
    case .each: preconditionFailure("a place whose elements are known")
    }
  }

  /// The same elements, in each of which some more steps are to lead to something.
  func followed(by steps: ArraySlice<StowPath.Step>) -> PlaceElements {
    var result = self
    result.steps.append(contentsOf: steps)
    return result
  }

  // MARK: reading

  /// The bytes of the elements that are left, if these are an array of values with tags, which has to be walked over to
  /// be counted.
  var rest: Range<Int>? {
    guard case .values(let children) = source, !isObject else { return nil }
    return children.offset..<max(children.offset, children.end)
  }

  /// The number of elements that need not be walked over to be counted.
  private var knownCount: Int { if case .elements(let layout) = source { layout.count } else { keys.count } }

  /// Returns the number of elements, of which none has been passed.
  func count(_ reader: ByteReader, _ marks: ElementMarks? = nil) throws(FormatError) -> Int {
    guard let rest else { return knownCount }
    return try ArrayWalk(elements: rest, reader: reader, marks: marks).count()
  }

  var isAtEnd: Bool { rest.map(\.isEmpty) ?? (index >= knownCount) }

  /// Returns the next element and the step that leads to it, and passes it; nil after the last.
  mutating func next(_ message: Message) throws(FormatError) -> (StowPath.Step, ValuePlace)? {
    if isAtEnd { return nil }
    let step: StowPath.Step = isObject ? .key(keys[index]) : .index(index)
    let found: ValuePlace
    switch source {
    case .values(var children):
      guard let child = try children.next(message) else { try fail(.malformed, at: place.offset) }
      if isObject, index == keys.count - 1, children.offset != children.end {
        try fail(.malformed, at: children.offset)
      }
      source = .values(children)
      found = place.inside(at: child.value)
    case .elements(let layout): found = try place.beside(.element(index), of: layout, message.reader)
    }
    index += 1
    return (step, found)
  }

  /// Returns the element at an index, of those that stand in fixed places; nil if there is none.
  func element(_ index: Int, _ reader: ByteReader) throws(FormatError) -> ValuePlace? {
    guard case .elements(let layout) = source, index >= 0, index < layout.count else { return nil }
    return try place.beside(.element(index), of: layout, reader)
  }

  // MARK: one key of each

  /// Decodes what the path leads to in each element by a plan, if it is a column of rows, or a key of records.
  func decode<Value>(
    by plan: DecodingPlan<Value>, _ session: DecodingSession
  ) throws(FormatError) -> Value? {
    let message = session.message
    guard steps.count == 1, index == 0, let step = steps.first else { return nil }
    switch (source, step) {
    case (.elements(let layout), .key(let name)):
      guard let shape = layout.columns?.shape, let column = try message.keyIndex(of: name, inShape: shape)
      else { return nil }
      return layout.cells(ofColumn: column).flatMap { plan.decode($0, from: message) }
    case (.elements(let layout), .index(let column)):
      guard let columns = layout.columns, columns.shape == nil else { return nil }
      return layout.cells(ofColumn: column).flatMap { plan.decode($0, from: message) }
    case (.values(var records), .key(let name)) where place.depth < message.maximumDepth - 1:
      var search = KeySearch(name, session)
      var offsets: [Int] = []
      while let record = try records.next(message)?.value {
        guard let object = try ObjectHeader.read(message.reader, at: record), object.shape != nil,
          let value = try search.value(in: object)
        else { return nil }
        offsets.append(value)
      }
      return plan.decode(at: offsets, from: message)
    default: return nil
    }
  }
}

// MARK: decoding each

/// The decoder of the values that a path finds in some elements, one in each: it stands for an array.
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
    let count = try session.attempt(at: node, expected: nil) { () throws(FormatError) in
      try elements.count(session.message.reader)
    }
    return EachContainer(count: count, session: session, elements: elements, node: node)
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
    guard Scalars.readable(type) == nil || type == Data.self else { throw mismatch(type) }
    return try session.decodePlain(type, self)
  }
}

/// The container of the values that a path finds in some elements, one in each.
private struct EachContainer: UnkeyedDecodingContainer, ElementNesting {
  let count: Int?
  let session: DecodingSession
  var elements: PlaceElements
  let node: PathNode

  var codingPath: [any CodingKey] { session.codingPath(node, at: elements.place.offset) }
  var currentIndex: Int { elements.index }
  var isAtEnd: Bool { elements.isAtEnd }

  /// Returns a walk that has gone to the next element and on to the end of the path, or as far as there is something, and
  /// the elements after that one. Its step stays in the coding path.
  private func next(_ type: Any.Type) throws -> (walk: PathWalk, isThere: Bool, rest: PlaceElements) {
    var rest = elements
    let found = try session.attempt(at: node, expected: nil) { () throws(FormatError) in
      try rest.next(session.message)
    }
    guard let (step, place) = found else {
      throw DecodingError.atEnd(type, path: codingPath + [PathKey.index(currentIndex)])
    }
    var walk = PathWalk(session, from: place, session.path.push(step, from: node), marks: nil)
    let isThere = try walk.follow(elements.steps)
    return (walk, isThere, rest)
  }

  mutating func decodeNil() throws -> Bool {
    let (session, mark) = (session, session.path.count)
    defer { session.path.pop(to: mark) }
    let (walk, isThere, rest) = try next(Never.self)
    guard !isThere || walk.isNil else { return false }
    elements = rest
    return true
  }

  // The standard library's defaults for these throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try element(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try element(type) }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try element(type) }

  private mutating func element<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (session, mark) = (session, session.path.count)
    defer { session.path.pop(to: mark) }
    let (walk, isThere, rest) = try next(type)
    let value = try isThere ? walk.decode(type) : walk.decodeMissing(type)
    elements = rest
    return value
  }

  mutating func nested<Result>(_ type: Any.Type, _ body: (any Decoder) throws -> Result) throws -> Result {
    let (walk, isThere, rest) = try next(type)
    guard isThere else { throw walk.missing(type) }
    let result = try body(walk.decoder())
    elements = rest
    return result
  }
}
