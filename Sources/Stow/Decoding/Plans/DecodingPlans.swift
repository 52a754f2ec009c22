#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// How scalars, optionals, arrays, dictionaries and `StowValue` are decoded, mostly without a call of `init(from:)`.

// MARK: which types have plans

/// The generic types that have a plan: optionals, arrays, and dictionaries.
protocol PlannedDecodable {
  /// Returns nil if a value's own `init(from:)` decodes it.
  static func makeDecodingPlan() -> AnyDecodingPlan?
}

extension AnyDecodingPlan {
  /// Makes the plan of a type that the library knows; nil for other types.
  static func known(_ type: Any.Type) -> AnyDecodingPlan? {
    if type == StowValue.self { return StowValuePlan() }
    if type == Data.self { return DataPlan() }
    if let plan = ScalarTypes.scalar(type)?.makeDecodingPlan() { return plan }
    return mayBeGeneric(type) ? (type as? any PlannedDecodable.Type)?.makeDecodingPlan() : nil
  }
}

extension Optional: PlannedDecodable where Wrapped: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan? { OptionalDecodingPlan<Wrapped>() }
}

// Without a condition, which the runtime would check by a search for the conformance, also of a scalar.
extension Array: PlannedDecodable {
  static func makeDecodingPlan() -> AnyDecodingPlan? {
    (ScalarTypes.scalar(Element.self) ?? Element.self as? any Decodable.Type)?.makeArrayPlan()
  }
}

extension Decodable {
  fileprivate static func makeArrayPlan() -> AnyDecodingPlan { ArrayDecodingPlan<Self>() }
}

extension Dictionary: PlannedDecodable where Key: Decodable, Value: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan? {
    guard Key.self == String.self else { return KeyedDictionaryPlan<Key, Value>() }
    return switch Value.self {
    case is Int.Type: DictionaryDecodingPlan<Int>(ofScalars: ())
    case is String.Type: DictionaryDecodingPlan<String>(ofScalars: ())
    default: DictionaryDecodingPlan<Value>()
    }
  }
}

extension ReadableScalar {
  static func makeDecodingPlan() -> AnyDecodingPlan { ScalarPlan<Self>() }
}

// MARK: the plans of single values

class ScalarPlan<Value: ReadableScalar>: DecodingPlan<Value> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    do throws(FormatError) { return try place.read(Value.self, session.message) } catch {
      throw session.error(error, at: node, expected: Value.self)
    }
  }

  final override func decode(arrayAt place: OpenPlace, from session: DecodingSession) -> [Value]? {
    try? Value.array(at: place, session.message)
  }
}

/// Decodes data, also from an array of bytes.
final class DataPlan: ScalarPlan<Data> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Data {
    let reader = session.message.reader
    // Elements without tags may be rows of bytes, but no data.
    let isArray = place.tagged.map { $0 < reader.count && Tag.kind(of: reader.base[$0]) == .array } ?? true
    guard isArray else { return try super.decode(at: place, from: session, node) }
    let entry = session.plan(of: [UInt8].self)
    return Data(try session.decode([UInt8].self, entry, at: place, node))
  }
}

/// Distinguishes a nil of its own from one of the optional inside, which `Optional.init(from:)` cannot.
final class OptionalDecodingPlan<Wrapped: Decodable>: DecodingPlan<Wrapped?> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Wrapped? {
    if let level = place.levelOfNil(session.message) { return session.none(Wrapped.self, level: level - 1) }
    return try session.decode(Wrapped.self, session.plan(of: Wrapped.self), at: place, node)
  }

  /// Returns nil if it is this optional's own, or a value that holds it further inside.
  override func none(level: Int, _ session: DecodingSession) -> Wrapped?? {
    .some(session.none(Wrapped.self, level: level - 1))
  }
}

// MARK: arrays

/// Decodes the elements at once where the plan of their type can, or else one by one.
final class ArrayDecodingPlan<Element: Decodable>: DecodingPlan<[Element]> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> [Element] {
    let entry = session.plan(of: Element.self)
    if let array = whole(entry, { $0.decode(arrayAt: place, from: session) }) { return array }
    if place.isEach { return try session.decodePlain([Element].self, ValueDecoder(session, place, node)) }
    let (untagged, values) = try session.attempt(at: node, expected: [Element].self) {
      () throws(FormatError) in try place.array(session)
    }
    if let untagged {
      let areRows = untagged.shape != nil
      if areRows, let rows = try whole(entry, { try $0.decode(rows: untagged, from: session, node) }) { return rows }
      let arePlainRows = areRows && entry.isPlain
      return try array(of: untagged.count, session, node) { index, step, target in
        if arePlainRows {
          let place = OpenPlace(elements: untagged, position: index)
          target.initialize(to: try session.decodePlain(Element.self, ValueDecoder(session, place, step)))
        } else {
          try session.decode(into: target, entry, at: OpenPlace(.element(index), of: untagged), step)
        }
      }
    }
    if values.isEmpty { return [] }
    let count = try self.count(values, session, node)
    if let array = try whole(entry, { try $0.decode(count, from: values.lowerBound, session: session, node) }) {
      return array
    }
    var offset = values.lowerBound
    return try array(of: count, session, node) { _, step, target in
      try session.decode(into: target, entry, at: OpenPlace(at: offset), step)
      do throws(FormatError) { offset = try session.message.reader.end(of: offset) } catch {
        target.deinitialize(count: 1)
        throw session.error(error, at: node, expected: nil)
      }
    }
  }

  /// Returns what the plan of the elements makes of all at once; nil if each must be decoded by itself.
  @inline(__always)
  private func whole(
    _ entry: DecodingPlans.Entry, _ decode: (DecodingPlan<Element>) throws -> [Element]?
  ) rethrows -> [Element]? {
    entry.isPlain ? nil : try entry.withPlan(as: DecodingPlan<Element>.self, decode)
  }

  private func count(_ elements: Range<Int>, _ session: DecodingSession, _ node: PathNode) throws -> Int {
    var count = 0
    do throws(FormatError) {
      return try Arrays.count(elements, session.message.reader) { count += 1 }
    } catch {
      let path = session.codingPath(node) + [PathKey.index(count)]
      throw session.error(error, path: path, expected: Element.self)
    }
  }

  @inline(__always)
  private func array(
    of count: Int, _ session: DecodingSession, _ node: PathNode,
    _ decode: (Int, PathNode, UnsafeMutablePointer<Element>) throws -> Void
  ) throws -> [Element] {
    let mark = session.path.count
    var step = session.path.push(PathStep(.index, parent: node))
    defer { session.path.pop(to: mark) }
    return try .filled(count: count) { first, initialized in
      for index in 0..<count {
        step = session.path.setIndex(index, at: step)
        try decode(index, step, first + index)
        initialized = index &+ 1
      }
    }
  }
}

// MARK: dictionaries

/// A dictionary whose keys are strings, from a map, a record or a row.
final class DictionaryDecodingPlan<Value: Decodable>: DecodingPlan<[String: Value]> {
  private let entries: (ObjectHeader, DecodingSession, PathNode) throws -> [String: Value]

  override init() {
    entries = { object, session, node in
      let entry = session.plan(of: Value.self)
      return try Self.read(object, session, node) { offset, step in
        try session.decode(Value.self, entry, at: OpenPlace(at: offset), step)
      }
    }
  }

  /// Makes a plan for scalars. Inlined, so that the loop is compiled where the type is known.
  @inline(__always)
  init(ofScalars: Void) where Value: ReadableScalar {
    entries = { object, session, node in
      try Self.read(object, session, node) { offset, step in
        var next = offset
        return try session.attempt(at: step, expected: Value.self) { () throws(FormatError) in
          try Value.read(session.message, at: offset, next: &next)
        }
      }
    }
  }

  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> [String: Value] {
    guard let offset = place.tagged else {
      guard let table = place.elements, let shape = table.shape, let row = table.layout.row(place.number) else {
        return try session.decodePlain([String: Value].self, ValueDecoder(session, place, node))
      }
      return try self.row(at: row, of: table, shape, session, node)
    }
    let object = try session.attempt(at: node, expected: [String: Value].self) { () throws(FormatError) in
      try ObjectHeader.read(session.message.reader, at: offset)
    }
    guard let object else {
      throw session.error(FormatError(.mismatch, at: offset), at: node, expected: [String: Any].self)
    }
    return try entries(object, session, node)
  }

  private func row(
    at row: Int, of table: Elements, _ shape: Int, _ session: DecodingSession, _ node: PathNode
  ) throws -> [String: Value] {
    let (message, entry) = (session.message, session.plan(of: Value.self))
    let names = try session.attempt(at: node, expected: [String: Value].self) {
      () throws(FormatError) in try message.names(ofShape: shape).names
    }
    var result = [String: Value](minimumCapacity: names.count)
    for (index, name) in names.enumerated() {
      let place = OpenPlace(table.layout.cell(index, ofRowAt: row), of: table)
      try Self.insert(name, message.tables.key(index, ofShape: shape), into: &result, session, node) { step in
        try session.decode(Value.self, entry, at: place, step)
      }
    }
    return result
  }

  /// Decodes entry after entry; `decode` receives where each value is, and its step.
  @inline(__always)
  private static func read(
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
      try insert(name, key, into: &result, session, node) { step in try decode(offset, step) }
    }
    return result
  }

  @inline(__always)
  private static func insert(
    _ name: String, _ key: TextLocation, into result: inout [String: Value], _ session: DecodingSession,
    _ node: PathNode, _ decode: (PathNode) throws -> Value
  ) throws {
    let mark = session.path.count
    let step = session.path.push(PathStep(key.isInMessage ? .name : .definedName, parent: node, value: key.offset))
    defer { session.path.pop(to: mark) }
    guard result.updateValue(try decode(step), forKey: name) == nil else {
      throw collision(result, name, key, session, node)
    }
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
}

/// Decodes dictionaries whose keys are not strings by their own `init(from:)`, which keeps one of several keys that are
/// equal, such as two spellings of a number. That is an error.
final class KeyedDictionaryPlan<Key: Decodable & Hashable, Value: Decodable>: DecodingPlan<[Key: Value]> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> [Key: Value] {
    let result = try session.decodePlain([Key: Value].self, ValueDecoder(session, place, node))
    try session.attempt(at: node, expected: [Key: Value].self) { () throws(FormatError) in
      guard result.count == (try keyCount(at: place, session)) else { try fail(.equalKeys, at: place.offset) }
    }
    return result
  }

  /// Returns how many keys the object at a place has, or the array of keys and values.
  private func keyCount(at place: OpenPlace, _ session: DecodingSession) throws(FormatError) -> Int {
    let message = session.message
    if let shape = place.elements?.shape { return message.tables.keyCount(ofShape: shape) }
    guard let offset = place.tagged, let object = try ObjectHeader.read(message.reader, at: offset) else {
      return (try ArrayDecoder(of: place, session, .top).count ?? 0) / 2
    }
    var (entries, count) = (try Children(object, message), 0)
    while try entries.next(message) != nil { count += 1 }
    return count
  }
}

// MARK: - What types ask for: in sessions of their own, for StowTesting

extension DecodingSession {
  convenience init(_ observer: any DecodingObserver) {
    self.init { type in
      if type == StowValue.self || ScalarTypes.scalar(type) != nil { return AnyDecodingPlan.known(type) }
      return (type as? any Decodable.Type)?.makeObservedPlan()
    }
    self.observer = observer
    state.pools.reusesContainers = false
  }
}

extension Decodable {
  fileprivate static func makeObservedPlan() -> AnyDecodingPlan { ObservedPlan<Self>() }
}

private final class ObservedPlan<Value: Decodable>: DecodingPlan<Value> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    let decoder = ValueDecoder(session, place, node)
    session.observer?.note(Value.self, at: decoder.codingPath)
    return try session.decodePlain(Value.self, decoder)
  }
}

/// Decodes values of any kind, without a call of `Codable` for any of them.
final class StowValuePlan: DecodingPlan<StowValue> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> StowValue {
    if let level = place.levelOfNil(session.message) { return level == 0 ? .null : .nestedNull(level: level) }
    if place.isEach {
      let entry = session.plan(of: [StowValue].self)
      return .array(try session.decode([StowValue].self, entry, at: place, node))
    }
    let reader = StowValueReader(session)
    do throws(FormatError) {
      guard let elements = place.elements else {
        var next = place.offset
        return try reader.read(at: &next)
      }
      return try reader.element(place.number, of: elements.layout)
    } catch {
      let inside = session.message.path(to: error.offset, from: place.tagged ?? error.offset)
      throw session.error(error, path: session.codingPath(node) + inside, expected: StowValue.self)
    }
  }

  override func none(level: Int, _ session: DecodingSession) -> StowValue? {
    level == 0 ? .null : .nestedNull(level: level)
  }
}

/// Reads a value with all inside. Elements are counted before their array is made: few bytes cannot ask for much.
struct StowValueReader {
  private let session: DecodingSession
  private let message: Message
  private let reader: ByteReader

  init(_ session: DecodingSession) {
    self.session = session
    message = session.message
    reader = session.message.reader
  }

  /// Reads the value at `offset`, and moves `offset` past it.
  func read(at offset: inout Int) throws(FormatError) -> StowValue {
    let tag = try reader.byte(at: offset)
    switch tag {
    case Integers.small...Integers.lastSmall:
      offset &+= 1
      return .integer(Int128(Int64(tag) &- Int64(Integers.small) &- 16))
    case Strings.short...Strings.lastShort, Strings.long, Symbols.short...Symbols.lastShort, Symbols.long:
      return .string(try String.read(message, at: offset, next: &offset))
    case Records.short...UInt8.max, Maps.short...Maps.lastShort, Maps.long, Records.long, Records.longPartial,
      Arrays.short...Arrays.lastShort, Arrays.long:
      return try container(at: &offset)
    case Integers.sized...Integers.lastSized:
      return .integer(Int128(try Integers.read(reader, at: offset, next: &offset)))
    default: return try readRare(at: &offset, tag)
    }
  }

  @inline(never)
  private func readRare(at offset: inout Int, _ tag: UInt8) throws(FormatError) -> StowValue {
    switch tag {
    case Nils.tag, Nils.nested:
      let level = Nils.level(reader, at: offset)
      offset = try reader.end(of: offset)
      return level == 0 ? .null : .nestedNull(level: level)
    case Bools.false, Bools.true:
      offset += 1
      return .bool(tag == Bools.true)
    case PackedArray.tag, PackedArray.floats, Columns.table, Columns.matrix:
      guard let layout = try ElementLayout(message, at: offset) else { try fail(.malformed, at: offset) }
      offset = try reader.end(of: offset)
      return .array(try elements(layout))
    case Floats.float:
      let value = try Float.read(message, at: offset, next: &offset)
      return value.isNaN ? .float(value) : .double(Double(value))
    case Dates.tag, Dates.scaled: return .date(try Date.read(message, at: offset, next: &offset))
    case UUIDs.tag: return .uuid(try UUID.read(message, at: offset, next: &offset))
    case DataValues.tag: return .data(try Data.read(message, at: offset, next: &offset))
    case URLs.tag: return .url(try String.read(message, at: offset, next: &offset))
    case Integers.unsigned64...Integers.unsigned128, Decimals.positive, Decimals.negative:
      guard let parts = try Decimals.readWide(reader, at: offset, next: &offset) else {
        try fail(.malformed, at: offset)
      }
      guard tag < Decimals.positive else { return StowValue(parts) }
      return Int128(exactly: parts).map { .integer($0) } ?? .unsignedInteger(parts.magnitude)
    case _ where Floats.isFloat(tag): return .double(try Floats.read(reader, at: offset, next: &offset))
    default:
      _ = try reader.end(of: offset)
      try fail(.malformed, at: offset)
    }
  }

  // MARK: what nests

  /// Reads the array or the object at `offset`, unless the stack has no room for it.
  private func container(at offset: inout Int) throws(FormatError) -> StowValue {
    let start = offset
    guard var children = try Children(of: start, message) else { try fail(.malformed, at: start) }
    offset = children.end
    guard session.calls.enter(maximumDepth: message.maximumDepth) == nil else { try fail(.noRoom, at: start) }
    defer { session.calls.leave() }
    let isMap = children.map != nil
    let recordKeys = try recordKeys(children)
    let count = try count(children, recordKeys)
    var (values, names) = ([StowValue](), [String]())
    values.reserveCapacity(count)
    if isMap { names.reserveCapacity(count) }
    while let child = try children.peek(message) {
      if isMap, let key = child.key { names.append(try message.keyString(at: key)) }
      var next = child.value
      values.append(try read(at: &next))
      try children.pass(child, to: next)
    }
    try children.checkEnd(message)
    guard children.object != nil else { return .array(values) }
    return .object(StowObject(recordKeys ?? ObjectKeys(names), values))
  }

  /// Returns the keys of a record that have values; nil for other containers.
  private func recordKeys(_ record: Children) throws(FormatError) -> ObjectKeys? {
    guard let object = record.object, let shape = object.shape else { return nil }
    let names = try message.names(ofShape: shape)
    guard object.isPartial else { return names.objectKeys }
    let start = object.body.lowerBound
    return ObjectKeys(names.names.indices.filter { reader.bit($0, at: start) }.map { names.names[$0] })
  }

  /// The most keys of a record whose values need not be counted first, because it takes little memory.
  private static let fewKeys = 32

  /// Returns the number of values. The keys of a map must be distinct.
  private func count(_ children: Children, _ recordKeys: ObjectKeys?) throws(FormatError) -> Int {
    if let map = children.map { return try message.checkKeys(ofMap: map).count }
    if let recordKeys, recordKeys.count <= Self.fewKeys { return recordKeys.count }
    let count = try Arrays.count(children.offset..<children.end, reader)
    if let recordKeys, count != recordKeys.count { try fail(.malformed, at: children.offset) }
    return count
  }

  // MARK: elements without tags

  private func elements(_ layout: ElementLayout) throws(FormatError) -> [StowValue] {
    try (0..<layout.count).map { index throws(FormatError) in try element(.element(index), of: layout) }
  }

  func element(_ number: ElementNumber, of layout: ElementLayout) throws(FormatError) -> StowValue {
    if var constant = layout.constant(number) { return try read(at: &constant) }
    guard let cells = layout.cells(ofRow: number) else {
      return switch try layout.cell(number, reader) {
      case .integer(let value): .integer(Int128(value))
      case .double(let value): .double(value)
      case .singleNaN(let value): .float(value)
      case .bool(let value): .bool(value)
      case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
      }
    }
    let values = try elements(cells)
    guard let shape = layout.columns?.shape else { return .array(values) }
    return .object(StowObject(try message.names(ofShape: shape).objectKeys, values))
  }
}
