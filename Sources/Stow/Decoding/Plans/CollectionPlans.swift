// Arrays and dictionaries, decoded as wholes.

/// Decodes the elements one by one.
class ArrayDecodingPlan<Element: Decodable>: DecodingPlan<[Element]> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws
    -> [Element]
  {
    let (untagged, values) = try session.attempt(at: node, expected: [Element].self) {
      () throws(FormatError) in try place.array(session)
    }
    if untagged == nil, values.isEmpty { return [] }
    let entry = session.types.entry(for: Element.self)
    if let untagged {
      let areRows = entry.isPlain && untagged.shape != nil
      return try array(of: untagged.count, session, node) { index, step in
        areRows
          ? try session.decodePlain(Element.self, ValueDecoder(row: index, of: untagged, step))
          : try session.decode(Element.self, entry, at: OpenPlace(.element(index), of: untagged), step)
      }
    }
    let count = try session.attempt(at: node, expected: nil) { () throws(FormatError) in
      try Arrays.count(values, session.message.reader)
    }
    var offset = values.lowerBound
    return try array(of: count, session, node) { _, step in
      let element =
        entry.isPlain
        ? try session.decodePlain(Element.self, ValueDecoder(session, OpenPlace(at: offset), step))
        : try session.decode(Element.self, entry, at: OpenPlace(at: offset), step)
      do throws(FormatError) { offset = try session.message.reader.end(of: offset) } catch {
        throw session.error(error, at: node, expected: nil)
      }
      return element
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
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws
    -> [Element]
  {
    try Element.array(at: place, session, node) ?? super.decode(at: place, from: session, node)
  }

  override func decode(each elements: PlaceElements, _ session: DecodingSession) -> [Element]? {
    try? Element.array(ofEach: elements, session.message)
  }
}

extension ReadableScalar {
  static func array(
    at place: OpenPlace, _ session: DecodingSession, _ node: PathNode
  ) throws -> [Self]? {
    let message = session.message
    guard let offset = place.tagged else { return row(at: place, message) }
    guard let elements = try? Arrays.read(message.reader, at: offset) else {
      return try? untagged(at: offset, message.reader)
    }
    var result: [Self] = []
    do throws(FormatError) {
      // As many as there may be in few bytes; others take more.
      result.reserveCapacity(min(elements.count, 8))
      var next = elements.lowerBound
      while next < elements.upperBound { result.append(try read(message, at: next, next: &next)) }
      guard next == elements.upperBound else { try fail(.malformed, at: next) }
      return result
    } catch {
      // Of other types, an element may be converted, and a fault anywhere in the array is told first.
      guard Self.self == String.self else { return nil }
      let step = PathStep(.index, parent: node, value: result.count)
      throw session.error(error, path: session.codingPath(step, of: node), expected: Self.self)
    }
  }

  private static func untagged(at offset: Int, _ reader: ByteReader) throws(FormatError) -> [Self]? {
    let tag = try reader.byte(at: offset)
    if PackedArray.isPacked(tag) { return try all(of: PackedArray(reader, at: offset), reader) }
    guard tag == DataValues.tag, Self.self == UInt8.self else { return nil }
    let range = try DataValues.read(reader, at: offset)
    return reinterpret([UInt8](reader.buffer(at: range.lowerBound, count: range.count)), as: [Self].self)
  }

  /// Reads a row of a matrix.
  private static func row(at place: OpenPlace, _ message: Message) -> [Self]? {
    guard let elements = place.elements, elements.shape == nil,
      let columns = elements.layout.columns, let row = elements.layout.row(place.number)
    else { return nil }
    return columns.columns.withUnsafeBufferPointer { columns in
      all(columns.count) { index throws(FormatError) in
        let column = columns[index]
        guard var constant = column.constant else {
          return try read(message.reader, at: row &+ Int(column.offset), column.type, base: column.base)
        }
        return try read(message, at: constant, next: &constant)
      }
    }
  }

  static func array(ofEach elements: PlaceElements, _ message: Message) throws(FormatError) -> [Self]? {
    if let column = try elements.column(message) { return all(of: column, message.reader) }
    guard var walk = EachKeyWalk(elements, message) else { return nil }
    var result: [Self] = []
    while let offset = try walk.next(message) {
      var next = offset
      result.append(try read(message, at: offset, next: &next))
    }
    return result
  }
}

// MARK: dictionaries

/// A dictionary whose keys are strings, from a map or a record.
class DictionaryDecodingPlan<Value: Decodable>: DecodingPlan<[String: Value]> {
  final override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws
    -> [String: Value]
  {
    guard let offset = place.tagged else { return try row(at: place, session, node) }
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
      try session.decode(Value.self, entry, at: OpenPlace(at: offset), step)
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

  private func row(
    at place: OpenPlace, _ session: DecodingSession, _ node: PathNode
  ) throws -> [String: Value] {
    let result = try [String: Value](from: ValueDecoder(session, place, node))
    // Of two spellings of one key, the dictionary has only one.
    if let elements = place.elements, let shape = elements.shape,
      result.count < session.message.tables.keyCount(ofShape: shape)
    {
      throw session.error(
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
