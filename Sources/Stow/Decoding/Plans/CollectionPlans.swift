// Arrays and dictionaries, decoded as wholes.

/// Decodes the elements one by one.
class ArrayDecodingPlan<Element: Decodable>: DecodingPlan<[Element]> {
  override func decode(at offset: Int, from session: DecodingSession, _ node: PathNode) throws -> [Element] {
    var elements = 0..<0
    let untagged = try session.attempt(at: node, expected: [Element].self) { () throws(FormatError) in
      let found = try Elements.at(offset, session)
      if found == nil { elements = try Arrays.read(session.message.reader, at: offset) }
      return found
    }
    if let untagged { return try array(of: untagged, node) }
    if elements.isEmpty { return [] }
    let count = try session.attempt(at: node, expected: nil) { () throws(FormatError) in
      try Arrays.count(elements, session.message.reader)
    }
    let entry = session.types.entry(for: Element.self)
    var offset = elements.lowerBound
    return try array(of: count, session, node) { _, step in
      let element =
        entry.isPlain
        ? try session.decodePlain(Element.self, ValueDecoder(session: session, offset: offset, node: step))
        : try session.decodeKnown(Element.self, entry, at: offset, step)
      do throws(FormatError) { offset = try session.message.reader.end(of: offset) } catch {
        throw session.error(error, at: node, expected: nil)
      }
      return element
    }
  }

  /// Decodes a row of a matrix.
  override func decode(
    _ number: ElementNumber, of elements: Elements, _ node: PathNode
  ) throws -> [Element] {
    guard let cells = elements.cells(ofRow: number) else {
      return try super.decode(number, of: elements, node)
    }
    return try array(of: cells, node)
  }

  /// Decodes elements without tags.
  func array(of elements: Elements, _ node: PathNode) throws -> [Element] {
    let session = elements.session
    let entry = session.types.entry(for: Element.self)
    let areRows = entry.isPlain && elements.shape != nil
    return try array(of: elements.count, session, node) { index, step in
      areRows
        ? try session.decodePlain(
          Element.self, ElementDecoder(elements: elements, number: .element(index), node: step))
        : try session.decode(Element.self, .element(index), of: elements, at: step)
    }
  }

  /// Returns an array of so many elements, each of which `decode` returns for its number and its step.
  @inline(__always)
  private func array(
    of count: Int, _ session: DecodingSession, _ node: PathNode, _ decode: (Int, PathNode) throws -> Element
  ) throws -> [Element] {
    let mark = session.path.count
    var step = session.path.push(PathStep(.index, parent: node))
    defer { session.path.pop(to: mark) }
    return try .filled(count: count) { first, initialized in
      for index in 0..<count {
        step = session.path.setIndex(index, at: step)
        (first + index).initialize(to: try decode(index, step))
        initialized = index &+ 1
      }
    }
  }
}

/// Arrays of scalars, read at once by code that is compiled for their type. What has another form is decoded
/// one by one.
final class ScalarArrayPlan<Element: ReadableScalar>: ArrayDecodingPlan<Element> {
  private let readWhole: (_ offset: Int, DecodingSession, PathNode) throws -> [Element]?
  private let readRow: (_ row: Int, Columns, Message) -> [Element]?
  private let readEach: (PlaceElements, Message) -> [Element]?

  @inline(__always)
  override init() {
    readWhole = { offset, session, node in try Self.whole(at: offset, session, node) }
    readRow = { row, columns, message in Self.row(at: row, of: columns, message) }
    readEach = { elements, message in try? Self.each(elements, message) }
  }

  override func decode(at offset: Int, from session: DecodingSession, _ node: PathNode) throws -> [Element] {
    try readWhole(offset, session, node) ?? super.decode(at: offset, from: session, node)
  }

  private static func whole(
    at offset: Int, _ session: DecodingSession, _ node: PathNode
  ) throws -> [Element]? {
    let message = session.message
    guard let elements = try? Arrays.read(message.reader, at: offset) else {
      return try? untagged(at: offset, message.reader)
    }
    var result: [Element] = []
    do throws(FormatError) {
      // As many as there may be in few bytes; others take more.
      result.reserveCapacity(min(elements.count, 8))
      var next = elements.lowerBound
      while next < elements.upperBound {
        result.append(try Element.read(message, at: next, next: &next))
      }
      guard next == elements.upperBound else { try fail(.malformed, at: next) }
      return result
    } catch {
      // Of other types, an element may be converted, and a fault anywhere in the array is told first.
      guard Element.self == String.self else { return nil }
      let step = PathStep(.index, parent: node, value: result.count)
      throw session.error(error, path: session.codingPath(step, of: node), expected: Element.self)
    }
  }

  private static func untagged(at offset: Int, _ reader: ByteReader) throws(FormatError) -> [Element]? {
    let tag = try reader.byte(at: offset)
    if PackedArray.isPacked(tag) { return try Element.all(of: PackedArray(reader, at: offset), reader) }
    guard tag == DataValues.tag, Element.self == UInt8.self else { return nil }
    let range = try DataValues.read(reader, at: offset)
    let bytes = [UInt8](reader.buffer(at: range.lowerBound, count: range.count))
    return reinterpret(bytes, as: [Element].self)
  }

  override func decode(_ number: ElementNumber, of elements: Elements, _ node: PathNode) throws -> [Element] {
    if elements.shape == nil, let columns = elements.layout.columns, let row = elements.layout.row(number),
      let result = readRow(row, columns, elements.session.message)
    {
      return result
    }
    return try super.decode(number, of: elements, node)
  }

  /// Reads a row of a matrix.
  private static func row(at row: Int, of columns: Columns, _ message: Message) -> [Element]? {
    let reader = message.reader
    return columns.columns.withUnsafeBufferPointer { columns in
      Element.all(columns.count) { index throws(FormatError) in
        let column = columns[index]
        guard var constant = column.constant else {
          return try Element.read(reader, at: row &+ Int(column.offset), column.type, base: column.base)
        }
        return try Element.read(message, at: constant, next: &constant)
      }
    }
  }

  override func decode(each elements: PlaceElements, _ session: DecodingSession) -> [Element]? {
    readEach(elements, session.message)
  }

  private static func each(_ elements: PlaceElements, _ message: Message) throws(FormatError) -> [Element]? {
    if let column = try elements.column(message) { return Element.all(of: column, message.reader) }
    guard var walk = EachKeyWalk(elements, message) else { return nil }
    var result: [Element] = []
    while let offset = try walk.next(message) {
      var next = offset
      result.append(try Element.read(message, at: offset, next: &next))
    }
    return result
  }
}

// MARK: dictionaries

/// A dictionary whose keys are strings, from a map or a record.
class DictionaryDecodingPlan<Value: Decodable>: DecodingPlan<[String: Value]> {
  final override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [String: Value] {
    let object = try session.attempt(at: node, expected: [String: Value].self) { () throws(FormatError) in
      try ObjectHeader.read(session.message.reader, at: offset)
    }
    guard let object else {
      throw session.error(FormatError(.mismatch, at: offset), at: node, expected: [String: Any].self)
    }
    return try entries(object, session, node)
  }

  func entries(
    _ object: ObjectHeader, _ session: DecodingSession, _ node: PathNode
  ) throws -> [String: Value] {
    let entry = session.types.entry(for: Value.self)
    return try Self.read(object, session, node) { offset, step in
      entry.isPlain
        ? try session.decodePlain(Value.self, ValueDecoder(session: session, offset: offset, node: step))
        : try session.decodeKnown(Value.self, entry, at: offset, step)
    }
  }

  /// Decodes entry after entry; `decode` is handed where each value stands, and its step.
  @inline(__always)
  static func read(
    _ object: ObjectHeader, _ session: DecodingSession, _ node: PathNode,
    _ decode: (Int, PathNode) throws -> Value
  ) throws -> [String: Value] {
    if object.body.isEmpty, object.shape == nil { return [:] }
    let message = session.message
    var (entries, count) = try session.attempt(at: node, expected: [String: Value].self) {
      () throws(FormatError) in
      let entries = try Children(object, message)
      return (entries, try entries.count(message))
    }
    var result = [String: Value](minimumCapacity: count)
    while let (name, key, offset) = try session.attempt(
      at: node, expected: [String: Value].self,
      { () throws(FormatError) -> (String, TextLocation, Int)? in
        guard let entry = try entries.next(message), let key = entry.key else { return nil }
        return (try entries.name(of: entry, message), key, entry.value)
      })
    {
      let mark = session.path.count
      let step = session.path.push(PathStep(.name, parent: node, value: key.bits))
      defer { session.path.pop(to: mark) }
      guard result.updateValue(try decode(offset, step), forKey: name) == nil else {
        throw collision(result, name, key, session, node)
      }
    }
    return result
  }

  /// Returns the error of a key that equals another of the dictionary: the same again, or another spelling of it.
  @inline(never)
  private static func collision(
    _ result: [String: Value], _ name: String, _ key: TextLocation, _ session: DecodingSession,
    _ node: PathNode
  ) -> any Error {
    let isSame = result.keys.contains { $0.hasSameBytes(as: name) }
    return session.error(
      FormatError(isSame ? .repeatedKey : .equalKeys, at: key.offset), path: session.codingPath(node),
      expected: [String: Value].self)
  }

  final override func decode(
    _ number: ElementNumber, of elements: Elements, _ node: PathNode
  ) throws -> [String: Value] {
    let result = try [String: Value](from: elements.session.decoder(number, of: elements, node))
    // Of two spellings of one key, the dictionary has only one.
    if let shape = elements.shape, result.count < elements.session.message.tables.keyCount(ofShape: shape) {
      throw elements.session.error(
        FormatError(.equalKeys, at: elements.offset), at: node, expected: [String: Value].self)
    }
    return result
  }
}

/// Dictionaries of scalars, read by code that is compiled for their type.
final class ScalarDictionaryPlan<Value: ReadableScalar>: DictionaryDecodingPlan<Value> {
  private let read: (ObjectHeader, DecodingSession, PathNode) throws -> [String: Value]

  @inline(__always)
  override init() {
    read = { object, session, node in
      try Self.read(object, session, node) { offset, step in
        var next = offset
        return try session.attempt(at: step, expected: Value.self) { () throws(FormatError) in
          try Value.read(session.message, at: offset, next: &next)
        }
      }
    }
  }

  override func entries(
    _ object: ObjectHeader, _ session: DecodingSession, _ node: PathNode
  ) throws -> [String: Value] {
    try read(object, session, node)
  }
}
