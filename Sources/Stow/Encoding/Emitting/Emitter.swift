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
/// The recording is only read. It is `inout` all the same, because a borrowed one would be copied from where it is stored.
struct Emitter: ~Copyable {
  var writer = BackwardWriter(capacity: 1024)
  var scratch = ColumnScratch()
  private var outer = GrowableBuffer<Frame>(capacity: 16)
  private var frame = Frame(end: 0)
  /// The bits of open objects with more than 64 keys.
  private var wideMarks: [UInt64] = []

  /// An open container.
  struct Frame: BitwiseCopyable {
    /// How much was written after it.
    let end: Int
    /// The keys of an object that is written as a map, which stand before its values.
    var keys: KeyTable.Reference?
    /// Whether keys on the tape are in the shape.
    var hidesKeys = false
    /// The slots that have a value; of more than 64 they are in `wideMarks` from `firstWideMark` on.
    var marks: UInt64 = 0
    var firstWideMark = -1
  }

  /// Up to here, the bytes are copied out of a buffer that is used again.
  private static let copyLimit = 1 << 17

  /// Writes a message, which is `written` until the next one or until `trim`.
  mutating func write(_ recording: inout Recording, _ plan: borrowing MessagePlan) {
    writer.restart(capacity: estimate(&recording))
    writeBody(&recording, plan)
    if plan.hasPrelude { writePrelude(&recording, plan) }
    if let context = plan.context { writeContext(context) }
  }

  var written: UnsafeRawBufferPointer { writer.written }

  /// Gives the memory back if it is large.
  mutating func trim() { writer.trim() }

  /// About how many bytes a message takes; the buffer grows if it takes more.
  private func estimate(_ recording: inout Recording) -> Int {
    recording.tape.count &* 8 &+ recording.strings.byteCount &+ 64
  }

  /// The message that was written, as data.
  mutating func finish() -> Data {
    if writer.count <= Self.copyLimit {
      defer { trim() }
      return Data.copy(written)
    }
    let (buffer, bytes) = writer.surrender()
    let address = UInt(bitPattern: buffer)
    return Data(
      bytesNoCopy: bytes.baseAddress.unsafelyUnwrapped, count: bytes.count,
      deallocator: .custom { _, _ in
        UnsafeMutablePointer<UInt8>(bitPattern: address)?.deallocate()
      })
  }

  private mutating func writeBody(_ recording: inout Recording, _ plan: borrowing MessagePlan) {
    let tape = recording.tape.view
    frame = Frame(end: 0)
    var index = tape.tokens.count - 1
    while index >= 0 {
      writer.reserve(BackwardWriter.margin)
      var token = tape[index]
      switch token.kind {
      case .end:
        let begin = token.index
        token = tape[begin]
        if token.kind == .array, writeColumns(tape, begin + 1..<index, &recording, plan) {
          index = begin
        } else {
          enter(token, &recording, plan)
          index -= 1
          continue
        }
      case .object: closeObject(recording.keyTables[token.index])
      case .map: closeMap(token, plan)
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
  private mutating func enter(_ token: Token, _ recording: inout Recording, _ plan: borrowing MessagePlan) {
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

  /// Notes that the slot has a value, and writes its key where keys stand before their values.
  private mutating func mark(_ slot: Int, _ recording: inout Recording) {
    if let keys = frame.keys {
      write(keyAt: slot, of: keys, &recording)
      return
    }
    frame.marks |= 1 &<< UInt64(truncatingIfNeeded: slot)
    if frame.firstWideMark >= 0 { wideMarks[frame.firstWideMark + slot >> 6] |= 1 << UInt64(slot & 63) }
  }

  private mutating func closeObject(_ keys: KeyTable.Reference) {
    if keys.pointee.shape < 0 || frame.marks == 0 {
      writeMapHeader(length: writer.count - frame.end)
    } else {
      writeRecordHeader(keys)
    }
    if frame.firstWideMark >= 0 { wideMarks.removeLast(wideMarks.count - frame.firstWideMark) }
    frame = outer.takeLast()
  }

  /// Writes what stands before the values of a record.
  private mutating func writeRecordHeader(_ keys: KeyTable.Reference) {
    let isPartial =
      keys.pointee.hasForeignKeys
      || (frame.firstWideMark < 0 ? frame.marks != keys.pointee.presentMarks : lacksWideMarks(keys))
    if isPartial { writePresence(keys) }
    Records.writeHeader(
      writer.count - frame.end, shape: keys.pointee.shape, isPartial: isPartial, to: &writer)
  }

  private mutating func closeMap(_ token: Token, _ plan: borrowing MessagePlan) {
    if frame.hidesKeys {
      Records.writeHeader(
        writer.count - frame.end, shape: plan.lists[token.index].shape, isPartial: false, to: &writer)
    } else {
      writeMapHeader(length: writer.count - frame.end)
    }
    frame = outer.takeLast()
  }

  private mutating func writeMapHeader(length: Int) { Maps.writeHeader(length, to: &writer) }

  /// A bit for every key of the shape: whether the object has a value for it.
  private mutating func writePresence(_ keys: KeyTable.Reference) {
    if keys.pointee.isInSlotOrder {
      return writer.littleEndian(frame.marks, width: Records.presenceSize(keys.pointee.presentCount))
    }
    let (slots, frame, wideMarks) = (keys.pointee.presentSlots, frame, wideMarks)
    writer.bits(slots.count) { bit in
      let slot = Int(slots[bit])
      if slot == Int(KeyTable.noSlot) { return false }
      let marks = frame.firstWideMark >= 0 ? wideMarks[frame.firstWideMark + slot >> 6] : frame.marks
      return marks >> UInt64(slot & 63) & 1 == 1
    }
  }

  private func lacksWideMarks(_ keys: KeyTable.Reference) -> Bool {
    wideMarks[frame.firstWideMark...].reduce(0) { $0 + $1.nonzeroBitCount } != keys.pointee.presentCount
  }

  /// The value of a column where all cells are the same.
  mutating func write(constant token: Token, _ tape: TapeView, _ recording: inout Recording) {
    switch token.kind {
    case .array: writer.byte(Arrays.short)
    case .object, .map: writer.byte(Maps.short)
    default: write(value: token, tape, &recording)
    }
  }

  /// A value that is no container.
  @inline(__always)
  mutating func write(value token: Token, _ tape: TapeView, _ recording: inout Recording) {
    switch token.kind {
    case .integer: Integers.write(token.integer, to: &writer)
    case .string: write(string: token.index, &recording)
    case .double: Floats.write(tape.number(token), to: &writer)
    // One case, as which of them it is cannot be foretold.
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
    if utf8.count < Strings.shortLimit {
      // With its header, which stands before it.
      writer.shortBytes(endingAt: utf8.end, count: utf8.count &+ 1)
    } else {
      writer.bytes(UnsafeRawBufferPointer(start: utf8.start, count: utf8.count))
      Strings.writeHeader(utf8.count, to: &writer)
    }
  }

  /// A key that is a string in the pool: a symbol, or a text.
  mutating func write(key index: Int, _ recording: inout Recording) {
    let entry = recording.strings[index]
    if entry.symbol > 0 { return writer.text(symbol: Int(entry.symbol) - 1) }
    let utf8 = recording.strings.utf8(of: entry)
    writer.text(UnsafeRawBufferPointer(start: utf8.start, count: utf8.count))
  }

  @inline(__always)
  mutating func write(keyAt slot: Int, of keys: KeyTable.Reference, _ recording: inout Recording) {
    let string = keys.pointee.string(atSlot: slot)
    let symbol = string < 0 ? 0 : Int(recording.strings[string].symbol)
    if symbol > 0 { writer.text(symbol: symbol - 1) } else { write(textAt: slot, of: keys) }
  }

  private mutating func write(textAt slot: Int, of keys: KeyTable.Reference) {
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
    case .data, .integers, .doubles, .bools: writeRetained(recording.retained[token.index])
    default: preconditionFailure("a token that a tape in order does not have")
    }
  }
}

// What stands before the body of a message: its symbols and shapes (FORMAT.md, "Prelude").

extension Emitter {
  /// Writes the symbols and shapes of the message, before its body.
  mutating func writePrelude(_ recording: inout Recording, _ plan: borrowing MessagePlan) {
    for shape in plan.shapes.reversed() {
      let size: Int
      switch shape.source {
      case .keyTable(let index):
        let keys = recording.keyTables[index]
        size = keys.pointee.presentCount
        for slot in keys.pointee.presentSlots.reversed() {
          writer.reserve(BackwardWriter.margin)
          write(keyAt: Int(slot), of: keys, &recording)
        }
      case .list(let index):
        size = plan.lists[index].count
        for key in plan.lists.keys(of: index).reversed() {
          writer.reserve(BackwardWriter.margin)
          write(key: Int(key), &recording)
        }
      }
      writer.reserve(BackwardWriter.margin)
      writer.varint(size)
    }
    writer.reserve(BackwardWriter.margin)
    writer.varint(plan.shapes.count)
    for string in plan.symbols.reversed() { writer.text(recording.strings.utf8(string)) }
    writer.reserve(BackwardWriter.margin)
    writer.varint(plan.symbols.count)
    writer.byte(MessageTables.tag)
  }

  /// Writes which context the message relies on, before everything else.
  mutating func writeContext(_ id: UInt32) {
    writer.reserve(BackwardWriter.margin)
    writer.littleEndian(UInt64(id), width: 4)
    writer.byte(MessageTables.contextMessage)
    writer.byte(MessageTables.otherMessage)
  }
}
