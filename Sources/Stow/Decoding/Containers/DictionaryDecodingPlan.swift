/// A dictionary whose keys are strings, from a map or a record.
class DictionaryDecodingPlan<Value: Decodable>: DecodingPlan<[String: Value]> {
  final override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [String: Value] {
    let object: ObjectHeader?
    do throws(FormatError) {
      object = try ObjectHeader.read(session.message.reader, at: offset)
    } catch {
      throw session.error(error, at: node, expected: [String: Value].self)
    }
    guard let object else {
      throw session.error(
        FormatError(.mismatch, at: offset), path: session.codingPath(node), expected: [String: Any].self)
    }
    return try entries(object, session, node)
  }

  /// Decodes the entries of an object.
  func entries(_ object: ObjectHeader, _ session: DecodingSession, _ node: PathNode) throws
    -> [String: Value]
  {
    let entry = session.types.entry(for: Value.self)
    return try Self.read(object, session, node) { offset, step in
      entry.kind == .plain
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
    var entries = try attempt(session, node) { () throws(FormatError) in
      try ObjectEntries(object, session.message)
    }
    let count = try attempt(session, node) { () throws(FormatError) in try entries.count(session.message) }
    var result = [String: Value](minimumCapacity: count)
    while let entry = try attempt(
      session, node, { () throws(FormatError) in try entries.next(session.message) })
    {
      let mark = session.path.count
      let step = session.path.push(PathStep(.name, parent: node, value: entry.key.bits))
      defer { session.path.pop(to: mark) }
      let value = try decode(entry.value, step)
      guard result.updateValue(value, forKey: entry.name) == nil else {
        throw collision(result, entry, session, node)
      }
    }
    return result
  }

  /// Returns the error of a key that equals another of the dictionary: the same again, or another spelling of it.
  @inline(never)
  private static func collision(
    _ result: [String: Value], _ entry: ObjectEntries.Entry, _ session: DecodingSession, _ node: PathNode
  ) -> any Error {
    let isSame = result.keys.contains { $0.hasSameBytes(as: entry.name) }
    return session.error(
      FormatError(isSame ? .repeatedKey : .equalKeys, at: entry.key.offset), path: session.codingPath(node),
      expected: [String: Value].self)
  }

  @inline(__always)
  private static func attempt<Result>(
    _ session: DecodingSession, _ node: PathNode, _ body: () throws(FormatError) -> Result
  ) throws -> Result {
    do throws(FormatError) {
      return try body()
    } catch {
      throw session.error(error, at: node, expected: [String: Value].self)
    }
  }

  final override func decode(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) throws -> [String: Value] {
    let result = try [String: Value](from: source.session.decoder(element, of: source, node))
    // Of two spellings of one key, the dictionary has only one.
    if let shape = source.columns?.shape,
      result.count < source.session.message.tables.keyCount(ofShape: shape)
    {
      throw source.session.error(
        FormatError(.equalKeys, at: source.offset), at: node, expected: [String: Value].self)
    }
    return result
  }
}

/// Dictionaries of scalars, compiled for their type where it is known.
final class ScalarDictionaryPlan<Value: ReadableScalar>: DictionaryDecodingPlan<Value> {
  private let read: (ObjectHeader, DecodingSession, PathNode) throws -> [String: Value]

  @inline(__always)
  override init() {
    read = { object, session, node in
      try Self.read(object, session, node) { offset, step in
        var next = offset
        do throws(FormatError) {
          return try Value.read(session.message, at: offset, next: &next)
        } catch {
          throw session.error(error, at: step, expected: Value.self)
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
