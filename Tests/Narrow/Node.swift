/// A value as it stands in a message: with what is needed to write it again in the same form.
indirect enum Node {
  case null(level: Int)
  case bool(Bool)
  case integer(Int64)
  case wideInteger(DecimalParts)
  case double(UInt64)
  /// A NaN of 4 bytes.
  case floatNaN(UInt32)
  case string(String)
  case symbol(Int, String)
  case data([UInt8])
  case date(UInt64)
  case uuid(UInt128)
  case url(Node)
  case decimal(DecimalParts)
  case array([Node])
  /// Numbers or Bools without tags.
  case packed([Node])
  case rows(Rows)
  case map([(key: Key, value: Node)])
  /// The keys of the shape, each with its value; nil for those that are absent.
  case record(shape: Int, isPartial: Bool, [(name: String, value: Node?)])

  struct Key {
    let name: String
    /// The symbol that it refers to.
    let symbol: Int?
  }

  struct Rows {
    /// The shape of a table, and its keys; nil in a matrix.
    let shape: (number: Int, names: [String])?
    /// The types of the columns.
    let types: [UInt8]
    let cells: [[Node]]
  }
}

/// A message, and what it relies on.
struct MessageNodes {
  /// What stands before the prelude.
  private(set) var head: [UInt8] = []
  private(set) var symbols: [String] = []
  private(set) var shapes: [[Node.Key]] = []
  /// Whether there is a prelude.
  private(set) var hasPrelude = false
  let value: Node

  /// Reads a message, and all that is in it.
  ///
  /// - Parameters:
  ///   - context: The message of the context that both sides hold.
  ///   - isImplicit: Whether messages do not name it.
  init(_ message: UnsafeRawBufferPointer, context: [UInt8]?, isImplicit: Bool) throws(FormatError) {
    let reader = ByteReader(message)
    var tables = MessageTables()
    let contexts = try context.map { context throws(FormatError) in
      try Self.contexts(context, isImplicit: isImplicit)
    }
    var start = 0
    let relied = try contexts?.context(of: reader, &start)
    head = [UInt8](message.prefix(start))
    if let relied { tables.rely(on: relied, relied.state.tables.extent) }
    // Adding definitions checks them; reading them does not check that the keys of a shape are distinct.
    let definitions = try DecodingDefinitions(extending: relied)
    let body = try tables.read(reader, at: start)
    if body > start {
      hasPrelude = true
      _ = try definitions.add(reader, at: start)
    }
    guard try reader.end(of: body) == reader.count else { try fail(.malformed, at: body) }
    try DepthCheck.run(reader, tables: tables, from: body, limit: 512)
    var walk = NodeReader(reader: reader)
    for symbol in tables.firstSymbol..<tables.symbolCount {
      symbols.append(try tables.text(reader, at: tables.symbol(symbol)).string())
    }
    for shape in tables.firstShape..<tables.shapeCount { shapes.append(try walk.keys(ofShape: shape, tables)) }
    value = try walk.value(tables, upTo: reader.count, from: body)
    // Whoever relies on them later still has them.
    withExtendedLifetime(relied) {}
  }

  private static func contexts(_ context: [UInt8], isImplicit: Bool) throws(FormatError) -> DecodingContexts {
    try context.withUnsafeBufferPointer { bytes throws(FormatError) in
      _ = try ContextMessage.read(ByteReader(UnsafeRawBufferPointer(bytes)))
    }
    let definitions = DecodingDefinitions(ofContext: context)
    let id = context.withUnsafeBytes { Checksum.of($0) }
    return DecodingContexts(named: [id: definitions], implicit: isImplicit ? definitions : nil)
  }
}

/// Reads values, one after the other.
struct NodeReader {
  let reader: ByteReader
  private var offset = 0

  init(reader: ByteReader) { self.reader = reader }

  /// The value at a place that ends before `end`.
  mutating func value(_ tables: borrowing MessageTables, upTo end: Int, from start: Int) throws(FormatError) -> Node {
    offset = start
    let result = try value(tables)
    guard offset <= end else { try fail(.malformed, at: start) }
    return result
  }

  private mutating func value(_ tables: borrowing MessageTables) throws(FormatError) -> Node {
    let tag = try reader.byte(at: offset)
    let start = offset
    let end = try reader.end(of: start)
    defer { offset = end }
    var next = start
    if Nils.isNil(reader, at: start) { return .null(level: Nils.level(reader, at: start)) }
    if tag == Bools.true || tag == Bools.false { return .bool(try Bools.read(reader, at: start)) }
    if let parts = try Decimals.readWide(reader, at: start, next: &next) {
      return tag < Decimals.positive ? .wideInteger(parts) : .decimal(parts)
    }
    if Tag.kind(of: tag) == .integer { return .integer(try Integers.read(reader, at: start, next: &next)) }
    if tag == Floats.float {
      let bits = try reader.halfWord(at: start + 1)
      if Float(bitPattern: bits).isNaN { return .floatNaN(bits) }
    }
    if Floats.isFloat(tag) { return .double(try Floats.read(reader, at: start, next: &next).bitPattern) }
    if let seconds = try Dates.read(reader, at: start, next: &next) { return .date(seconds.bitPattern) }
    if let bits = try UUIDs.read(reader, at: start, next: &next) { return .uuid(bits) }
    if tag == DataValues.tag {
      let range = try DataValues.read(reader, at: start)
      return .data([UInt8](reader.buffer(at: range.lowerBound, count: range.count)))
    }
    if tag == URLs.tag {
      offset = start + 1
      return .url(try value(tables))
    }
    if let string = try Strings.readShort(reader, at: start, next: &next) { return .string(string) }
    if let string = try Strings.readLong(reader, at: start, next: &next) { return .string(string) }
    if let symbol = try Symbols.read(reader, at: start, next: &next) {
      guard symbol < tables.symbolCount else { try fail(.malformed, at: start) }
      return .symbol(symbol, try tables.text(reader, at: tables.symbol(symbol)).string())
    }
    if Arrays.isArray(tag) { return .array(try values(tables, in: try Arrays.read(reader, at: start))) }
    if PackedArray.isPacked(tag) { return .packed(try elements(PackedArray(reader, at: start))) }
    if Columns.isColumns(tag) { return .rows(try rows(Columns(reader, tables: tables, at: start), tables)) }
    guard let object = try ObjectHeader.read(reader, at: start) else { try fail(.reserved, at: start) }
    return try self.object(object, tables)
  }

  private mutating func values(_ tables: borrowing MessageTables, in range: Range<Int>) throws(FormatError) -> [Node] {
    var values: [Node] = []
    offset = range.lowerBound
    while offset < range.upperBound { values.append(try value(tables, upTo: range.upperBound, from: offset)) }
    return values
  }

  // MARK: without tags

  private func elements(_ array: PackedArray) throws(FormatError) -> [Node] {
    if array.isInteger { return try array.integers(reader).map { .integer($0) } }
    var elements: [Node] = []
    for index in 0..<array.count { elements.append(Node(try array.cell(reader, at: index))) }
    return elements
  }

  private mutating func rows(_ columns: Columns, _ tables: borrowing MessageTables) throws(FormatError) -> Node.Rows {
    var constants: [Node?] = []
    for column in columns.columns {
      guard let place = column.constant else {
        constants.append(nil)
        continue
      }
      constants.append(try value(tables, upTo: columns.rows.lowerBound, from: place))
    }
    var cells: [[Node]] = []
    for row in 0..<columns.rowCount {
      var nodes: [Node] = []
      for (column, constant) in zip(columns.columns, constants) {
        let place = columns.rows.lowerBound + row * columns.stride + Int(column.offset)
        if let constant {
          nodes.append(constant)
        } else {
          nodes.append(Node(try Cell.read(reader, at: place, type: column.type, base: column.base)))
        }
      }
      cells.append(nodes)
    }
    var shape: (Int, [String])?
    if let number = columns.shape { shape = (number, try keys(ofShape: number, tables).map { $0.name }) }
    return Node.Rows(shape: shape, types: columns.columns.map { $0.type }, cells: cells)
  }

  // MARK: objects

  func keys(ofShape shape: Int, _ tables: borrowing MessageTables) throws(FormatError) -> [Node.Key] {
    var keys: [Node.Key] = []
    for slot in 0..<tables.keyCount(ofShape: shape) {
      keys.append(try key(at: tables.key(slot, ofShape: shape), tables))
    }
    return keys
  }

  private func key(at place: TextLocation, _ tables: borrowing MessageTables) throws(FormatError) -> Node.Key {
    Node.Key(name: try tables.text(reader, ofKeyAt: place).string(), symbol: try tables.symbol(reader, ofKeyAt: place))
  }

  private mutating func object(_ object: ObjectHeader, _ tables: borrowing MessageTables) throws(FormatError) -> Node {
    guard let shape = object.shape else { return .map(try entries(tables, in: object.body)) }
    guard shape < tables.shapeCount else { try fail(.malformed, at: object.body.lowerBound) }
    let keys = try keys(ofShape: shape, tables)
    var start = object.body.lowerBound
    if object.isPartial { start = try Records.endOfPresence(reader, in: object.body, keyCount: keys.count) }
    offset = start
    var entries: [(name: String, value: Node?)] = []
    for (slot, key) in keys.enumerated() {
      if object.isPartial, !reader.bit(slot, at: object.body.lowerBound) {
        entries.append((key.name, nil))
      } else {
        guard offset < object.body.upperBound else { try fail(.malformed, at: offset) }
        entries.append((key.name, try value(tables, upTo: object.body.upperBound, from: offset)))
      }
    }
    guard offset == object.body.upperBound else { try fail(.malformed, at: offset) }
    return .record(shape: shape, isPartial: object.isPartial, entries)
  }

  private mutating func entries(
    _ tables: borrowing MessageTables, in range: Range<Int>
  ) throws(FormatError) -> [(key: Node.Key, value: Node)] {
    var entries: [(key: Node.Key, value: Node)] = []
    var names = Set<ExactString>()
    offset = range.lowerBound
    while offset < range.upperBound {
      let start = offset
      let key = try key(at: TextLocation(start), tables)
      guard names.insert(ExactString(key.name)).inserted else { try fail(.repeatedKey, at: start) }
      offset = try tables.endOfKey(reader, at: start)
      guard offset < range.upperBound else { try fail(.malformed, at: start) }
      entries.append((key, try value(tables, upTo: range.upperBound, from: offset)))
    }
    return entries
  }
}

extension Node {
  init(_ cell: Cell) {
    switch cell {
    case .integer(let value): self = .integer(value)
    case .double(let value): self = .double(value.bitPattern)
    case .singleNaN(let value): self = .floatNaN(value.bitPattern)
    case .bool(let value): self = .bool(value)
    case .date(let seconds): self = .date(seconds.bitPattern)
    }
  }
}
