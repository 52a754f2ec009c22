#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Decoding values, each in the way that its type asks for.

extension DecodingSession {
  /// Decodes the value at `offset`, one step below where `step` begins.
  @inline(__always)
  func decode<Value: Decodable>(
    _ type: Value.Type, at offset: Int, _ step: @autoclosure () -> PathStep
  ) throws -> Value {
    let entry = types.entry(for: type)
    let mark = path.count
    let node = path.push(step())
    defer { path.pop(to: mark) }
    if entry.kind == .plain {
      return try decodePlain(type, ValueDecoder(session: self, offset: offset, node: node))
    }
    return try decodeKnown(type, entry, at: offset, node)
  }

  /// Calls the value's own `init(from:)`.
  @inline(__always)
  func decodePlain<Value: Decodable>(_ type: Value.Type, _ decoder: consuming some Decoder) throws -> Value {
    if !calls.enter(maximumDepth: message.maximumDepth) { try enterDue(decoder) }
    defer { calls.leave() }
    // Called on the type that was handed in, which may be a subclass of `Value`.
    return try type.init(from: decoder)
  }

  @inline(never)
  private func enterDue(_ decoder: some Decoder) throws {
    try calls.enterDue(maximumDepth: message.maximumDepth, decoder)
  }

  /// Counts a call for what stands at a place of the path, or throws why it would be one too many. `calls.leave` ends it.
  func enterCall(at node: PathNode) throws {
    let maximumDepth = message.maximumDepth
    if calls.enter(maximumDepth: maximumDepth) { return }
    guard let reason = calls.enterDue(maximumDepth: maximumDepth) else { return }
    throw DecodingError.tooDeep(reason, path: codingPath(node))
  }

  /// Decodes a value whose type is known here.
  @inline(never)
  func decodeKnown<Value: Decodable>(
    _ type: Value.Type, _ entry: DecodingPlans.Entry, at offset: Int, _ node: PathNode
  ) throws -> Value {
    switch entry.kind {
    case .plain: return try decodePlain(type, ValueDecoder(session: self, offset: offset, node: node))
    case .deepOptional: return try decodeOptional(type, at: offset, node)
    default:
      return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(at: offset, from: self, node) }
    }
  }

  // MARK: elements without tags

  /// Decodes an element, one step below where `step` begins.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ element: ElementSource.Element, of source: SessionElements, _ step: PathStep
  ) throws -> Value {
    let mark = path.count
    let node = path.push(step)
    defer { path.pop(to: mark) }
    return try decode(type, element, of: source, at: node)
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, _ element: ElementSource.Element, of source: SessionElements, at node: PathNode
  ) throws -> Value {
    let entry = types.entry(for: type)
    if case .value(let offset) = element { return try decodeKnown(type, entry, at: offset, node) }
    switch entry.kind {
    case .plain: return try decodePlain(type, decoder(element, of: source, node))
    case .deepOptional: return try decodeOptional(type, .element(element, of: source), node)
    default:
      return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(element, of: source, node) }
    }
  }

  // MARK: decoders

  /// Returns the decoder of the value at `offset`.
  func decoder(at offset: Int, _ node: PathNode) -> any Decoder {
    ValueDecoder(session: self, offset: offset, node: node)
  }

  /// Returns the decoder of an element without a tag.
  func decoder(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) -> any Decoder {
    switch element {
    case .cell(let cell): decoder(cell, of: source, node)
    case .value(let offset): ValueDecoder(session: self, offset: offset, node: node)
    case .object(let row), .array(let row): RowDecoder(source: source, row: row, node: node)
    }
  }

  /// Returns the decoder of a cell.
  private func decoder(_ cell: Cell, of source: SessionElements, _ node: PathNode) -> any Decoder {
    switch cell {
    case .integer(let integer): CellDecoder(source: source, content: integer, node: node)
    case .double(let value): CellDecoder(source: source, content: value, node: node)
    case .singleNaN(let value): CellDecoder(source: source, content: value, node: node)
    case .bool(let value): CellDecoder(source: source, content: value, node: node)
    case .date(let seconds):
      CellDecoder(source: source, content: Date(timeIntervalSinceReferenceDate: seconds), node: node)
    }
  }

  // MARK: nil

  /// Returns what the nil at `offset` stands for inside an optional: nil, unless the type is an optional itself and the
  /// nil is its own.
  func decodeNil<Value: Decodable>(_ type: Value.Type, at offset: Int) throws -> Value? {
    let level = Nils.level(message.reader, at: offset)
    return level == 0 ? nil : none(type, level: level - 1)
  }

  /// Returns the nil of an optional type, or nil for other types.
  func missing<Value: Decodable>(_ type: Value.Type) -> Value? { none(type, level: 0) }

  func none<Value: Decodable>(_ type: Value.Type, level: Int) -> Value? {
    let entry = types.entry(for: type)
    switch entry.kind {
    case .planned: return entry.withPlan(as: DecodingPlan<Value>.self) { $0.none(level: level, self) }
    case .deepOptional: return try? decodeOptional(type, .none(level: level), .top)
    default: return nil
    }
  }

  // MARK: optionals

  /// Lets the optional at `offset` decode itself.
  func decodeOptional<Value: Decodable>(
    _ type: Value.Type, at offset: Int, _ node: PathNode
  ) throws -> Value {
    let isNil = Nils.isNil(message.reader, at: offset)
    return try decodeOptional(
      type, isNil ? .none(level: Nils.level(message.reader, at: offset)) : .value(at: offset), node)
  }

  func decodeOptional<Value: Decodable>(
    _ type: Value.Type, _ content: OptionalDecoder.Content, _ node: PathNode
  ) throws -> Value {
    var content = content
    // A nil of the innermost optional, however deep it stood.
    if case .none = content, !TypeName(type).isNestedOptional { content = .none(level: 0) }
    return try type.init(from: OptionalDecoder(session: self, content: content, node: node))
  }
}
