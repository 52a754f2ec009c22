// Dictionaries, decoded without their own `init(from:)`.

extension Dictionary: PlannedDecodable where Key: Decodable, Value: Decodable {
  static func makeDecodingPlan() -> DecodingPlan {
    guard Key.self == String.self else { return PlainDecodingPlan<Self>() }
    switch ValueKind(Value.self) {
    case .string: return StringDictionaryPlan()
    case .int: return IntDictionaryPlan()
    default: return DictionaryDecodingPlan<Value>()
    }
  }
}

/// A dictionary whose keys are strings: a map, or a record.
private class DictionaryDecodingPlan<Value: Decodable>: DecodingPlan {
  final override var valueType: Any.Type { [String: Value].self }

  final override func decode(
    at offset: Int, from session: DecodingSession, _ node: DecodingPath.Node,
    into target: UnsafeMutableRawPointer
  ) throws {
    let object: ObjectHeader?
    do throws(FormatError) {
      object = try session.reader.object(at: offset)
    } catch {
      throw session.error(error, path: session.codingPath(node), expected: valueType)
    }
    let result: [String: Value]
    if let object, object.shape == nil {
      result = try entries(object.body, session, node)
    } else {
      result = try [String: Value](from: ValueDecoder(session: session, offset: offset, node: node))
    }
    target.initializeMemory(as: [String: Value].self, to: result)
  }

  /// The entries of a map.
  func entries(_ body: Range<Int>, _ session: DecodingSession, _ node: DecodingPath.Node) throws -> [String: Value] {
    let entry = session.plans.entry(for: Value.self)
    return try Self.read(body, session, node) { offset, step in
      entry.kind == .plain
        ? try session.decodePlain(Value.self, ValueDecoder(session: session, offset: offset, node: step))
        : try session.decodeKnown(Value.self, entry, at: offset, step)
    }
  }

  /// Decodes entry after entry; `decode` is handed where each value stands, and its step.
  @inline(__always)
  static func read(
    _ body: Range<Int>, _ session: DecodingSession, _ node: DecodingPath.Node,
    _ decode: (Int, DecodingPath.Node) throws -> Value
  ) throws -> [String: Value] {
    if body.isEmpty { return [:] }
    // An entry takes two bytes at least.
    var result = [String: Value](minimumCapacity: min(body.count / 2, try count(body, session, node)))
    var offset = body.lowerBound
    while offset < body.upperBound {
      let name: String
      let start: Int
      let next: Int
      do throws(FormatError) {
        name = try session.keyName(at: offset)
        start = try session.tables.endOfKey(session.reader, at: offset)
        next = try session.reader.end(of: start)
      } catch {
        throw session.error(error, path: session.codingPath(node), expected: [String: Value].self)
      }
      let mark = session.path.count
      let step = session.path.push(DecodingPath.Step(.name, parent: node, value: offset))
      defer { session.path.pop(to: mark) }
      let value = try decode(start, step)
      // Of two entries with one key, the first counts.
      if let first = result.updateValue(value, forKey: name) { result[name] = first }
      offset = next
    }
    return result
  }

  private static func count(_ body: Range<Int>, _ session: DecodingSession, _ node: DecodingPath.Node) throws -> Int
  {
    do throws(FormatError) {
      var count = 0
      var offset = body.lowerBound
      while offset < body.upperBound {
        offset = try session.reader.end(of: session.tables.endOfKey(session.reader, at: offset))
        count &+= 1
      }
      guard offset == body.upperBound else { throw FormatError(.malformed, at: offset) }
      return count
    } catch {
      throw session.error(error, path: session.codingPath(node), expected: nil)
    }
  }

  final override func decode(
    _ element: ElementSource.Element, of source: ElementSource, _ node: DecodingPath.Node,
    into target: UnsafeMutableRawPointer
  ) throws {
    let decoder = source.session.decoder(element, of: source, node)
    target.initializeMemory(as: [String: Value].self, to: try [String: Value](from: decoder))
  }
}

/// Dictionaries of strings, compiled for them.
private final class StringDictionaryPlan: DictionaryDecodingPlan<String> {
  override func entries(
    _ body: Range<Int>, _ session: DecodingSession, _ node: DecodingPath.Node
  ) throws -> [String: String] {
    try Self.read(body, session, node) { offset, step in
      var next = offset
      do throws(FormatError) {
        return try session.string(at: offset, next: &next)
      } catch {
        throw session.error(error, path: session.codingPath(step), expected: String.self)
      }
    }
  }
}

/// Dictionaries of integers, compiled for them.
private final class IntDictionaryPlan: DictionaryDecodingPlan<Int> {
  override func entries(
    _ body: Range<Int>, _ session: DecodingSession, _ node: DecodingPath.Node
  ) throws -> [String: Int] {
    try Self.read(body, session, node) { offset, step in
      var next = offset
      do throws(FormatError) {
        return try session.integer(Int.self, at: offset, next: &next)
      } catch {
        throw session.error(error, path: session.codingPath(step), expected: Int.self)
      }
    }
  }
}

/// A dictionary whose keys are not strings, by its own `init(from:)`.
private final class PlainDecodingPlan<Value: Decodable>: DecodingPlan {
  override var valueType: Any.Type { Value.self }

  override func decode(
    at offset: Int, from session: DecodingSession, _ node: DecodingPath.Node,
    into target: UnsafeMutableRawPointer
  ) throws {
    let decoder = ValueDecoder(session: session, offset: offset, node: node)
    target.initializeMemory(as: Value.self, to: try session.decodePlain(Value.self, decoder))
  }

  override func decode(
    _ element: ElementSource.Element, of source: ElementSource, _ node: DecodingPath.Node,
    into target: UnsafeMutableRawPointer
  ) throws {
    let decoder = source.session.decoder(element, of: source, node)
    target.initializeMemory(as: Value.self, to: try source.session.decodePlain(Value.self, decoder))
  }
}
