#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes a planned message, from its end to its beginning.
///
/// Going backwards over the tape, from each value to the one before it in its container, the body of a container is
/// written before its header, so that every length is known when it is needed.
///
/// The message and the plan are only read. They are `inout` because borrowed ones would be copied from where they are
/// stored.
struct Emitter: ~Copyable {
  var writer = BackwardWriter(capacity: 1024)
  var scratch = ColumnScratch()
  var outer = GrowableBuffer<Frame>(capacity: 16)
  /// The innermost open container; outside all others, that of the whole message.
  var frame = Frame(token: 0, end: 0)

  struct Frame: BitwiseCopyable {
    let token: Int
    /// How much was written after it.
    let end: Int
    /// What precedes its values.
    var keys = Keys.none
    var table: KeyTable.Reference?
    /// The bits of the keys that a row from memory has values for.
    var marks: UInt64 = 0

    enum Keys { case none, bytes, strings }
  }

  /// The size up to which the bytes are copied out of a buffer that is reused.
  private static let copyLimit = 1 << 17

  /// Writes a message, which is in `writer` until the next one.
  mutating func write(_ message: inout RecordedMessage, _ plan: inout MessagePlan) {
    // About as many bytes as it takes; the buffer grows if it takes more.
    writer.restart(capacity: message.tape.count &* 8 &+ message.strings.byteCount &+ 64)
    writeBody(&message, &plan)
    if plan.hasPrelude { writePrelude(&message, &plan) }
    if let context = plan.context { writeContext(context) }
  }

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

  private mutating func writeBody(_ message: inout RecordedMessage, _ plan: inout MessagePlan) {
    var tokens = message.tape.all
    var index = message.tape.top
    while index > 0 {
      writer.reserve(BackwardWriter.margin)
      let token = tokens[index]
      switch token.kind {
      case .packed, .object, .map, .array:
        if index == frame.token {
          // The first value of a container is preceded by the container.
          close(token, &message, &plan)
        } else if !writeWhole(token, index, &message, &plan) {
          index = open(index, &message, &plan)
          // Rows that were kept are on the tape now.
          tokens = message.tape.all
          continue
        }
      default: write(value: token, &message)
      }
      writeKey(token, index, &message)
      index = token.previous
    }
  }

  /// Writes an empty container, or an array that does without tags, and returns whether it is one.
  @inline(__always)
  private mutating func writeWhole(
    _ token: Token, _ index: Int, _ message: inout RecordedMessage, _ plan: inout MessagePlan
  ) -> Bool {
    if token.kind == .packed { return writeRetained(index, &message) }
    let container = message.tape.container(token)
    if container.count == 0 {
      writeAny(LooseToken(token.kind), &message)
      return true
    }
    return token.kind == .array && writeColumns(index, container, &message, &plan)
  }

  /// Begins to write a container, and returns its last value.
  @inline(__always)
  private mutating func open(_ index: Int, _ message: inout RecordedMessage, _ plan: inout MessagePlan) -> Int {
    let token = message.tape[index]
    let container = message.tape.container(token)
    outer.append(frame)
    frame = Frame(token: index, end: writer.count)
    if token.kind == .object {
      let table = message.keyTables[Int(container.keys)]
      frame.table = table
      if table.pointee.shape < 0 { frame.keys = .bytes }
    } else if token.kind == .map, plan.shape(ofMap: container) < 0 {
      frame.keys = .strings
    }
    return Int(container.last)
  }

  /// Writes the header of the open container, and goes back to the one around it.
  @inline(__always)
  private mutating func close(_ token: Token, _ message: inout RecordedMessage, _ plan: inout MessagePlan) {
    let container = message.tape.container(token)
    if token.kind == .array {
      Arrays.writeHeader(writer.count - frame.end, to: &writer)
    } else if case let shape = frame.table?.pointee.shape ?? plan.shape(ofMap: container), shape >= 0 {
      let missing = frame.table.map { $0.pointee.present.count - Int(container.count) } ?? 0
      if missing > 0, let keys = frame.table { writePresence(container, keys, &message) }
      Records.writeHeader(writer.count - frame.end, shape: shape, isPartial: missing > 0, to: &writer)
    } else {
      Maps.writeHeader(writer.count - frame.end, to: &writer)
    }
    frame = outer.takeLast()
  }

  /// Writes a bit for every key of the shape: whether the object has a value for it. The object is not empty.
  private mutating func writePresence(
    _ object: TapeContainer, _ keys: KeyTable.Reference, _ message: inout RecordedMessage
  ) {
    let (table, tokens, slots) = (keys.pointee.table, message.tape.all, keys.pointee.present)
    var token = Int(object.last)
    var slot = Int(table[tokens[token].key.byte])
    writer.reserve(Records.presenceSize(slots.count) + BackwardWriter.margin)
    var (bits, end) = (UInt64(0), slots.count)
    // Keys and values are in the order of slots.
    for place in slots.indices.reversed() {
      bits &<<= 1
      if slots[place] == slot {
        bits |= 1
        token = tokens[token].previous
        slot = token == object.token ? .max : Int(table[tokens[token].key.byte])
      }
      if place & 63 == 0 {
        writer.littleEndian(bits, width: Records.presenceSize(end &- place))
        (bits, end) = (0, place)
      }
    }
  }

  /// Writes the key of a value, if keys precede their values.
  @inline(__always)
  private mutating func writeKey(_ token: Token, _ index: Int, _ message: inout RecordedMessage) {
    switch frame.keys {
    case .none: break
    case .bytes:
      if let table = frame.table { write(keyOf: token, table, &message) }
    case .strings: write(key: message.tape.keyString(at: index), &message)
    }
  }

  @inline(__always)
  private mutating func write(value token: Token, _ message: inout RecordedMessage) {
    switch token.kind {
    case .integer: Integers.write(token.integer, to: &writer)
    case .string: write(string: token.value, &message)
    case .double: Floats.write(message.tape.number(token), to: &writer)
    // One case, because the branch could not be predicted.
    case .true, .false: writer.byte(token.kind == .true ? Bools.true : Bools.false)
    case .null: writer.byte(Nils.tag)
    default: writeAny(LooseToken(token.kind, message.tape.number(token)), &message)
    }
  }

  @inline(__always)
  private mutating func write(string index: Int, _ message: inout RecordedMessage) {
    let entry = message.strings[index]
    if entry.symbol != 0 {
      Symbols.write(Int(entry.symbol) &- 1, to: &writer)
      return
    }
    let utf8 = message.strings.utf8(of: entry)
    if utf8.count < Strings.shortLimit, let start = utf8.baseAddress {
      // With its header, which precedes it.
      writer.shortBytes(endingAt: start + utf8.count, count: utf8.count &+ 1)
    } else {
      writer.bytes(utf8)
      Strings.writeHeader(utf8.count, to: &writer)
    }
  }

  /// Writes a key that is a string in the pool: as a symbol, or as a text.
  mutating func write(key index: Int, _ message: inout RecordedMessage) {
    let entry = message.strings[index]
    if entry.symbol > 0 { return writer.text(symbol: Int(entry.symbol) - 1) }
    writer.text(message.strings.utf8(of: entry))
  }

  @inline(__always)
  private mutating func write(keyOf token: Token, _ keys: KeyTable.Reference, _ message: inout RecordedMessage) {
    let string = keys.pointee.string(atSlot: keys.pointee.slot(ofByte: token.key.byte))
    let symbol = string < 0 ? 0 : Int(message.strings[string].symbol)
    if symbol > 0 { return writer.text(symbol: symbol - 1) }
    write(key: keys.pointee.text(ofKey: token.key.byte))
  }

  /// Writes the text of a key that a table knows.
  @inline(__always)
  mutating func write(key text: UnsafeRawBufferPointer) {
    guard text.count <= BackwardWriter.shortLimit, let start = text.baseAddress else { return writer.bytes(text) }
    writer.shortBytes(endingAt: start + text.count, count: text.count)
  }

  /// Writes a scalar or an empty container.
  @inline(never)
  mutating func writeAny(_ token: LooseToken, _ message: inout RecordedMessage) {
    switch token.kind {
    case .string: write(string: token.value, &message)
    case .null: writer.byte(Nils.tag)
    case .wide: message.wideForms[token.value].write(to: &writer)
    case .url:
      write(string: token.value, &message)
      writer.byte(URLs.tag)
    case .nestedNil: Nils.write(level: token.value, to: &writer)
    case .array: writer.byte(Arrays.short)
    case .object, .map, .place: writer.byte(Maps.short)
    case .data: writeRetained(message.retained[token.value])
    default: token.write(to: &writer)
    }
  }

  // MARK: symbols and shapes, which precede the body (FORMAT.md, "Prelude")

  private mutating func writePrelude(_ message: inout RecordedMessage, _ plan: inout MessagePlan) {
    for shape in plan.shapes.reversed() {
      let keys = plan.keys(of: shape, message)
      for key in keys.reversed() {
        writer.reserve(BackwardWriter.margin)
        write(key: key, &message)
      }
      writer.count(keys.count)
    }
    writer.count(plan.shapes.count)
    for string in plan.symbols.reversed() { writer.text(message.strings.utf8(string)) }
    writer.count(plan.symbols.count)
    writer.byte(MessageTables.tag)
  }

  /// Writes the id of the context that the message relies on, before everything else.
  private mutating func writeContext(_ id: UInt32) {
    writer.reserve(BackwardWriter.margin)
    writer.littleEndian(UInt64(id), width: 4)
    writer.byte(MessageTables.contextMessage)
    writer.byte(MessageTables.otherMessage)
  }

  // MARK: arrays as a whole, without tags: of numbers, Bools, and rows of these (FORMAT.md, "Packed arrays")

  /// How many elements are measured to estimate what floating-point numbers take with tags.
  static let sampleSize = 64

  /// Writes the array at `index`, if it may do without tags.
  mutating func writeColumns(
    _ index: Int, _ array: TapeContainer, _ message: inout RecordedMessage, _ plan: inout MessagePlan
  ) -> Bool {
    let count = Int(array.count)
    guard count > 1 else { return false }
    let first = message.tape[index + 1]
    if first.isContainer {
      guard let rows = RowLayout(index + 1, count, &message, &plan) else { return false }
      return writeRows(rows, &message)
    }
    // If one is a container with values of its own, the last is further away.
    guard Int(array.last) == index + count else { return false }
    let tokens = UnsafeBufferPointer(rebasing: message.tape.all[index + 1...index + count])
    switch first.kind {
    case .integer, .longInteger, .double: return writeNumbers(tokens, &message)
    case .true, .false: return writeBools(tokens)
    default: return false
    }
  }

  private mutating func writeNumbers(_ tokens: UnsafeBufferPointer<Token>, _ message: inout RecordedMessage) -> Bool {
    let room = scratch.makeRoom(tokens.count)
    defer { scratch.removeAll() }
    var integers = 0
    for index in tokens.indices {
      let token = tokens[index]
      guard token.isInteger || token.kind == .double else { return false }
      room.cells[index] = message.tape.number(token)
      room.marks[index] = token.isInteger
      if token.isInteger { integers &+= 1 }
    }
    let cells = UnsafeBufferPointer(room.cells)
    if integers == tokens.count {
      cells.withMemoryRebound(to: Int64.self) { writeIntegers($0) }
    } else {
      writeDoubles(cells, integers: integers == 0 ? nil : UnsafeBufferPointer(room.marks), room)
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

  /// Writes floating-point numbers, perhaps with integers among them, in the form that takes the fewest bytes.
  private mutating func writeDoubles(
    _ values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>?, _ room: ColumnScratch.Room
  ) {
    let best = PackedDoubles.best(for: values, integers: integers, cells: room.decimals)
    let length = (best?.stride ?? 0) * values.count + (best?.type == ElementType.float ? 0 : 1)
    let size = 1 + Varint.size(length) + length
    guard let best, size <= Arrays.size(Self.taggedSize(of: values, integers, best, room.decimals)) else {
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

  /// Writes a whole array that was retained. Returns false if it has rows that do better one by one, which are on the
  /// tape then.
  @inline(never)
  private mutating func writeRetained(_ index: Int, _ message: inout RecordedMessage) -> Bool {
    let value = message.retained[message.tape[index].value]
    guard case .rows(let rows) = value else {
      writeRetained(value)
      return true
    }
    if let layout = RowLayout(rows), writeRows(layout, &message) { return true }
    if writeRecords(rows) { return true }
    message.expand(index, in: 0)
    return false
  }

  private mutating func writeRetained(_ value: RetainedValue) {
    switch value {
    case .data(let data): data.withUnsafeBytes { DataValues.write($0, to: &writer) }
    case .doubles(let values):
      values.withUnsafeBufferPointer { buffer in
        buffer.withMemoryRebound(to: UInt64.self) {
          writeDoubles($0, integers: nil, scratch.makeRoom($0.count))
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
    case .rows: preconditionFailure("rows are written by their layout")
    }
  }
}
