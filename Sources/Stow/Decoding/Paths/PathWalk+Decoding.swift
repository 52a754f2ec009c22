// Decoding what a path leads to.

extension PathWalk {
  /// Decodes a part of a session's message.
  static func decode<Value: Decodable>(
    _ type: Value.Type, at path: StowPath, in session: DecodingSession
  ) throws -> Value {
    let place = ValuePlace(content: .value(at: session.message.body), depth: 0)
    var walk = PathWalk(session, from: place, session.path.push([]), marks: nil)
    return try walk.follow(path.steps[...]) ? walk.decode(type) : walk.decodeMissing(type)
  }

  /// Decodes a part of a session's message by `make`, which is handed a decoder of it; `missing` is handed the error that
  /// says that there is none.
  static func decode<Value>(
    at path: StowPath, in session: DecodingSession, orMissing missing: (any Error) throws -> Value,
    by make: (any Decoder) throws -> Value
  ) throws -> Value {
    let place = ValuePlace(content: .value(at: session.message.body), depth: 0)
    var walk = PathWalk(session, from: place, session.path.push([]), marks: nil)
    return try walk.follow(path.steps[...]) ? make(walk.decoder()) : missing(walk.missing(Value.self))
  }

  /// Returns the nil of an optional type, which stands for what is not there; nil for other types.
  static func absence<Value: Decodable>(of type: Value.Type, _ session: DecodingSession) -> Value? {
    TypeName(type).isOptional ? session.missing(type) : nil
  }

  /// Whether a nil stands here.
  var isNil: Bool {
    if case .value(let offset) = place.content {
      Nils.isNil(session.message.reader, at: offset)
    } else {
      false
    }
  }

  /// Decodes what stands here.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    switch place.content {
    case .value(let offset):
      try checkDepth(ofValueAt: offset)
      return try session.decodeKnown(type, session.types.entry(for: type), at: offset, node)
    case .row, .cell:
      let (element, source) = element
      return try session.decode(type, element, of: source, at: node)
    case .each(let elements):
      return try EachDecoder(session: session, elements: elements, node: node).decode(type)
    }
  }

  /// Returns the nil of an optional where there is nothing.
  func decodeMissing<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard let none = Self.absence(of: type, session) else { throw missing(type) }
    return none
  }

  /// Returns the decoder of what stands here.
  func decoder() throws -> any Decoder {
    switch place.content {
    case .value(let offset):
      try checkDepth(ofValueAt: offset)
      return session.decoder(at: offset, node)
    case .row, .cell:
      let (element, source) = element
      return session.decoder(element, of: source, node)
    case .each(let elements): return EachDecoder(session: session, elements: elements, node: node)
    }
  }

  /// Nothing in a value is decoded before its depth is known, which opening the message leaves to this.
  private func checkDepth(ofValueAt offset: Int) throws {
    do throws(FormatError) { try session.message.checkDepth(ofValueAt: offset, within: place.depth) } catch {
      throw session.error(error, at: node, expected: nil)
    }
  }

  /// What stands here without a tag, and the array that it is an element of.
  private var element: (ElementSource.Element, SessionElements) {
    switch place.content {
    case .row(let row, let columns, let offset):
      let source = SessionElements(columns, at: offset, session)
      return (columns.shape == nil ? .array(row: row) : .object(row: row), source)
    case .cell(let cell, let offset): return (.cell(cell), SessionElements(emptyAt: offset, session))
    case .value(let offset): return (.value(offset: offset), SessionElements(emptyAt: offset, session))
    case .each: preconditionFailure("no element, but an array of them")
    }
  }
}
