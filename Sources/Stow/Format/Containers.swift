// Arrays, maps, records and rows, and the check of how deep they nest.

/// Arrays whose elements are whole values (FORMAT.md, "Arrays, maps, records").
enum Arrays {
  /// The length follows.
  static let long: UInt8 = 0x70
  /// An array of 0 to 15 bytes: `short + length`.
  static let short: UInt8 = 0xE0
  static let lastShort: UInt8 = 0xEF
  static let shortLimit = 16

  static func isArray(_ tag: UInt8) -> Bool { tag & 0xF0 == short || tag == long }

  /// Returns the bytes of the whole value, whose elements take `length`.
  static func size(_ length: Int) -> Int { 1 + (length < shortLimit ? 0 : Varint.size(length)) + length }

  /// Writes the header of an array, whose elements were written and take `length` bytes.
  static func writeHeader(_ length: Int, to writer: inout BackwardWriter) {
    writer.reserve(BackwardWriter.margin)
    writer.numbered(length, short: short, limit: shortLimit, long: long)
  }

  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Range<Int> {
    let tag = try reader.byte(at: offset)
    var start = offset &+ 1
    if tag & 0xF0 == short {
      let length = Int(tag & 15)
      try reader.require(length, at: start)
      return Range(uncheckedBounds: (start, start &+ length))
    }
    guard tag == long else { try fail(.mismatch, at: offset) }
    let length = try reader.length(at: &start)
    return Range(uncheckedBounds: (start, start &+ length))
  }

  /// Counts the elements, in one step for each, and calls `note` for each.
  static func count(_ elements: Range<Int>, _ reader: ByteReader, note: () -> Void = {}) throws(FormatError) -> Int {
    var count = 0
    var offset = elements.lowerBound
    while offset < elements.upperBound {
      let next = try reader.end(of: offset)
      guard next <= elements.upperBound else { try fail(.malformed, at: offset) }
      note()
      offset = next
      count &+= 1
    }
    return count
  }
}

/// Objects whose keys precede their values (FORMAT.md, "Arrays, maps, records").
enum Maps {
  /// The length follows.
  static let long: UInt8 = 0x71
  /// A map of 0 to 31 bytes: `short + length`.
  static let short: UInt8 = 0xC0
  static let lastShort: UInt8 = 0xDF
  static let shortLimit = 32

  /// Writes the header of a map, whose entries were written and take `length` bytes. Within a reserve.
  static func writeHeader(_ length: Int, to writer: inout BackwardWriter) {
    writer.numbered(length, short: short, limit: shortLimit, long: long)
  }
}

/// Objects whose keys are a shape of the prelude (FORMAT.md, "Arrays, maps, records").
///
///     F0–F7             length   value  value  …        one of the first 8 shapes: `short + shape`
///     72       shape    length   value  value  …
///     F8–FF             length   presence bits   value  value  …
///     73       shape    length   presence bits   value  value  …
enum Records {
  static let long: UInt8 = 0x72
  static let longPartial: UInt8 = 0x73
  static let short: UInt8 = 0xF0
  static let shortPartial: UInt8 = 0xF8
  static let shortLimit = 8

  /// Writes the header of a record, whose body was written and takes `length` bytes. Within a reserve.
  static func writeHeader(_ length: Int, shape: Int, isPartial: Bool, to writer: inout BackwardWriter) {
    writer.varint(length)
    writer.numbered(
      shape, short: isPartial ? shortPartial : short, limit: shortLimit, long: isPartial ? longPartial : long)
  }

  /// Returns how many bytes the presence bits take, one for each key of a shape.
  static func presenceSize(_ keyCount: Int) -> Int { (keyCount + 7) / 8 }

  /// Returns the offset after the presence bits at the front of a body. Bits without a key must be zero.
  static func endOfPresence(_ reader: ByteReader, in body: Range<Int>, keyCount: Int) throws(FormatError) -> Int {
    let size = presenceSize(keyCount)
    guard size <= body.count else { try fail(.malformed, at: body.lowerBound) }
    let end = body.lowerBound + size
    let used = keyCount & 7
    guard used == 0 || reader.base[end - 1] >> UInt8(used) == 0 else { try fail(.malformed, at: end - 1) }
    return end
  }
}

/// The header of a map or a record.
struct ObjectHeader {
  /// Nil for a map, whose keys precede its values.
  let shape: Int?
  /// Whether the body begins with a bit for every key of the shape.
  let isPartial: Bool
  let body: Range<Int>

  /// Reads the header of the object at `offset`; nil if another kind of value is there.
  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> ObjectHeader? {
    let tag = try reader.byte(at: offset)
    guard tag >= Records.short else { return try readRare(reader, at: offset, tag: tag) }
    var next = offset &+ 1
    let length = try reader.length(at: &next)
    return ObjectHeader(
      shape: Int(tag & 7), isPartial: tag >= Records.shortPartial,
      body: Range(uncheckedBounds: (next, next &+ length)))
  }

  @inline(never)
  private static func readRare(_ reader: ByteReader, at offset: Int, tag: UInt8) throws(FormatError) -> ObjectHeader? {
    var start = offset + 1
    switch tag {
    case Maps.short...Maps.lastShort:
      let length = Int(tag - Maps.short)
      try reader.require(length, at: start)
      return ObjectHeader(shape: nil, isPartial: false, body: start..<start + length)
    case Maps.long, Records.long, Records.longPartial:
      let shape = tag == Maps.long ? nil : try reader.varint(at: &start)
      let length = try reader.length(at: &start)
      return ObjectHeader(shape: shape, isPartial: tag == Records.longPartial, body: start..<start + length)
    default: return nil
    }
  }
}

/// Rows of constant stride, without tags: tables and matrices (FORMAT.md, "Tables and matrices").
struct Columns {
  /// Rows that are objects of a shape.
  static let table: UInt8 = 0x7A
  /// Rows that are arrays.
  static let matrix: UInt8 = 0x7B

  static func isColumns(_ tag: UInt8) -> Bool { tag == table || tag == matrix }

  struct Column {
    let type: UInt8
    /// The offset of the cell in a row.
    var offset: Int32 = 0
    /// The integer that cells are counted from; for a constant column, where its value is.
    var base: Int64 = 0

    /// Where the one value of a constant column is; nil for other columns.
    var constant: Int? { type == ElementType.constant ? Int(base) : nil }
  }

  /// Returns whether rows may have this many constant columns. More would let few bytes stand for many cells.
  static func allows(constants: Int, stride: Int) -> Bool { stride > 0 && constants <= stride }

  /// The shape of a table's rows; nil in a matrix.
  let shape: Int?
  let columns: [Column]
  let stride: Int
  let rows: Range<Int>

  var rowCount: Int { rows.count / stride }

  /// Reads the description of the table or matrix at `offset`, and checks that its rows are whole.
  init(_ reader: ByteReader, tables: borrowing MessageTables, at offset: Int) throws(FormatError) {
    let isTable = try reader.byte(at: offset) == Self.table
    var next = offset + 1
    let length = try reader.length(at: &next)
    let end = next + length
    let first = try reader.varint(at: &next)
    guard !isTable || first < tables.shapeCount else { try fail(.malformed, at: offset) }
    shape = isTable ? first : nil
    let count = isTable ? tables.keyCount(ofShape: first) : first
    guard count > 0, next <= end, count <= end - next else { try fail(.malformed, at: offset) }
    var columns: [Column] = []
    columns.reserveCapacity(count)
    var (stride, constants) = (0, 0)
    for index in next..<next + count {
      let type = reader.base[index]
      guard let size = ElementType.stride(of: type) else { try fail(.malformed, at: index) }
      columns.append(Column(type: type, offset: Int32(truncatingIfNeeded: stride)))
      stride += size
    }
    next += count
    for index in columns.indices {
      if columns[index].type == ElementType.constant {
        constants += 1
        columns[index].base = Int64(next)
        next = try Self.endOfConstant(reader, at: next)
      } else if ElementType.isOffset(columns[index].type) {
        columns[index].base = try Integers.base(reader, at: &next)
      }
    }
    guard Self.allows(constants: constants, stride: stride), stride <= Int(Int32.max), next < end,
      (end - next) % stride == 0
    else {
      try fail(.malformed, at: offset)
    }
    self.columns = columns
    self.stride = stride
    rows = next..<end
  }

  /// Returns the offset after the value of a constant column, which must be small: it stands for one in each row.
  private static func endOfConstant(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Int {
    // Strings are allowed only if they take no memory of their own.
    switch try reader.byte(at: offset) {
    case ..<DataValues.tag, Symbols.long, Floats.shortDecimal...Strings.short + 15,
      Symbols.short...Symbols.lastShort, Nils.nested...Integers.lastSmall, Maps.short, Arrays.short:
      return try reader.end(of: offset)
    default: try fail(.malformed, at: offset)
    }
  }
}

/// Bounds the nesting of a value before any of it is decoded, including values that will be skipped.
///
/// Each level of nesting takes at least a byte, so a container with fewer bytes than levels left need not be
/// looked into: only long containers are walked, from element to element, without recursion.
enum DepthCheck {
  private typealias Level = (end: Int, hasKeys: Bool)

  /// Checks that the value at `offset` nests at most `limit` containers.
  static func run(_ reader: ByteReader, tables: borrowing MessageTables, from offset: Int, limit: Int)
    throws(FormatError)
  {
    var offset = offset
    var level: Level = (try reader.end(of: offset), false)
    if level.end - offset <= limit { return }
    var outer: [Level] = []
    while true {
      if offset == level.end {
        guard let next = outer.popLast() else { return }
        level = next
        continue
      }
      if level.hasKeys { offset = try tables.endOfKey(reader, at: offset) }
      let next = try reader.end(of: offset)
      guard next <= level.end else { try fail(.malformed, at: offset) }
      // What is too small to nest deeper than the levels that are left is skipped.
      let left = limit - outer.count
      if next - offset > left, let inner = try content(at: offset, reader, tables, end: next) {
        guard left > 0 else { try fail(.tooDeep, at: offset) }
        if next - inner.start >= left {
          outer.append(level)
          level = (next, inner.hasKeys)
          offset = inner.start
          continue
        }
      }
      offset = next
    }
  }

  /// Returns where the elements of the container at `offset` begin; nil for a value that holds no others.
  private static func content(
    at offset: Int, _ reader: ByteReader, _ tables: borrowing MessageTables, end: Int
  ) throws(FormatError) -> (start: Int, hasKeys: Bool)? {
    let tag = reader.base[offset]
    if Arrays.isArray(tag) { return (try Arrays.read(reader, at: offset).lowerBound, false) }
    guard let object = try ObjectHeader.read(reader, at: offset) else { return nil }
    guard let shape = object.shape, object.isPartial else { return (object.body.lowerBound, object.shape == nil) }
    guard shape < tables.shapeCount else { try fail(.malformed, at: offset) }
    let start = object.body.lowerBound + Records.presenceSize(tables.keyCount(ofShape: shape))
    guard start <= end else { try fail(.malformed, at: offset) }
    return (start, false)
  }
}
