#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
