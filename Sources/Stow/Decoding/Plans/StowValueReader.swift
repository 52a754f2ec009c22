#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values of any kind, read without a call of `Codable` for any of them.
final class StowValuePlan: DecodingPlan<StowValue> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws
    -> StowValue
  {
    let reader = StowValueReader(session)
    do throws(FormatError) {
      guard let elements = place.elements else {
        var next = place.offset
        return try reader.read(at: &next)
      }
      guard let row = elements.layout.row(place.number), let columns = elements.layout.columns else {
        return StowValueReader.value(try elements.cell(place.number))
      }
      return try reader.row(at: row, of: columns)
    } catch {
      throw reader.failure(error, inValueAt: place.elements?.offset ?? place.offset, node)
    }
  }

  override func none(level: Int, _ session: DecodingSession) -> StowValue? {
    level == 0 ? .null : .nestedNull(level: level)
  }
}

/// Reads a value with all that is inside, straight from the bytes.
///
/// No array is made before its elements have been counted, so that few bytes cannot ask for much.
struct StowValueReader {
  private let session: DecodingSession
  private let message: Message
  private let reader: ByteReader

  init(_ session: DecodingSession) {
    self.session = session
    message = session.message
    reader = session.message.reader
  }

  /// Returns the error of a fault in the value at `offset`, with the path to the value inside that has the fault.
  @inline(never)
  func failure(_ error: FormatError, inValueAt offset: Int, _ node: PathNode) -> any Error {
    let inside = PathFinder(message: message).path(to: error.offset, from: offset)
    return session.error(error, path: session.codingPath(node) + inside, expected: StowValue.self)
  }

  /// Reads the value at `offset`, which becomes that after it.
  func read(at offset: inout Int) throws(FormatError) -> StowValue {
    let tag = try reader.byte(at: offset)
    switch tag {
    case Integers.small...Integers.lastSmall:
      offset &+= 1
      return .integer(Int128(Int64(tag) &- Int64(Integers.small) &- 16))
    case Strings.short...Strings.lastShort, Strings.long, Symbols.short...Symbols.lastShort, Symbols.long:
      return .string(try String.read(message, at: offset, next: &offset))
    case Records.short...UInt8.max, Maps.short...Maps.lastShort, Maps.long, Records.long, Records.longPartial:
      return .object(try object(at: &offset))
    case Arrays.short...Arrays.lastShort, Arrays.long:
      return .array(try array(at: &offset))
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
    case PackedArray.tag, PackedArray.floats: return .array(try packed(at: &offset))
    case Columns.table, Columns.matrix: return .array(try rows(at: &offset))
    case Integers.unsigned64...Integers.unsigned128: return try wideInteger(at: &offset)
    case Floats.float:
      let value = try Float.read(message, at: offset, next: &offset)
      return value.isNaN ? .float(value) : .double(Double(value))
    case Dates.tag, Dates.scaled: return .date(try Date.read(message, at: offset, next: &offset))
    case UUIDs.tag: return .uuid(try UUID.read(message, at: offset, next: &offset))
    case DataValues.tag: return .data(try Data.read(message, at: offset, next: &offset))
    case URLs.tag: return .url(try String.read(message, at: offset, next: &offset))
    case Decimals.positive, Decimals.negative:
      guard let parts = try Decimals.read(reader, at: offset, next: &offset) else {
        try fail(.malformed, at: offset)
      }
      return StowValue(parts)
    case _ where Floats.isFloat(tag): return .double(try Floats.read(reader, at: offset, next: &offset))
    default:
      _ = try reader.end(of: offset)
      try fail(.malformed, at: offset)
    }
  }

  private func wideInteger(at offset: inout Int) throws(FormatError) -> StowValue {
    guard let wide = try Integers.wide(reader, at: offset, next: &offset) else {
      try fail(.malformed, at: offset)
    }
    if wide.isNegative { return .integer(Int128(bitPattern: wide.bits)) }
    return Int128(exactly: wide.bits).map { .integer($0) } ?? .unsignedInteger(wide.bits)
  }

  // MARK: what nests

  /// Returns what `body` reads, of the container at `offset`, unless the stack has no room for it.
  private func nest<Result>(
    at offset: Int, _ body: () throws(FormatError) -> Result
  ) throws(FormatError) -> Result {
    if !session.calls.enter(maximumDepth: message.maximumDepth) {
      guard session.calls.enterDue(maximumDepth: message.maximumDepth) == nil else {
        try fail(.noRoom, at: offset)
      }
    }
    defer { session.calls.leave() }
    return try body()
  }

  /// Returns an array of `count` values, each of which `read` returns.
  @inline(__always)
  private func values(
    _ count: Int, _ read: (_ index: Int) throws(FormatError) -> StowValue
  ) throws(FormatError) -> [StowValue] {
    var result: [StowValue] = []
    result.reserveCapacity(count)
    for index in 0..<count { result.append(try read(index)) }
    return result
  }

  private func array(at offset: inout Int) throws(FormatError) -> [StowValue] {
    let elements = try Arrays.read(reader, at: offset)
    var next = elements.lowerBound
    let count = try Arrays.count(elements, reader)
    let result = try nest(at: offset) { () throws(FormatError) in
      try values(count) { _ throws(FormatError) in try read(at: &next) }
    }
    offset = elements.upperBound
    return result
  }

  private func object(at offset: inout Int) throws(FormatError) -> StowObject {
    guard let header = try ObjectHeader.read(reader, at: offset) else { try fail(.malformed, at: offset) }
    let start = offset
    offset = header.body.upperBound
    guard let shape = header.shape else {
      return try nest(at: start) { () throws(FormatError) in try map(header.body) }
    }
    guard shape < message.tables.shapeCount else { try fail(.malformed, at: start) }
    return try nest(at: start) { () throws(FormatError) in try record(header, shape, start) }
  }

  // MARK: maps

  private func map(_ body: Range<Int>) throws(FormatError) -> StowObject {
    if body.isEmpty { return StowObject() }
    let index = try TextIndex.checkingKeys(ofMap: body, message)
    let count = index?.count ?? message.keyCheck.count
    var keys: [String] = []
    keys.reserveCapacity(count)
    var next = body.lowerBound
    let values = try self.values(count) { _ throws(FormatError) in
      keys.append(try message.keyString(at: TextLocation(next)))
      next = try message.tables.endOfKey(reader, at: next)
      return try read(at: &next)
    }
    return StowObject(ObjectKeys(keys), values)
  }

  // MARK: records

  /// Records of fewer keys take so little memory that their values need not be counted first.
  private static let fewKeys = 32

  private func record(
    _ header: ObjectHeader, _ shape: Int, _ start: Int
  ) throws(FormatError) -> StowObject {
    let end = header.body.upperBound
    var next = header.body.lowerBound
    let names = try message.names(ofShape: shape)
    let keys: ObjectKeys
    if header.isPartial {
      next = try Records.endOfPresence(
        reader, in: header.body, keyCount: message.tables.keyCount(ofShape: shape))
      keys = self.keys(names, presence: header.body.lowerBound..<next)
    } else {
      keys = names.objectKeys
    }
    if keys.count > Self.fewKeys {
      guard try Arrays.count(next..<end, reader) == keys.count else { try fail(.malformed, at: start) }
    }
    let values = try self.values(keys.count) { _ throws(FormatError) in
      let place = next
      guard place < end else { try fail(.malformed, at: start) }
      let value = try read(at: &next)
      guard next <= end else { try fail(.malformed, at: place) }
      return value
    }
    guard next == end else { try fail(.malformed, at: start) }
    return StowObject(keys, values)
  }

  /// Returns the keys of a shape for which there is a value, by its presence bits.
  private func keys(_ names: ShapeNames, presence: Range<Int>) -> ObjectKeys {
    var bits: UInt64?
    if presence.count <= 8 {
      bits = reader.firstBytes(at: presence.lowerBound, upTo: presence.upperBound)
    }
    return names.objectKeys(presence: bits) { reader.bit($0, at: presence.lowerBound) }
  }

  // MARK: elements without tags

  static func value(_ cell: Cell) -> StowValue {
    switch cell {
    case .integer(let value): .integer(Int128(value))
    case .double(let value): .double(value)
    case .singleNaN(let value): .float(value)
    case .bool(let value): .bool(value)
    case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
    }
  }

  private func packed(at offset: inout Int) throws(FormatError) -> [StowValue] {
    let packed = try PackedArray(reader, at: offset)
    offset = packed.body.upperBound
    if packed.isInteger {
      let integers = try packed.integers(reader)
      return try values(packed.count) { index throws(FormatError) in .integer(Int128(integers[index])) }
    }
    return try values(packed.count) { index throws(FormatError) in
      Self.value(try packed.cell(reader, at: index))
    }
  }

  private func rows(at offset: inout Int) throws(FormatError) -> [StowValue] {
    let columns = try Columns(reader, tables: message.tables, at: offset)
    offset = columns.rows.upperBound
    return try values(columns.rowCount) { index throws(FormatError) in
      try row(at: columns.rows.lowerBound &+ index &* columns.stride, of: columns)
    }
  }

  func row(at row: Int, of columns: Columns) throws(FormatError) -> StowValue {
    let cells = try values(columns.columns.count) { index throws(FormatError) in
      let column = columns.columns[index]
      if var constant = column.constant { return try read(at: &constant) }
      return Self.value(
        try Cell.read(reader, at: row &+ Int(column.offset), type: column.type, base: column.base))
    }
    guard let shape = columns.shape else { return .array(cells) }
    return .object(StowObject(try message.names(ofShape: shape).objectKeys, cells))
  }
}
