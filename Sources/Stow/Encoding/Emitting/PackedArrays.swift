// Arrays without tags: of numbers, of Bools, of rows of those (FORMAT.md, "Packed arrays").

extension Emitter {
  /// The first elements that are measured to learn what floating-point numbers take with tags.
  static let sampleSize = 64

  /// Writes the array whose elements are `range` of the tape, if it is one that may do without tags.
  mutating func writeColumns(
    _ tape: TapeView, _ range: Range<Int>, _ recording: inout Recording,
    _ plan: borrowing MessagePlan
  ) -> Bool {
    guard range.count > 1 else { return false }
    switch tape[range.lowerBound].kind {
    case .integer, .longInteger, .double: return writeNumbers(tape, range)
    case .true, .false: return writeBools(UnsafeBufferPointer(rebasing: tape.tokens[range]))
    case .string: return writeStrings(tape, range, &recording)
    case .object, .map, .array:
      guard let rows = RowLayout(tape, range, &recording, plan) else { return false }
      return writeRows(rows, tape, &recording)
    default: return false
    }
  }

  private mutating func writeNumbers(_ tape: TapeView, _ range: Range<Int>) -> Bool {
    let tokens = UnsafeBufferPointer(rebasing: tape.tokens[range])
    var integers = 0
    for token in tokens {
      if token.isInteger { integers &+= 1 } else if token.kind != .double { return false }
    }
    let room = scratch.makeRoom(tokens.count)
    defer { scratch.removeAll() }
    for index in tokens.indices { room.cells[index] = tape.number(tokens[index]) }
    let cells = UnsafeBufferPointer(room.cells)
    if integers == tokens.count {
      cells.withMemoryRebound(to: Int64.self) { writeIntegers($0) }
    } else if integers == 0 {
      writeDoubles(cells, integers: nil, room)
    } else {
      for index in tokens.indices { room.marks[index] = tokens[index].isInteger }
      writeDoubles(cells, integers: UnsafeBufferPointer(room.marks), room)
    }
    return true
  }

  /// Writes two or more integers in whatever takes the fewest bytes.
  mutating func writeIntegers(_ values: UnsafeBufferPointer<Int64>) {
    let (packed, taggedSize) = PackedIntegers.best(for: values)
    let packedLength = packed.bodySize + 1
    let packedSize = 1 + Varint.size(packedLength) + packedLength
    if let taggedSize, Arrays.size(taggedSize) < packedSize {
      for value in values.reversed() {
        writer.reserve(BackwardWriter.margin)
        Integers.write(value, to: &writer)
      }
      Arrays.writeHeader(taggedSize, to: &writer)
      return
    }
    packed.write(values, to: &writer)
    writePackedHeader(packed.type, length: packedLength)
  }

  /// Writes floating-point numbers, perhaps with integers among them, in whatever takes the fewest bytes.
  private mutating func writeDoubles(
    _ values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>?, _ room: ColumnScratch.Room
  ) {
    let best = PackedDoubles.best(for: values, integers: integers, cells: room.decimals)
    let length = (best?.stride ?? 0) * values.count + (best?.type == ElementType.float ? 0 : 1)
    let size = 1 + Varint.size(length) + length
    guard let best, size <= Arrays.size(Self.taggedSize(of: values, integers))
    else {
      let end = writer.count
      for index in values.indices.reversed() {
        writer.reserve(BackwardWriter.margin)
        if integers?[index] ?? false {
          Integers.write(Int64(bitPattern: values[index]), to: &writer)
        } else {
          Floats.write(values[index], to: &writer)
        }
      }
      Arrays.writeHeader(writer.count - end, to: &writer)
      return
    }
    best.write(values, room.decimals, to: &writer)
    writePackedHeader(best.type, length: length)
  }

  /// What so many elements take, of which the first `sample` take `size` bytes.
  static func estimate(_ size: Int, of sample: Int, for count: Int) -> Int {
    // The product alone may be more than `Int` holds where it has 32 bits.
    Int(clamping: Int64(size) * Int64(count) / Int64(sample))
  }

  /// What the elements take with their tags, estimated from the first of them.
  static func taggedSize(
    of values: UnsafeBufferPointer<UInt64>, _ integers: UnsafeBufferPointer<Bool>?
  ) -> Int {
    let sample = min(values.count, sampleSize)
    var size = 0
    for index in 0..<sample {
      size +=
        integers?[index] ?? false
        ? Integers.size(Int64(bitPattern: values[index])) : DoubleForm(values[index]).size
    }
    return estimate(size, of: sample, for: values.count)
  }

  private mutating func writePackedHeader(_ type: UInt8, length: Int) {
    writer.reserve(BackwardWriter.margin)
    if type == ElementType.float {
      writer.varint(length)
      writer.byte(PackedArray.floats)
    } else {
      writer.byte(type)
      writer.varint(length)
      writer.byte(PackedArray.tag)
    }
  }

  private mutating func writeBools(_ tokens: UnsafeBufferPointer<Token>) -> Bool {
    guard tokens.allSatisfy({ $0.kind == .true || $0.kind == .false }) else { return false }
    guard Self.packsBools(tokens.count) else { return false }
    writeBits(tokens.count) { tokens[$0].kind == .true }
    return true
  }

  private static func bitsLength(_ count: Int) -> Int { 2 + (count + 7) / 8 }

  private static func packsBools(_ count: Int) -> Bool {
    let length = bitsLength(count)
    return 1 + Varint.size(length) + length <= Arrays.size(count)
  }

  private mutating func writeBits(_ count: Int, _ element: (Int) -> Bool) {
    writer.bits(count, element)
    writer.byte(UInt8((8 - count & 7) & 7))
    writePackedHeader(ElementType.bits, length: Self.bitsLength(count))
  }

  /// Data or a whole array that was retained.
  mutating func writeRetained(_ value: RetainedValue) {
    switch value {
    case .data(let data): data.withUnsafeBytes { DataValues.write($0, to: &writer) }
    case .doubles(let values):
      values.withUnsafeBufferPointer { buffer in
        buffer.withMemoryRebound(to: UInt64.self) { bits in
          let room = scratch.makeRoom(bits.count)
          writeDoubles(bits, integers: nil, room)
          scratch.removeAll()
        }
      }
    case .bools(let values):
      values.withUnsafeBufferPointer { buffer in writeBits(buffer.count) { buffer[$0] } }
    case .ints(let values):
      #if _pointerBitWidth(_64)
        values.withUnsafeBufferPointer { $0.withMemoryRebound(to: Int64.self) { writeIntegers($0) } }
      #else
        values.map(Int64.init).withUnsafeBufferPointer { writeIntegers($0) }
      #endif
    case .integers(let values): values.withUnsafeBufferPointer { writeIntegers($0) }
    }
  }

  /// Writes rows as a table or a matrix, if that takes fewer bytes than writing each with its header.
  private mutating func writeRows(
    _ rows: RowLayout, _ tape: TapeView, _ recording: inout Recording
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
    write(columns, room.cells, rows, tape, &recording)
    return true
  }

  private mutating func write(
    _ columns: [RowLayout.Column], _ cells: UnsafeMutableBufferPointer<UInt64>, _ rows: RowLayout,
    _ tape: TapeView, _ recording: inout Recording
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
      if let constant = column.constant { write(constant: tape[constant], tape, &recording) }
    }
    writer.reserve(columns.count + BackwardWriter.margin)
    for column in columns.reversed() { writer.byte(column.type) }
    writer.reserve(BackwardWriter.margin)
    writer.varint(rows.shape ?? columns.count)
    writer.varint(writer.count - end)
    writer.byte(rows.shape == nil ? Columns.matrix : Columns.table)
  }
}

// Arrays of strings that are all new when they come: they stand in the pool as they are written.

extension Emitter {
  /// Writes the array whose elements are `range` of the tape, if they are strings that stand one after the other in
  /// the pool, and none is a symbol.
  mutating func writeStrings(_ tape: TapeView, _ range: Range<Int>, _ recording: inout Recording) -> Bool {
    let tokens = UnsafeBufferPointer(rebasing: tape.tokens[range])
    let first = tokens[0].index
    for index in tokens.indices {
      guard tokens[index].kind == .string, tokens[index].index == first &+ index else { return false }
    }
    let entries = UnsafeMutableBufferPointer(rebasing: recording.strings.all[first..<first + tokens.count])
    guard entries.allSatisfy({ $0.symbol == 0 }) else { return false }
    let end = writer.count
    var last = entries.count - 1
    while last >= 0 {
      if entries[last].length >= Strings.headerLimit {
        writer.reserve(BackwardWriter.margin)
        write(constant: tokens[last], tape, &recording)
        last -= 1
      } else {
        let run = entries[...last].lastIndex { $0.length >= Strings.headerLimit }.map { $0 + 1 } ?? 0
        writer.bytes(recording.strings.written(first + run...first + last))
        last = run - 1
      }
    }
    Arrays.writeHeader(writer.count - end, to: &writer)
    return true
  }
}

/// Room for the cells of the columns that are being written, column after column.
struct ColumnScratch: ~Copyable {
  /// What is lent until the cells are forgotten. Arrays are not written inside each other: one room at a time is enough.
  struct Room {
    let cells: UnsafeMutableBufferPointer<UInt64>
    /// What the floating-point numbers of a column are as decimal fractions.
    let decimals: UnsafeMutableBufferPointer<DecimalCell>
    /// Which cells of a column are integers among floating-point numbers.
    let marks: UnsafeMutableBufferPointer<Bool>
  }

  private var cells = GrowableBuffer<UInt64>(capacity: 1)
  private var decimals = GrowableBuffer<DecimalCell>(capacity: 1)
  private var marks = GrowableBuffer<Bool>(capacity: 1)

  mutating func makeRoom(_ count: Int) -> Room {
    cells.reserve(count)
    decimals.reserve(count)
    marks.reserve(count)
    cells.extend(to: count)
    decimals.extend(to: count)
    marks.extend(to: count)
    return Room(cells: cells.buffer, decimals: decimals.buffer, marks: marks.buffer)
  }

  /// Forgets the cells, and the memory if it is large and not likely to be needed soon.
  mutating func removeAll() {
    cells.removeAll()
    decimals.removeAll()
    marks.removeAll()
  }
}
