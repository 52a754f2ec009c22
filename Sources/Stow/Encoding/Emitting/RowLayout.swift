/// An array on the tape whose elements are rows: objects of one shape, or arrays of one length, of cells
/// that have a fixed width or are the same in every row.
struct RowLayout {
  /// The shape of the rows; nil if they are arrays.
  let shape: Int?
  let count: Int
  let columnCount: Int
  /// The fewest bytes that a row takes besides its cells, if it is written by itself.
  var headerSize: Int { shape == nil ? 1 : 2 }
  private let first: Int
  private let tokensPerRow: Int

  /// The most columns of rows that are arrays; longer rows do as well by themselves.
  static let widestMatrix = 16

  /// One column: how its cells are laid out, and what they would take with their tags.
  struct Column {
    var type: UInt8 = 0
    var width = 0
    var taggedSize = 0
    /// The integer that cells are counted from.
    var base: Int64?
    /// The token whose value all cells have.
    var constant: Int?
    /// The bytes that precede the rows on its behalf, besides the type.
    var parameterSize = 0
  }

  /// Makes the layout of `count` rows from a token on; nil if they are not alike, judging by the first.
  init?(
    _ tape: TapeView, _ first: Int, _ count: Int, _ message: borrowing RecordedMessage,
    _ plan: borrowing MessagePlan
  ) {
    let head = tape.container(tape[first])
    (self.first, self.count, columnCount) = (first, count, Int(head.count))
    tokensPerRow = columnCount + 1
    // An object of a shape has a value for each of its keys.
    var isFull = true
    switch tape[first].kind {
    case .object:
      let keys = message.keyTables[Int(head.keys)]
      shape = keys.pointee.shape
      isFull = columnCount == keys.pointee.present.count
    case .map: shape = plan.shape(ofMap: head)
    default:
      shape = nil
      isFull = columnCount <= Self.widestMatrix
    }
    guard columnCount > 0, isFull, shape != -1 else { return nil }
    for cell in first + 1...first + columnCount where !Self.isCell(tape, tape[cell]) { return nil }
  }

  /// Returns whether rows have such cells: scalars of some kinds, and empty containers.
  private static func isCell(_ tape: TapeView, _ token: Token) -> Bool {
    switch token.kind {
    case .integer, .longInteger, .double, .true, .false, .date, .null, .string, .place: true
    case .array, .map, .object: tape.container(token).count == 0
    default: false
    }
  }

  /// Fills the cells of `room` column by column and decides their types. Returns nil if the elements are not
  /// alike after all.
  func gather(_ tape: TapeView, _ room: ColumnScratch.Room) -> [Column]? {
    guard areAlike(tape) else { return nil }
    var columns: [Column] = []
    columns.reserveCapacity(columnCount)
    for column in 0..<columnCount {
      let part = UnsafeMutableBufferPointer(rebasing: room.cells[column * count..<(column + 1) * count])
      guard let column = gather(from: first + 1 + column, tape, part, room) else { return nil }
      columns.append(column)
    }
    return columns
  }

  /// Returns whether all rows have the same keys, as many cells, and one token for each cell. The cells of objects are
  /// in the order of slots, so that each column has one key.
  private func areAlike(_ tape: TapeView) -> Bool {
    let (kind, head) = (tape[first].kind, tape.container(tape[first]))
    var (index, previous) = (first, first - 1)
    for _ in 0..<count {
      guard index < tape.tokens.count else { return false }
      let token = tape[index]
      guard token.kind == kind, token.previous == previous else { return false }
      let row = tape.container(token)
      guard row.keys == head.keys, row.count == head.count else { return false }
      previous = index
      index += tokensPerRow
    }
    return true
  }

  /// - Parameter top: The cell of the first row.
  private func gather(
    from top: Int, _ tape: TapeView, _ cells: UnsafeMutableBufferPointer<UInt64>, _ room: ColumnScratch.Room
  ) -> Column? {
    let marks = room.marks
    var kinds: UInt32 = 0
    var position = top
    if tape[top].kind == .double, let isConstant = gatherDoubles(from: top, tape, cells) {
      return isConstant
        ? constant(top, .double, cells[0]) : doubles(cells, integers: nil, room.decimals)
    }
    var isConstant = true
    for row in 0..<count {
      let token = tape[position]
      let number = tape.number(token)
      kinds |= Self.bit(token.kind)
      cells[row] = number
      isConstant = isConstant && token.kind == tape[top].kind && (number == cells[0] || token.isEmptyValue)
      guard tape.isSingle(token) else { return nil }
      marks[row] = token.isInteger || token.kind == .true
      position &+= tokensPerRow
    }
    if isConstant { return constant(top, tape[top].kind, cells[0]) }
    if kinds & Self.bit(.longInteger) != 0 { kinds = kinds & ~Self.bit(.longInteger) | Self.bit(.integer) }
    switch kinds {
    case Self.bit(.integer): return integers(cells)
    case Self.bit(.double): return doubles(cells, integers: nil, room.decimals)
    case Self.bit(.double) | Self.bit(.integer):
      return doubles(cells, integers: UnsafeBufferPointer(rebasing: marks[..<count]), room.decimals)
    case Self.bit(.true) | Self.bit(.false):
      for row in 0..<count { cells[row] = marks[row] ? 1 : 0 }
      return Column(type: ElementType.bool, width: 1, taggedSize: count)
    case Self.bit(.date):
      let tagged = cells.prefix(Emitter.sampleSize).reduce(0) { $0 + Dates.size($1) }
      return Column(
        type: ElementType.date, width: 8,
        taggedSize: Emitter.estimate(tagged, of: min(count, Emitter.sampleSize), for: count))
    default: return nil
    }
  }

  /// Fills the cells of a column of floating-point numbers, and returns whether all are the same; nil if one
  /// of its tokens is of another kind.
  private func gatherDoubles(
    from top: Int, _ tape: TapeView, _ cells: UnsafeMutableBufferPointer<UInt64>
  ) -> Bool? {
    let first = tape.number(tape[top])
    var differences: UInt64 = 0
    var position = top
    for row in 0..<count {
      let token = tape[position]
      guard token.kind == .double else { return nil }
      let number = tape.word(token)
      cells[row] = number
      differences |= number ^ first
      position &+= tokensPerRow
    }
    return differences == 0
  }

  private func constant(_ token: Int, _ kind: Token.Kind, _ number: UInt64) -> Column {
    // The size of the value each time: exact for numbers, one byte for everything else.
    let size =
      switch kind {
      case .integer, .longInteger: Integers.size(Int64(bitPattern: number))
      case .double: DoubleForm(number).size
      case .date: Dates.size(number)
      default: 1
      }
    return Column(
      type: ElementType.constant, width: 0, taggedSize: size * count, constant: token, parameterSize: size)
  }

  private static func bit(_ kind: Token.Kind) -> UInt32 { 1 << UInt32(kind.rawValue) }

  private func integers(_ cells: UnsafeMutableBufferPointer<UInt64>) -> Column {
    cells.withMemoryRebound(to: Int64.self) { values in
      let fixed = FixedIntegers(UnsafeBufferPointer(values))
      let tagged = values.reduce(0) { $0 &+ Integers.size($1) }
      if let base = fixed.base { for row in 0..<count { values[row] &-= base } }
      return Column(
        type: fixed.type, width: fixed.width, taggedSize: tagged, base: fixed.base,
        parameterSize: fixed.baseSize)
    }
  }

  private func doubles(
    _ cells: UnsafeMutableBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>?,
    _ decimals: UnsafeMutableBufferPointer<DecimalCell>
  ) -> Column? {
    let numbers = UnsafeBufferPointer(cells)
    guard let best = PackedDoubles.best(for: numbers, integers: integers, cells: decimals) else { return nil }
    let tagged = Emitter.taggedSize(of: numbers, integers, best, decimals)
    if best.type != ElementType.double {
      for row in 0..<count { cells[row] = best.element(cells[row], decimals[row]) }
    }
    return Column(type: best.type, width: best.stride, taggedSize: tagged)
  }
}

extension Emitter {
  /// Writes rows as a table or a matrix, if that takes fewer bytes than writing each with its header.
  mutating func writeRows(
    _ rows: RowLayout, _ tape: TapeView, _ message: inout RecordedMessage
  ) -> Bool {
    let room = scratch.makeRoom(rows.count * rows.columnCount)
    defer { scratch.removeAll() }
    guard let columns = rows.gather(tape, room) else { return false }
    let stride = columns.reduce(0) { $0 + $1.width }
    let tagged = columns.reduce(rows.count * rows.headerSize) { $0 + $1.taggedSize }
    let parameters = columns.reduce(columns.count + 1) { $0 + $1.parameterSize }
    let constants = columns.reduce(0) { $0 + ($1.constant == nil ? 0 : 1) }
    guard Columns.allows(constants: constants, stride: stride), rows.count * stride + parameters < tagged
    else { return false }
    write(columns, room.cells, rows, tape, &message)
    return true
  }

  private mutating func write(
    _ columns: [RowLayout.Column], _ cells: UnsafeMutableBufferPointer<UInt64>, _ rows: RowLayout,
    _ tape: TapeView, _ message: inout RecordedMessage
  ) {
    let end = writer.count
    let stride = columns.reduce(0) { $0 + $1.width }
    writer.reserve(rows.count * stride + columns.count + BackwardWriter.margin)
    columns.withUnsafeBufferPointer { columns in
      for row in (0..<rows.count).reversed() {
        var column = columns.count
        while column > 0 {
          column &-= 1
          let width = columns[column].width
          if width > 0 { writer.littleEndian(cells[column &* rows.count &+ row], width: width) }
        }
      }
    }
    for column in columns.reversed() {
      writer.reserve(BackwardWriter.margin)
      if let base = column.base { Integers.write(base, to: &writer) }
      if let constant = column.constant { write(value: tape[constant], tape, &message) }
    }
    writer.reserve(columns.count + BackwardWriter.margin)
    for column in columns.reversed() { writer.byte(column.type) }
    writer.reserve(BackwardWriter.margin)
    writer.varint(rows.shape ?? columns.count)
    writer.varint(writer.count - end)
    writer.byte(rows.shape == nil ? Columns.matrix : Columns.table)
  }
}

/// Room for the cells of the columns that are being written, column after column.
struct ColumnScratch: ~Copyable {
  /// Room that is lent until the cells are forgotten. Arrays are not written inside each other, so one room
  /// at a time is enough.
  struct Room {
    let cells: UnsafeMutableBufferPointer<UInt64>
    /// The floating-point numbers of a column as decimal fractions.
    let decimals: UnsafeMutableBufferPointer<DecimalCell>
    /// Which cells of a column are integers among floating-point numbers.
    let marks: UnsafeMutableBufferPointer<Bool>
  }

  private var cells = GrowableBuffer<UInt64>(capacity: 1)
  private var decimals = GrowableBuffer<DecimalCell>(capacity: 1)
  private var marks = GrowableBuffer<Bool>(capacity: 1)

  mutating func makeRoom(_ count: Int) -> Room {
    func room<Cell>(in buffer: inout GrowableBuffer<Cell>) -> UnsafeMutableBufferPointer<Cell> {
      buffer.reserve(count)
      buffer.extend(to: count)
      return buffer.buffer
    }
    return Room(cells: room(in: &cells), decimals: room(in: &decimals), marks: room(in: &marks))
  }

  mutating func removeAll() {
    cells.removeAll()
    decimals.removeAll()
    marks.removeAll()
  }
}
