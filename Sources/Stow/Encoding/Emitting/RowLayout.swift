/// An array, on the tape or kept, whose elements are rows: objects of one shape, or arrays of one length, of cells
/// that have a fixed width or are the same in every row.
struct RowLayout {
  /// The shape of the rows; nil if they are arrays.
  let shape: Int?
  let count: Int
  let columnCount: Int
  private var first = 0
  private var tokensPerRow: Int { columnCount + 1 }
  /// The rows, if they are not on the tape.
  private var kept: KeptRows?

  /// The most columns of rows that are arrays; longer rows do as well by themselves.
  static let widestMatrix = 16

  /// One column: how its cells are laid out, and what they would take with their tags.
  struct Column {
    var type: UInt8 = 0
    var width = 0
    var taggedSize = 0
    /// The integer that cells are counted from.
    var base: Int64?
    /// The value that all cells have.
    var constant: LooseToken?
    /// The bytes that precede the rows on its behalf, besides the type.
    var parameterSize = 0
  }

  /// Makes the layout of two or more rows from a token on; nil if they do not have the same keys, and as many cells. The
  /// cells of objects are in the order of slots, so that each column has one key.
  init?(_ first: Int, _ count: Int, _ message: inout RecordedMessage, _ plan: inout MessagePlan) {
    let tokens = message.tape.all
    let (kind, head) = (tokens[first].kind, message.tape.container(tokens[first]))
    (self.first, self.count, columnCount) = (first, count, Int(head.count))
    // An object of a shape has a value for each of its keys.
    var isFull = true
    switch kind {
    case .object:
      let keys = message.keyTables[Int(head.keys)]
      shape = keys.pointee.shape
      isFull = columnCount == keys.pointee.present.count
    case .map: shape = plan.shape(ofMap: head)
    default:
      shape = nil
      isFull = columnCount <= Self.widestMatrix
    }
    guard columnCount > 0, isFull, shape != -1, tokensPerRow <= (tokens.count - first) / count else { return nil }
    // Where the last row is, if all are alike.
    let last = first + (count - 1) * tokensPerRow
    for cell in 1...columnCount where !Self.isCell(tokens[first + cell], tokens[last + cell], &message) { return nil }
    var index = first
    for _ in 1..<count {
      index += tokensPerRow
      guard tokens[index].kind == kind, tokens[index].previous == index - tokensPerRow,
        case let row = message.tape.container(tokens[index]), row.keys == head.keys, row.count == head.count
      else { return nil }
    }
  }

  /// Makes the layout of rows that were kept; nil if they have not all keys of a shape.
  init?(_ kept: KeptRows) {
    guard kept.areAlike, let keys = kept.keys, keys.pointee.shape >= 0 else { return nil }
    (shape, count, columnCount, self.kept) = (keys.pointee.shape, kept.count, kept.columns.count, kept)
    guard columnCount == keys.pointee.present.count else { return nil }
  }

  /// Numbers that kept rows may have, and columns may not: integers above 2⁶³ − 1, and NaNs of `Float`.
  private static let wideKinds = Token.Kind.unsigned.bit | Token.Kind.float.bit

  /// Returns whether a column may begin and end with such cells: scalars of some kinds, and empty containers. A string is
  /// the same in every row.
  private static func isCell(_ token: Token, _ last: Token, _ message: inout RecordedMessage) -> Bool {
    switch token.kind {
    case .integer, .longInteger, .double, .true, .false, .date, .null, .place: true
    case .string: last.kind == .string && last.value == token.value
    case .array, .map, .object: message.tape.isSingle(token)
    default: false
    }
  }

  /// Fills the cells of `room` column by column and decides their types. Returns nil if a cell is not a single token, or
  /// those of a column have no type.
  func gather(_ room: ColumnScratch.Room, _ message: inout RecordedMessage) -> [Column]? {
    var columns: [Column] = []
    columns.reserveCapacity(columnCount)
    let keptColumns = kept?.columns ?? []
    for number in 0..<columnCount {
      let cells = UnsafeMutableBufferPointer(rebasing: room.cells[number * count..<(number + 1) * count])
      var kinds: UInt32?
      if let kept {
        kept.lend { kinds = keptColumns[number].fill(cells, room.marks, from: $0, stride: kept.stride) }
      } else {
        kinds = fill(cells, room.marks, from: first + 1 + number, &message)
      }
      guard let kinds, kinds & Self.wideKinds == 0, let column = column(of: cells, kinds, room) else { return nil }
      columns.append(column)
    }
    return columns
  }

  /// Fills cells and marks from tokens, and returns the bits of their kinds; nil if one is not a single token.
  private func fill(
    _ cells: UnsafeMutableBufferPointer<UInt64>, _ marks: UnsafeMutableBufferPointer<Bool>, from top: Int,
    _ message: inout RecordedMessage
  ) -> UInt32? {
    let tokens = message.tape.all
    var position = top
    // Floating-point numbers alone, which are most common.
    var row = 0
    while row < count, tokens[position].kind == .double {
      cells[row] = message.tape.number(tokens[position])
      row &+= 1
      position &+= tokensPerRow
    }
    if row == count { return Token.Kind.double.bit }
    for marked in 0..<row { marks[marked] = false }
    var kinds = row == 0 ? 0 : Token.Kind.double.bit
    for row in row..<count {
      let token = tokens[position]
      guard message.tape.isSingle(token) else { return nil }
      cells[row] = message.tape.number(token)
      kinds |= token.kind.bit
      marks[row] = token.kind.isMarked
      position &+= tokensPerRow
    }
    return kinds
  }

  private func column(
    of cells: UnsafeMutableBufferPointer<UInt64>, _ kinds: UInt32, _ room: ColumnScratch.Room
  ) -> Column? {
    let marks = UnsafeBufferPointer(rebasing: room.marks[..<count])
    if kinds.nonzeroBitCount == 1, let kind = Token.Kind(rawValue: UInt8(kinds.trailingZeroBitCount)),
      kinds & Self.emptyValues != 0 || cells.allSatisfy({ $0 == cells[0] })
    {
      return constant(LooseToken(kind, cells[0]))
    }
    let long = Token.Kind.longInteger.bit
    switch kinds & long != 0 ? kinds & ~long | Token.Kind.integer.bit : kinds {
    case Token.Kind.integer.bit: return integers(cells)
    case Token.Kind.double.bit: return doubles(cells, integers: nil, room.decimals)
    case Token.Kind.double.bit | Token.Kind.integer.bit:
      return doubles(cells, integers: marks, room.decimals)
    case Token.Kind.true.bit | Token.Kind.false.bit:
      for row in 0..<count { cells[row] = marks[row] ? 1 : 0 }
      return Column(type: ElementType.bool, width: 1, taggedSize: count)
    case Token.Kind.date.bit:
      let tagged = cells.prefix(Emitter.sampleSize).reduce(0) { $0 + Dates.size($1) }
      return Column(
        type: ElementType.date, width: 8,
        taggedSize: Emitter.estimate(tagged, of: min(count, Emitter.sampleSize), for: count))
    default: return nil
    }
  }

  /// The kinds of values that are empty if they are cells.
  private static let emptyValues =
    Token.Kind.array.bit | Token.Kind.map.bit | Token.Kind.object.bit | Token.Kind.place.bit

  private func constant(_ constant: LooseToken) -> Column {
    // The size of the value each time: exact for numbers, one byte for everything else.
    let size =
      switch constant.kind {
      case .integer, .longInteger: Integers.size(Int64(bitPattern: constant.number))
      case .double: DoubleForm(constant.number).size
      case .date: Dates.size(constant.number)
      default: 1
      }
    return Column(
      type: ElementType.constant, width: 0, taggedSize: size * count, constant: constant, parameterSize: size)
  }

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
  mutating func writeRows(_ rows: RowLayout, _ message: inout RecordedMessage) -> Bool {
    let room = scratch.makeRoom(rows.count * rows.columnCount)
    defer { scratch.removeAll() }
    guard let columns = rows.gather(room, &message) else { return false }
    let stride = columns.reduce(0) { $0 + $1.width }
    // By itself, a row takes a tag besides its cells, and a record also its length.
    let tagged = columns.reduce(rows.count * (rows.shape == nil ? 1 : 2)) { $0 + $1.taggedSize }
    let parameters = columns.reduce(columns.count + 1) { $0 + $1.parameterSize }
    let constants = columns.reduce(0) { $0 + ($1.constant == nil ? 0 : 1) }
    guard Columns.allows(constants: constants, stride: stride), rows.count * stride + parameters < tagged
    else { return false }
    write(columns, room.cells, rows, stride: stride, &message)
    return true
  }

  private mutating func write(
    _ columns: [RowLayout.Column], _ cells: UnsafeMutableBufferPointer<UInt64>, _ rows: RowLayout,
    stride: Int, _ message: inout RecordedMessage
  ) {
    let end = writer.count
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
      if let constant = column.constant { writeAny(constant, &message) }
    }
    writer.reserve(columns.count + BackwardWriter.margin)
    for column in columns.reversed() { writer.byte(column.type) }
    writer.reserve(BackwardWriter.margin)
    writer.varint(rows.shape ?? columns.count)
    writer.varint(writer.count - end)
    writer.byte(rows.shape == nil ? Columns.matrix : Columns.table)
  }

  // MARK: rows that were kept, one by one

  /// Writes rows as records. Returns false if not all of their objects are records.
  mutating func writeRecords(_ rows: KeptRows) -> Bool {
    guard let places = rows.places else { return false }
    let end = writer.count
    // About what they take, so that the buffer need not grow while they are written.
    writer.reserve(rows.count * rows.stride)
    rows.steps.withUnsafeBufferPointer { steps in
      places.withUnsafeBufferPointer { places in
        rows.lend { first in
          for row in (0..<rows.count).reversed() { writeRecord(steps, places, first + row &* rows.stride) }
        }
      }
    }
    writer.reserve(BackwardWriter.margin)
    Arrays.writeHeader(writer.count - end, to: &writer)
    return true
  }

  /// - Parameter places: The bits of the keys in the shapes of their objects.
  private mutating func writeRecord(
    _ steps: UnsafeBufferPointer<KeptRows.Step>, _ places: UnsafeBufferPointer<UInt64>, _ row: UnsafeRawPointer
  ) {
    writer.reserve(steps.count * BackwardWriter.margin)
    var marks: UInt64 = 0
    for number in steps.indices.reversed() {
      switch steps[number] {
      case .value(let column):
        if column.write(inRowAt: row, to: &writer) { marks |= places[number] }
      case .end:
        outer.append(Frame(token: 0, end: writer.count, marks: marks))
        marks = 0
      case .begin(let keys, _):
        let object = outer.takeLast()
        if marks == 0 {
          writer.byte(Maps.short)
        } else {
          let keyCount = keys.pointee.present.count
          let isPartial = marks.nonzeroBitCount < keyCount
          if isPartial { writer.littleEndian(marks, width: Records.presenceSize(keyCount)) }
          Records.writeHeader(writer.count - object.end, shape: keys.pointee.shape, isPartial: isPartial, to: &writer)
        }
        marks = object.marks | places[number]
      }
    }
  }
}

extension KeptRows {
  /// The bit of each step's key in the shape of its object; nil if not all objects are records, or of shapes with more
  /// keys than bits.
  fileprivate var places: [UInt64]? {
    var places: [UInt64] = []
    var objects: [KeyTable.Reference] = []
    func place(_ byte: Int) -> UInt64 {
      guard let keys = objects.last else { return 0 }
      let slot = keys.pointee.slot(ofByte: byte)
      return keys.pointee.present.firstIndex(of: slot).map { 1 << UInt64($0) } ?? 0
    }
    for step in steps {
      switch step {
      case .begin(let keys, let byte):
        guard keys.pointee.shape >= 0, keys.pointee.present.count <= 64 else { return nil }
        places.append(place(byte))
        objects.append(keys)
      case .value(let column): places.append(place(column.byte))
      case .end:
        places.append(0)
        objects.removeLast()
      }
    }
    return places
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

  private static let bytesPerCell =
    MemoryLayout<UInt64>.stride + MemoryLayout<DecimalCell>.stride + MemoryLayout<Bool>.stride
  private var bytes = GrowableBuffer<UInt8>(capacity: bytesPerCell)

  mutating func makeRoom(_ count: Int) -> Room {
    bytes.reserve(Self.bytesPerCell * count)
    bytes.extend(to: Self.bytesPerCell * count)
    var next = UnsafeMutableRawPointer(bytes.base)
    // The widest come first, so that all are aligned.
    func room<Cell>() -> UnsafeMutableBufferPointer<Cell> {
      defer { next += count * MemoryLayout<Cell>.stride }
      return UnsafeMutableBufferPointer(start: next.bindMemory(to: Cell.self, capacity: count), count: count)
    }
    return Room(cells: room(), decimals: room(), marks: room())
  }

  mutating func removeAll() { bytes.removeAll() }
}
