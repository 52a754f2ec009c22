/// Writes a message again, every value in the form that it had, by the writers of the library.
struct NodeWriter: ~Copyable {
  private var writer = BackwardWriter(capacity: 1024)

  /// The bytes of a message.
  static func bytes(of message: MessageNodes) -> [UInt8] {
    var nodes = NodeWriter()
    nodes.write(message.value)
    if message.hasPrelude { nodes.writePrelude(message) }
    nodes.writer.reserve(BackwardWriter.margin)
    for byte in message.head.reversed() { nodes.writer.byte(byte) }
    return [UInt8](nodes.writer.written)
  }

  private mutating func writePrelude(_ message: MessageNodes) {
    for shape in message.shapes.reversed() {
      for key in shape.reversed() { write(key) }
      writeCount(shape.count)
    }
    writeCount(message.shapes.count)
    for symbol in message.symbols.reversed() { write(text: symbol) }
    writeCount(message.symbols.count)
    writer.byte(MessageTables.tag)
  }

  private mutating func writeCount(_ count: Int) {
    writer.reserve(BackwardWriter.margin)
    writer.varint(count)
  }

  private mutating func write(text: String) {
    Array(text.utf8).withUnsafeBytes { writer.text($0) }
    writer.reserve(BackwardWriter.margin)
  }

  private mutating func write(_ key: Node.Key) {
    writer.reserve(BackwardWriter.margin)
    if let symbol = key.symbol { writer.text(symbol: symbol) } else { write(text: key.name) }
  }

  private mutating func write(_ node: Node) {
    writer.reserve(BackwardWriter.margin)
    switch node {
    case .null(0): writer.byte(Nils.tag)
    case .null(let level): Nils.write(level: level, to: &writer)
    case .bool(let value): writer.byte(value ? Bools.true : Bools.false)
    case .integer(let value): Integers.write(value, to: &writer)
    case .wideInteger(let parts): write(integer: parts)
    case .double(let bits): Floats.write(bits, to: &writer)
    case .floatNaN(let bits): Floats.write(float: UInt64(bits), to: &writer)
    case .string(let string):
      Array(string.utf8).withUnsafeBytes { writer.bytes($0) }
      Strings.writeHeader(string.utf8.count, to: &writer)
    case .symbol(let number, _): Symbols.write(number, to: &writer)
    case .data(let data): data.withUnsafeBytes { DataValues.write($0, to: &writer) }
    case .date(let bits): Dates.write(bits, to: &writer)
    case .uuid(let bits): UUIDs.form(bits).write(to: &writer)
    case .url(let text):
      write(text)
      writer.byte(URLs.tag)
    case .decimal(let parts): Decimals.form(parts).write(to: &writer)
    case .array(let elements): write(elements)
    case .packed(let elements): write(packed: elements)
    case .rows(let rows): write(rows)
    case .map(let entries):
      let end = writer.count
      for entry in entries.reversed() {
        write(entry.value)
        write(entry.key)
      }
      writer.reserve(BackwardWriter.margin)
      Maps.writeHeader(writer.count - end, to: &writer)
    case .record(let shape, let isPartial, let entries):
      let end = writer.count
      for entry in entries.reversed() { if let value = entry.value { write(value) } }
      if isPartial { writer.bits(entries.count) { entries[$0].value != nil } }
      writer.reserve(BackwardWriter.margin)
      Records.writeHeader(writer.count - end, shape: shape, isPartial: isPartial, to: &writer)
    }
  }

  private mutating func write(integer parts: DecimalParts) {
    let bits = parts.isNegative ? 0 &- parts.magnitude : parts.magnitude
    if !parts.isNegative, let bits = UInt64(exactly: bits) {
      if let small = Int64(exactly: bits) { return Integers.write(small, to: &writer) }
      return Integers.write(beyondSigned: bits, to: &writer)
    }
    let isSigned = parts.isNegative || bits >> 127 == 0
    if isSigned, let small = Int64(exactly: Int128(bitPattern: bits)) { return Integers.write(small, to: &writer) }
    Integers.form(bits: bits, isSigned: isSigned).write(to: &writer)
  }

  private mutating func write(_ elements: [Node]) {
    let end = writer.count
    for element in elements.reversed() { write(element) }
    Arrays.writeHeader(writer.count - end, to: &writer)
  }

  // MARK: without tags

  private mutating func write(packed elements: [Node]) {
    // The writers know arrays of two elements and more, and no NaN of 4 bytes in them.
    guard elements.count > 1, !elements.contains(where: { $0.isFloatNaN }) else { return write(elements) }
    let end = writer.count
    let type: UInt8
    if case .bool = elements[0] {
      writer.bits(elements.count) { index in if case .bool(true) = elements[index] { true } else { false } }
      writer.byte(UInt8((8 - elements.count & 7) & 7))
      type = ElementType.bits
    } else {
      let column = NumberColumn(elements)
      if column.areIntegers {
        type = column.words.withUnsafeBufferPointer { words in
          words.withMemoryRebound(to: Int64.self) { values in
            let best = PackedIntegers.best(for: values).packed
            best.write(values, to: &writer)
            return best.type
          }
        }
      } else {
        guard
          let written = column.withDoubles({ best, values, cells in
            best.write(values, cells, to: &writer)
            return best.type
          })
        else { return write(elements) }
        type = written
      }
    }
    writer.reserve(BackwardWriter.margin)
    if type != ElementType.float { writer.byte(type) }
    writer.varint(writer.count - end)
    writer.byte(type == ElementType.float ? PackedArray.floats : PackedArray.tag)
  }

  /// Writes a table or a matrix, with the constants that it had, and all other columns as the library chooses.
  private mutating func write(_ rows: Node.Rows) {
    let columns = rows.types.indices.map { column in
      WrittenColumn(rows.cells.map { $0[column] }, isConstant: rows.types[column] == ElementType.constant)
    }
    let end = writer.count
    for row in rows.cells.indices.reversed() {
      for column in columns.reversed() where column.width > 0 {
        writer.reserve(BackwardWriter.margin)
        writer.littleEndian(column.cells[row], width: column.width)
      }
    }
    for column in columns.reversed() {
      writer.reserve(BackwardWriter.margin)
      if let base = column.base { Integers.write(base, to: &writer) }
      if let constant = column.constant { write(constant) }
    }
    for column in columns.reversed() {
      writer.reserve(BackwardWriter.margin)
      writer.byte(column.type)
    }
    writer.reserve(BackwardWriter.margin)
    writer.varint(rows.shape?.number ?? columns.count)
    writer.varint(writer.count - end)
    writer.byte(rows.shape == nil ? Columns.matrix : Columns.table)
  }
}

extension Node {
  fileprivate var isFloatNaN: Bool { if case .floatNaN = self { true } else { false } }
}

/// Numbers as words, of which some may be integers.
private struct NumberColumn {
  private(set) var words: [UInt64] = []
  private var marks: [Bool] = []

  init(_ elements: [Node]) {
    for element in elements {
      switch element {
      case .integer(let value): append(UInt64(bitPattern: value), isInteger: true)
      case .double(let bits): append(bits, isInteger: false)
      default: preconditionFailure("no number")
      }
    }
  }

  private mutating func append(_ word: UInt64, isInteger: Bool) {
    words.append(word)
    marks.append(isInteger)
  }

  var areIntegers: Bool { marks.allSatisfy { $0 } }

  /// Lends `body` the form of the numbers, if they have one in common.
  func withDoubles<Result>(
    _ body: (PackedDoubles, UnsafeBufferPointer<UInt64>, UnsafeMutableBufferPointer<DecimalCell>) -> Result
  ) -> Result? {
    let cells = UnsafeMutableBufferPointer<DecimalCell>.allocate(capacity: words.count)
    defer { cells.deallocate() }
    return words.withUnsafeBufferPointer { words in
      marks.withUnsafeBufferPointer { marks in
        let integers = marks.contains(true) ? marks : nil
        return PackedDoubles.best(for: words, integers: integers, cells: cells).map { body($0, words, cells) }
      }
    }
  }
}

private struct WrittenColumn {
  var type = ElementType.constant
  var width = 0
  var base: Int64?
  var constant: Node?
  var cells: [UInt64] = []

  init(_ nodes: [Node], isConstant: Bool) {
    switch nodes[0] {
    case _ where isConstant: constant = nodes[0]
    case .bool:
      (type, width) = (ElementType.bool, 1)
      cells = nodes.map { node in if case .bool(true) = node { 1 } else { 0 } }
    case .date:
      (type, width) = (ElementType.date, 8)
      cells = nodes.map { node in if case .date(let bits) = node { bits } else { 0 } }
    case _ where nodes.contains(where: { $0.isFloatNaN }):
      (type, width) = (ElementType.float, 4)
      cells = nodes.map { node in
        switch node {
        case .floatNaN(let bits): UInt64(bits)
        case .double(let bits): UInt64(Float(Double(bitPattern: bits)).bitPattern)
        default: preconditionFailure("no float of 4 bytes")
        }
      }
    default:
      let column = NumberColumn(nodes)
      if column.areIntegers { fill(integers: column.words) } else { fill(column) }
    }
  }

  private mutating func fill(integers words: [UInt64]) {
    let fixed = words.withUnsafeBufferPointer { words in
      words.withMemoryRebound(to: Int64.self) { FixedIntegers($0) }
    }
    (type, width, base) = (fixed.type, fixed.width, fixed.base)
    cells = words.map { $0 &- UInt64(bitPattern: fixed.base ?? 0) }
  }

  private mutating func fill(_ column: NumberColumn) {
    column.withDoubles { best, values, decimals in
      (type, width) = (best.type, best.stride)
      cells = values.indices.map { best.element(values[$0], decimals[$0]) }
    }
  }
}
