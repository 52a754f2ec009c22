#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes a planned message, from its end to its beginning.
///
/// Going backwards over the tape, the body of a container is written before its header, so that every
/// length is known when it is needed.
///
/// The recording and the plan are only read. They are `inout` because borrowed ones would be copied from where they are
/// stored.
struct Emitter: ~Copyable {
  var writer = BackwardWriter(capacity: 1024)
  var scratch = ColumnScratch()
  private var outer = GrowableBuffer<Frame>(capacity: 16)
  /// The innermost open container; outside all containers, one without keys whose marks nobody reads.
  private var frame = Frame(end: 0)
  /// The bits of open objects with more than 64 keys.
  private var wideMarks: [UInt64] = []

  /// An open container.
  struct Frame: BitwiseCopyable {
    /// How much was written after it.
    let end: Int
    /// The keys of an object that is written as a map, which precede its values.
    var keys: KeyTable.Reference?
    /// Whether keys on the tape are in the shape.
    var hidesKeys = false
    /// The slots that have a value; if there are more than 64, they are in `wideMarks` from `firstWideMark`
    /// on.
    var marks: UInt64 = 0
    var firstWideMark = -1
  }

  /// The size up to which the bytes are copied out of a buffer that is reused.
  private static let copyLimit = 1 << 17

  /// Writes a message, which is in `writer` until the next one.
  mutating func write(_ recording: inout Recording, _ plan: inout MessagePlan) {
    // About as many bytes as it takes; the buffer grows if it takes more.
    writer.restart(capacity: recording.tape.count &* 8 &+ recording.strings.byteCount &+ 64)
    writeBody(&recording, &plan)
    if plan.hasPrelude { writePrelude(&recording, &plan) }
    if let context = plan.context { writeContext(context) }
  }

  /// Returns the message that was written, as data.
  mutating func finish() -> Data {
    if writer.count <= Self.copyLimit {
      defer { writer.trim() }
      return Data.copy(writer.written)
    }
    let (buffer, bytes) = writer.surrender()
    let (address, size) = (UInt(bitPattern: buffer.baseAddress), buffer.count)
    return Data(
      bytesNoCopy: bytes.baseAddress.unsafelyUnwrapped, count: bytes.count,
      deallocator: .custom { _, _ in
        UnsafeMutableRawPointer(bitPattern: address).map { PageMemory.deallocate($0, byteCount: size) }
      })
  }

  private mutating func writeBody(_ recording: inout Recording, _ plan: inout MessagePlan) {
    let tape = recording.tape.view
    var index = tape.tokens.count - 1
    while index >= 0 {
      writer.reserve(BackwardWriter.margin)
      var token = tape[index]
      switch token.kind {
      case .end:
        let begin = token.index
        token = tape[begin]
        if token.kind == .array, writeColumns(tape, begin + 1..<index, &recording, &plan) {
          index = begin
        } else {
          enter(token, &recording, &plan)
          index -= 1
          continue
        }
      case .object: closeObject(recording.keyTables[token.index])
      case .map: close(shape: frame.hidesKeys ? plan.lists[token.index].shape : nil)
      case .array:
        Arrays.writeHeader(writer.count - frame.end, to: &writer)
        frame = outer.takeLast()
      case .key:
        if !frame.hidesKeys { write(key: token.index, &recording) }
        index -= 1
        continue
      default: write(value: token, tape, &recording)
      }
      mark(token.slot, &recording)
      index -= 1
    }
  }

  @inline(__always)
  private mutating func enter(_ token: Token, _ recording: inout Recording, _ plan: inout MessagePlan) {
    outer.append(frame)
    frame = Frame(end: writer.count)
    if token.kind == .object {
      let keys = recording.keyTables[token.index]
      if keys.pointee.shape < 0 {
        frame.keys = keys
      } else if keys.pointee.slotCount > 64 {
        frame.firstWideMark = wideMarks.count
        wideMarks.append(contentsOf: repeatElement(0, count: (keys.pointee.slotCount + 63) / 64))
      }
    } else if token.kind == .map, plan.hasLists, token.index != KeyLists.none {
      frame.hidesKeys = plan.lists[token.index].shape >= 0
    }
  }

  /// Notes that the slot has a value, and writes its key if keys precede their values.
  @inline(__always)
  private mutating func mark(_ slot: Int, _ recording: inout Recording) {
    if let keys = frame.keys {
      write(keyAt: slot, of: keys, &recording)
      return
    }
    frame.marks |= 1 &<< UInt64(truncatingIfNeeded: slot)
    if frame.firstWideMark >= 0 { wideMarks[frame.firstWideMark + slot >> 6] |= 1 << UInt64(slot & 63) }
  }

  private mutating func closeObject(_ keys: KeyTable.Reference) {
    guard keys.pointee.shape >= 0, frame.marks != 0 else { return close(shape: nil) }
    let isPartial =
      keys.pointee.present.hasKeysWithoutSlot
      || (frame.firstWideMark < 0 ? frame.marks != keys.pointee.present.marks : lacksWideMarks(keys))
    if isPartial { writePresence(keys) }
    close(shape: keys.pointee.shape, isPartial: isPartial)
  }

  /// Writes the header of a map, or of a record if it has a shape, and goes back to the container around it.
  @inline(__always)
  private mutating func close(shape: Int?, isPartial: Bool = false) {
    let length = writer.count - frame.end
    if let shape {
      Records.writeHeader(length, shape: shape, isPartial: isPartial, to: &writer)
    } else {
      Maps.writeHeader(length, to: &writer)
    }
    if frame.firstWideMark >= 0 { wideMarks.removeLast(wideMarks.count - frame.firstWideMark) }
    frame = outer.takeLast()
  }

  /// Writes a bit for every key of the shape: whether the object has a value for it.
  private mutating func writePresence(_ keys: KeyTable.Reference) {
    if keys.pointee.present.isInSlotOrder {
      return writer.littleEndian(frame.marks, width: Records.presenceSize(keys.pointee.present.count))
    }
    let (slots, frame, wideMarks) = (keys.pointee.present.slots, frame, wideMarks)
    writer.bits(slots.count) { bit in
      let slot = Int(slots[bit])
      if slot == Int(KeyTable.noSlot) { return false }
      let marks = frame.firstWideMark >= 0 ? wideMarks[frame.firstWideMark + slot >> 6] : frame.marks
      return marks >> UInt64(slot & 63) & 1 == 1
    }
  }

  private func lacksWideMarks(_ keys: KeyTable.Reference) -> Bool {
    wideMarks[frame.firstWideMark...].reduce(0) { $0 + $1.nonzeroBitCount } != keys.pointee.present.count
  }

  /// Writes the value of a column whose cells are all the same.
  mutating func write(constant token: Token, _ tape: TapeView, _ recording: inout Recording) {
    switch token.kind {
    case .array: writer.byte(Arrays.short)
    case .object, .map: writer.byte(Maps.short)
    default: write(value: token, tape, &recording)
    }
  }

  /// Writes a value that is not a container.
  @inline(__always)
  mutating func write(value token: Token, _ tape: TapeView, _ recording: inout Recording) {
    switch token.kind {
    case .integer: Integers.write(token.integer, to: &writer)
    case .string: write(string: token.index, &recording)
    case .double: Floats.write(tape.number(token), to: &writer)
    // One case, because the branch could not be predicted.
    case .true, .false: writer.byte(token.kind == .true ? Bools.true : Bools.false)
    case .null: writer.byte(Nils.tag)
    default: writeRare(token, tape, &recording)
    }
  }

  @inline(__always)
  private mutating func write(string index: Int, _ recording: inout Recording) {
    let entry = recording.strings[index]
    if entry.symbol != 0 {
      Symbols.write(Int(entry.symbol) &- 1, to: &writer)
      return
    }
    let utf8 = recording.strings.utf8(of: entry)
    if utf8.count < Strings.shortLimit, let start = utf8.baseAddress {
      // With its header, which precedes it.
      writer.shortBytes(endingAt: start + utf8.count, count: utf8.count &+ 1)
    } else {
      writer.bytes(utf8)
      Strings.writeHeader(utf8.count, to: &writer)
    }
  }

  /// Writes a key that is a string in the pool: as a symbol, or as a text.
  mutating func write(key index: Int, _ recording: inout Recording) {
    let entry = recording.strings[index]
    if entry.symbol > 0 { return writer.text(symbol: Int(entry.symbol) - 1) }
    writer.text(recording.strings.utf8(of: entry))
  }

  @inline(__always)
  private mutating func write(keyAt slot: Int, of keys: KeyTable.Reference, _ recording: inout Recording) {
    let string = keys.pointee.string(atSlot: slot)
    let symbol = string < 0 ? 0 : Int(recording.strings[string].symbol)
    if symbol > 0 { return writer.text(symbol: symbol - 1) }
    let text = keys.pointee.text(atSlot: slot)
    guard text.count <= BackwardWriter.shortLimit, let start = text.baseAddress else {
      return writer.bytes(text)
    }
    writer.shortBytes(endingAt: start + text.count, count: text.count)
  }

  @inline(never)
  private mutating func writeRare(_ token: Token, _ tape: TapeView, _ recording: inout Recording) {
    switch token.kind {
    case .longInteger: Integers.write(Int64(bitPattern: tape.number(token)), to: &writer)
    case .unsigned: Integers.write(beyondSigned: tape.number(token), to: &writer)
    case .float: Floats.write(float: tape.number(token), to: &writer)
    case .date: Dates.write(tape.number(token), to: &writer)
    case .wide: recording.wideForms[token.index].write(to: &writer)
    case .url:
      write(string: token.index, &recording)
      writer.byte(URLs.tag)
    case .nestedNil: Nils.write(level: token.index, to: &writer)
    case .place: writer.byte(Maps.short)
    case .data, .packed: writeRetained(recording.retained[token.index])
    default: preconditionFailure("a token that a tape in order does not have")
    }
  }
}

// What precedes the body of a message: its symbols and shapes (FORMAT.md, "Prelude").

extension Emitter {
  /// Writes the symbols and shapes of the message, before its body.
  mutating func writePrelude(_ recording: inout Recording, _ plan: inout MessagePlan) {
    for shape in plan.shapes.reversed() {
      let keys = plan.keys(of: shape, recording)
      for key in keys.reversed() {
        writer.reserve(BackwardWriter.margin)
        write(key: key, &recording)
      }
      writer.count(keys.count)
    }
    writer.count(plan.shapes.count)
    for string in plan.symbols.reversed() { writer.text(recording.strings.utf8(string)) }
    writer.count(plan.symbols.count)
    writer.byte(MessageTables.tag)
  }

  /// Writes the id of the context that the message relies on, before everything else.
  mutating func writeContext(_ id: UInt32) {
    writer.reserve(BackwardWriter.margin)
    writer.littleEndian(UInt64(id), width: 4)
    writer.byte(MessageTables.contextMessage)
    writer.byte(MessageTables.otherMessage)
  }
}

// MARK: - Arrays

// Arrays that are written as a whole: of strings, and without tags of numbers, Bools, and rows of these
// (FORMAT.md, "Packed arrays").

extension Emitter {
  /// How many elements are measured to estimate what floating-point numbers take with tags.
  static let sampleSize = 64

  /// Writes the array whose elements are `range` of the tape, if it may do without tags.
  mutating func writeColumns(
    _ tape: TapeView, _ range: Range<Int>, _ recording: inout Recording,
    _ plan: inout MessagePlan
  ) -> Bool {
    guard range.count > 1 else { return false }
    switch tape[range.lowerBound].kind {
    case .integer, .longInteger, .double: return writeNumbers(tape, range)
    case .true, .false: return writeBools(UnsafeBufferPointer(rebasing: tape.tokens[range]))
    case .string: return writeStrings(tape, range, &recording)
    case .object, .map, .array:
      guard let rows = RowLayout(tape, range, &recording, &plan) else { return false }
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

  /// Writes two or more integers in the form that takes the fewest bytes.
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

  /// Writes floating-point numbers, perhaps with integers among them, in the form that takes the fewest
  /// bytes.
  private mutating func writeDoubles(
    _ values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>?, _ room: ColumnScratch.Room
  ) {
    let best = PackedDoubles.best(for: values, integers: integers, cells: room.decimals)
    let length = (best?.stride ?? 0) * values.count + (best?.type == ElementType.float ? 0 : 1)
    let size = 1 + Varint.size(length) + length
    guard let best, size <= Arrays.size(Self.taggedSize(of: values, integers, best, room.decimals))
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

  /// Returns the estimated size of `count` elements, if `sample` of them take `size` bytes.
  static func estimate(_ size: Int, of sample: Int, for count: Int) -> Int {
    // The product alone may not fit in an `Int` of 32 bits.
    Int(clamping: Int64(size) * Int64(count) / Int64(sample))
  }

  /// Returns what the elements take with their tags, estimated from the first of them.
  ///
  /// - Parameter cells: The cells of all numbers, if `form` is a decimal one.
  static func taggedSize(
    of values: UnsafeBufferPointer<UInt64>, _ integers: UnsafeBufferPointer<Bool>?, _ form: PackedDoubles,
    _ cells: UnsafeMutableBufferPointer<DecimalCell>
  ) -> Int {
    let exponent = form.exponent
    let sample = min(values.count, sampleSize)
    var size = 0
    for index in 0..<sample {
      if integers?[index] ?? false {
        size += Integers.size(Int64(bitPattern: values[index]))
      } else if let exponent {
        size += DoubleForm.size(values[index], cells[index], exponent: exponent)
      } else {
        size += DoubleForm(values[index]).size
      }
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
    let length = Self.bitsLength(tokens.count)
    guard 1 + Varint.size(length) + length <= Arrays.size(tokens.count) else { return false }
    writeBits(tokens.count) { tokens[$0].kind == .true }
    return true
  }

  private static func bitsLength(_ count: Int) -> Int { 2 + (count + 7) / 8 }

  private mutating func writeBits(_ count: Int, _ element: (Int) -> Bool) {
    writer.bits(count, element)
    writer.byte(UInt8((8 - count & 7) & 7))
    writePackedHeader(ElementType.bits, length: Self.bitsLength(count))
  }

  /// Writes data or a whole array that was retained.
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
}

// Arrays of strings that are all new when they come: they are in the pool as they are written.

extension Emitter {
  /// Writes the array whose elements are `range` of the tape, if they are consecutive strings in the pool, not symbols,
  /// and short enough for a header there.
  mutating func writeStrings(_ tape: TapeView, _ range: Range<Int>, _ recording: inout Recording) -> Bool {
    let first = tape[range.lowerBound].index
    for (offset, token) in tape.tokens[range].enumerated() {
      guard token.kind == .string, token.index == first &+ offset else { return false }
      let entry = recording.strings[token.index]
      guard entry.symbol == 0, entry.length < Strings.headerLimit else { return false }
    }
    let end = writer.count
    writer.bytes(recording.strings.written(first...first + range.count - 1))
    Arrays.writeHeader(writer.count - end, to: &writer)
    return true
  }
}
