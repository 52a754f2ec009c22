#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A way to decode the values of some generic type.
class AnyDecodingPlan {}

/// A way to decode the values of one generic type, without knowing its parameters where it is called.
///
/// The caller knows only `Value`, and calls what the object's class has. No metadata is looked up for that.
class DecodingPlan<Value>: AnyDecodingPlan {
  /// Decodes the value at `offset`.
  func decode(at offset: Int, from session: DecodingSession, _ node: PathNode) throws -> Value {
    preconditionFailure("a plan without a way to decode")
  }

  /// The same from an element without a tag.
  func decode(
    _ element: ElementSource.Element, of source: ElementSource, _ node: PathNode
  ) throws -> Value {
    throw source.session.error(
      FormatError(.cellMismatch, at: source.offset), path: source.session.codingPath(node),
      expected: Value.self)
  }

  /// The nil that stands `level` optionals deep; nil if the type has none.
  func none(level: Int, _ session: DecodingSession) -> Value? { nil }
}

/// The types that have a plan: optionals, arrays, and dictionaries of strings.
protocol PlannedDecodable {
  static func makeDecodingPlan() -> AnyDecodingPlan
}

typealias DecodingPlans = TypePlans<AnyDecodingPlan>

extension DecodingPlans {
  init() { self.init { ($0 as? any PlannedDecodable.Type)?.makeDecodingPlan() } }
}

extension DecodingSession {
  /// Decodes a value whose type is known here.
  @inline(never)
  func decodeKnown<Value: Decodable>(
    _ type: Value.Type, _ entry: DecodingPlans.Entry, at offset: Int, _ node: PathNode
  ) throws -> Value {
    do throws(FormatError) {
      var next = offset
      switch entry.kind {
      case .plain, .planned, .deepOptional, .data: break
      case .bool: return reinterpret(try bool(at: offset, next: &next), as: type)
      case .double: return reinterpret(try double(at: offset, next: &next), as: type)
      case .float: return reinterpret(try float(at: offset, next: &next), as: type)
      case .float16:
        #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
          return reinterpret(try float16(at: offset, next: &next), as: type)
        #endif
      case .string: return reinterpret(try string(at: offset, next: &next), as: type)
      case .int: return reinterpret(try integer(Int.self, at: offset, next: &next), as: type)
      case .int8: return reinterpret(try integer(Int8.self, at: offset, next: &next), as: type)
      case .int16: return reinterpret(try integer(Int16.self, at: offset, next: &next), as: type)
      case .int32: return reinterpret(try integer(Int32.self, at: offset, next: &next), as: type)
      case .int64: return reinterpret(try integer(Int64.self, at: offset, next: &next), as: type)
      case .int128: return reinterpret(try integer(Int128.self, at: offset, next: &next), as: type)
      case .uint: return reinterpret(try integer(UInt.self, at: offset, next: &next), as: type)
      case .uint8: return reinterpret(try integer(UInt8.self, at: offset, next: &next), as: type)
      case .uint16: return reinterpret(try integer(UInt16.self, at: offset, next: &next), as: type)
      case .uint32: return reinterpret(try integer(UInt32.self, at: offset, next: &next), as: type)
      case .uint64: return reinterpret(try integer(UInt64.self, at: offset, next: &next), as: type)
      case .uint128: return reinterpret(try integer(UInt128.self, at: offset, next: &next), as: type)
      case .date:
        let seconds = try dateSeconds(at: offset, next: &next)
        return reinterpret(Date(timeIntervalSinceReferenceDate: seconds), as: type)
      case .uuid: return reinterpret(try uuid(at: offset, next: &next), as: type)
      case .url: return reinterpret(try url(at: offset, next: &next), as: type)
      case .decimal: return reinterpret(try decimal(at: offset, next: &next), as: type)
      }
      if entry.kind == .data, let data = try data(at: offset, next: &next) {
        return reinterpret(data, as: type)
      }
    } catch {
      throw self.error(error, path: codingPath(node), expected: type)
    }
    switch entry.kind {
    case .data: return reinterpret(Data(try decodeBytes(at: offset, node)), as: type)
    case .plain: return try decodePlain(type, ValueDecoder(session: self, offset: offset, node: node))
    case .deepOptional: return try decodeOptional(type, at: offset, node)
    default:
      return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(at: offset, from: self, node) }
    }
  }

  private func decodeBytes(at offset: Int, _ node: PathNode) throws -> [UInt8] {
    try decodeKnown([UInt8].self, plans.entry(for: [UInt8].self), at: offset, node)
  }

  // MARK: elements without tags

  /// Decodes an element, one step below where `step` begins.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ element: ElementSource.Element, of source: ElementSource, _ step: PathStep
  ) throws -> Value {
    let mark = path.count
    let node = path.push(step)
    defer { path.pop(to: mark) }
    return try decode(type, element, of: source, at: node)
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, _ element: ElementSource.Element, of source: ElementSource, at node: PathNode
  ) throws -> Value {
    let entry = plans.entry(for: type)
    if case .value(let offset) = element { return try decodeKnown(type, entry, at: offset, node) }
    switch entry.kind {
    case .plain: return try decodePlain(type, decoder(element, of: source, node))
    case .planned:
      return try entry.withPlan(as: DecodingPlan<Value>.self) { try $0.decode(element, of: source, node) }
    case .deepOptional: return try decodeOptional(type, .element(element, of: source), node)
    default: break
    }
    do throws(FormatError) {
      guard case .cell(let cell) = element else { try fail(.cellMismatch, at: source.offset) }
      return try known(type, entry.kind, cell, at: source.offset)
    } catch {
      throw self.error(error, path: codingPath(node), expected: type)
    }
  }

  func decoder(
    _ element: ElementSource.Element, of source: ElementSource, _ node: PathNode
  ) -> any Decoder {
    switch element {
    case .cell(let cell): decoder(cell, of: source, node)
    case .value(let offset): ValueDecoder(session: self, offset: offset, node: node)
    case .object(let row), .array(let row): RowDecoder(source: source, row: row, node: node)
    }
  }

  // MARK: nil

  /// The value of a type that the nil at `offset` stands for, inside an optional: nil, unless the type is an
  /// optional itself and the nil is its own.
  func decodeNil<Value: Decodable>(_ type: Value.Type, at offset: Int) throws -> Value? {
    let level = reader.nilLevel(at: offset)
    return level == 0 ? nil : none(type, level: level - 1)
  }

  /// The nil of an optional type; nil for other types.
  func missing<Value: Decodable>(_ type: Value.Type) -> Value? { none(type, level: 0) }

  func none<Value: Decodable>(_ type: Value.Type, level: Int) -> Value? {
    let entry = plans.entry(for: type)
    switch entry.kind {
    case .planned: return entry.withPlan(as: DecodingPlan<Value>.self) { $0.none(level: level, self) }
    case .deepOptional: return try? decodeOptional(type, .none(level: level), .top)
    default: return nil
    }
  }
}
