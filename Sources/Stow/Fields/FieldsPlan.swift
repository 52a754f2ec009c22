// How a type with a table of fields is decoded: field after field into memory, by a walk over the object, or
// by searching if its keys are not those of the fields in order. If the fields make up a whole value, it is
// then complete in memory; otherwise its initializer makes it from them.

extension StowFields {
  /// Makes the plan of the type; nil if its keys are not known by their bytes.
  static func makeFieldsPlan() -> AnyDecodingPlan? {
    let table = stowFields
    let (type, keys) = table.checkedKeys()
    return CodedField.bytes(of: keys).map { FieldsPlan(table, type, keys, $0) }
  }
}

/// Decodes values by the table of their fields.
final class FieldsPlan<Value: StowFields>: DecodingPlan<Value> {
  private let table: FieldTable<Value>
  private let keys: [any CodingKey]
  private let keyTable: DecodingKeyTable
  private let coders: [FieldCoder]
  /// The fields at their offsets until the initializer takes them, and at their offsets in a value.
  private let packed: UnsafeMutableBufferPointer<CodedField>
  private let stored: UnsafeMutableBufferPointer<CodedField>
  private let layout: (offsets: [Int], size: Int, alignment: Int)
  /// Whether the fields make up a whole value; nil until the first is made.
  @exclusivity(unchecked) private var isWhole: Bool?
  /// Whether no field holds containers or calls `Codable`.
  private let isFlat: Bool
  /// The free list: scratches that no value is being decoded with.
  @exclusivity(unchecked) private var scratches = GrowableBuffer<Unmanaged<FieldsScratch>>(capacity: 1)

  init(
    _ table: FieldTable<Value>, _ keyType: any CodingKey.Type, _ keys: [any CodingKey], _ bytes: [Int]
  ) {
    func learn<Key: CodingKey>(_ key: Key, _ byte: Int) { _ = keyTable.text(of: key, byte: byte) }
    self.table = table
    self.keys = keys
    keyTable = DecodingKeyTable(keyType)
    coders = table.fields.map { $0.makeCoder() }
    layout = table.packedLayout
    packed = CodedField.allocate(coders, bytes, layout.offsets)
    stored = CodedField.allocate(coders, bytes, table.storedOffsets)
    isFlat = coders.allSatisfy { $0.kind != .other }
    super.init()
    for (key, byte) in zip(keys, bytes) { learn(key, byte) }
  }

  deinit {
    packed.deallocate()
    stored.deallocate()
    for scratch in scratches.buffer { scratch.release() }
  }

  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    let isWhole = isWhole == true
    let start = try fill(nil, isWhole ? stored : packed, place, session, node)
    return isWhole ? start.assumingMemoryBound(to: Value.self).move() : make(start)
  }

  override func decode(
    into target: UnsafeMutablePointer<Value>, at place: OpenPlace, from session: DecodingSession,
    _ node: PathNode
  ) throws {
    if isWhole == true {
      _ = try fill(UnsafeMutableRawPointer(target), stored, place, session, node)
    } else {
      target.initialize(to: make(try fill(nil, packed, place, session, node)))
    }
  }

  /// Makes a value from the fields at `start`. The first value checks the table, and shows whether fields
  /// make up a whole value.
  private func make(_ start: UnsafeMutableRawPointer) -> Value {
    let value = table.make(start, layout.offsets)
    if isWhole == nil {
      table.checkFirst(value)
      isWhole = table.isAll(of: value)
    }
    return value
  }

  // MARK: one value

  /// Decodes the fields of the object at a place. If that fails, none is left.
  ///
  /// - Parameter target: Where to put the fields; nil if they are moved out before anything else is decoded.
  /// - Returns: Where the fields are.
  private func fill(
    _ target: UnsafeMutableRawPointer?, _ fields: UnsafeMutableBufferPointer<CodedField>,
    _ place: OpenPlace, _ session: DecodingSession, _ node: PathNode
  ) throws -> UnsafeMutableRawPointer {
    if !session.calls.enter(maximumDepth: session.message.maximumDepth) {
      try session.calls.enterDue(
        maximumDepth: session.message.maximumDepth, ValueDecoder(session, place, node))
    }
    defer { session.calls.leave() }
    let scratch = scratches.count > 0 ? scratches.takeLast() : makeScratch()
    defer { scratches.append(scratch) }
    return try scratch._withUnsafeGuaranteedRef { scratch in
      let start = target ?? scratch.memory
      if let walk = scratch.walk(over: place, keys, isFlat: isFlat, session.message),
        try fill(start, fields, walk, session, node)
      {
        return start
      }
      try search(fields, start, place, scratch, session, node)
      return start
    }
  }

  @inline(never)
  private func makeScratch() -> Unmanaged<FieldsScratch> {
    .passRetained(
      FieldsScratch(
        byteCount: max(layout.size, MemoryLayout<Value>.size),
        alignment: max(layout.alignment, MemoryLayout<Value>.alignment), keyCount: keys.count))
  }

  /// Decodes the fields of an object by a walk over it.
  ///
  /// - Returns: False if this is a map in which something else turned up. Then nothing was decoded.
  private func fill(
    _ start: UnsafeMutableRawPointer, _ fields: UnsafeMutableBufferPointer<CodedField>,
    _ walk: consuming FieldsWalk, _ session: DecodingSession, _ node: PathNode
  ) throws -> Bool {
    let message = session.message
    var done = 0
    do {
      for number in 0..<fields.count {
        // Used in place, because copying all of it would take longer than decoding a value.
        let field = fields.baseAddress.unsafelyUnwrapped + number
        let target = start + field.pointee.offset
        let offset = walk.find(field.pointee.byte, number, keyTable, message)
        if offset >= 0, field.pointee.isInLine {
          do throws(FormatError) {
            let next = try field.pointee.read(target, at: offset, message)
            done &+= 1
            try walk.advance(to: next, from: offset)
          } catch {
            throw failure(error, number, coders[number].keyedScalar, session, node)
          }
        } else if offset < 0, field.pointee.isNilIfAbsent {
          field.pointee.putNil(target)
          done &+= 1
        } else {
          try decode(field.pointee, number, at: offset, to: target, &walk, session, node)
          done &+= 1
        }
      }
      if walk.isComplete { return true }
      destroy(fields, upTo: done, start)
      return false
    } catch {
      destroy(fields, upTo: done, start)
      if walk.isMap { return false }
      throw error
    }
  }

  /// Decodes a value at an offset, one that takes a call; a negative offset says that the key is missing.
  @inline(never)
  private func decode(
    _ field: CodedField, _ number: Int, at offset: Int, to target: UnsafeMutableRawPointer,
    _ walk: inout FieldsWalk, _ session: DecodingSession, _ node: PathNode
  ) throws {
    let message = session.message
    guard offset >= 0 else { return try makeAbsent(number, target, session, node) }
    let scalar = coders[number].keyedScalar
    do throws(FormatError) {
      if let scalar {
        return try walk.advance(to: field.read(scalar, target, at: offset, message), from: offset)
      }
      // Like keyed containers, moves past a value of most types before decoding it.
      try walk.advance(to: message.reader.end(of: offset), from: offset)
    } catch {
      throw failure(error, number, scalar, session, node)
    }
    try decode(field, number, OpenPlace(at: offset), to: target, session, node)
  }

  /// Decodes a value of any type, after the walk has moved past it.
  private func decode(
    _ field: CodedField, _ number: Int, _ place: OpenPlace, to target: UnsafeMutableRawPointer,
    _ session: DecodingSession, _ node: PathNode
  ) throws {
    let mark = session.path.count
    let step = session.path.push(
      PathStep(.byte, parent: node, value: field.byte, keyTable: .passUnretained(keyTable)))
    defer { session.path.pop(to: mark) }
    try coders[number].decode(target, at: place, session, step)
  }

  private func makeAbsent(
    _ number: Int, _ target: UnsafeMutableRawPointer, _ session: DecodingSession, _ node: PathNode
  ) throws {
    if coders[number].makeAbsent(target) { return }
    throw DecodingError.noValue(for: keys[number], path: session.codingPath(node))
  }

  private func destroy(
    _ fields: UnsafeMutableBufferPointer<CodedField>, upTo count: Int, _ start: UnsafeMutableRawPointer
  ) {
    for number in 0..<count { coders[number].destroy(start + fields[number].offset) }
  }

  @inline(never)
  private func failure(
    _ error: FormatError, _ number: Int, _ expected: Any.Type?, _ session: DecodingSession, _ node: PathNode
  ) -> any Error {
    session.error(error, path: session.codingPath(node) + [keys[number]], expected: expected)
  }

  // MARK: searching

  /// Decodes the fields of an object by searching for each in turn.
  private func search(
    _ fields: UnsafeMutableBufferPointer<CodedField>, _ start: UnsafeMutableRawPointer, _ place: OpenPlace,
    _ scratch: FieldsScratch, _ session: DecodingSession, _ node: PathNode
  ) throws {
    let reader = scratch.reader ?? ObjectReader(session, keyTable)
    scratch.reader = reader
    defer { reader.finish() }
    do throws(FormatError) { try open(reader, place, session.message, node) } catch {
      throw session.error(error, at: node, place.offset, expected: [String: Any].self)
    }
    for (number, field) in fields.enumerated() {
      do { try search(field, number, start + field.offset, reader, session, node) } catch {
        destroy(fields, upTo: number, start)
        throw error
      }
    }
  }

  /// Finds and decodes one field, by the steps of a keyed container.
  private func search(
    _ field: CodedField, _ number: Int, _ target: UnsafeMutableRawPointer, _ reader: ObjectReader,
    _ session: DecodingSession, _ node: PathNode
  ) throws {
    func attempt<Result>(
      _ expected: Any.Type? = nil, _ body: () throws(FormatError) -> Result
    ) throws -> Result {
      do throws(FormatError) { return try body() } catch {
        throw failure(error, number, expected, session, node)
      }
    }
    func find<Key: CodingKey>(_ key: Key) throws(FormatError) -> ObjectReader.Found? { try reader.find(key) }
    func read<Scalar: ReadableScalar>(_ type: Scalar.Type, _ found: ObjectReader.Found) throws {
      if field.isOptional, try attempt(nil, { () throws(FormatError) in try reader.passNil(found) }) {
        return target.put(nil as Scalar?)
      }
      let value = try attempt(type) { () throws(FormatError) in try reader.read(type, found) }
      if field.isOptional { target.put(Optional(value)) } else { target.put(value) }
    }
    guard let found = try attempt(nil, { () throws(FormatError) in try find(keys[number]) }) else {
      return try makeAbsent(number, target, session, node)
    }
    if let scalar = coders[number].keyedScalar { return try read(scalar, found) }
    try attempt { () throws(FormatError) in try reader.pass(found) }
    try decode(field, number, reader.place(found), to: target, session, node)
  }

  private func open(
    _ reader: ObjectReader, _ place: OpenPlace, _ message: Message, _ node: PathNode
  ) throws(FormatError) {
    guard let elements = place.elements else {
      guard let object = try ObjectHeader.read(message.reader, at: place.offset) else {
        try fail(.mismatch, at: place.offset)
      }
      return try reader.open(object, node)
    }
    guard let shape = elements.shape, let row = elements.layout.row(place.number) else {
      try fail(.cellMismatch, at: elements.offset)
    }
    reader.open(row: row, of: elements, shape: shape, node)
  }

  // MARK: rows

  override func decode(rows: Elements, from session: DecodingSession, _ node: PathNode) throws -> [Value]? {
    guard isFlat, rows.count > 0, let shape = rows.shape, let columns = rows.layout.columns else {
      return nil
    }
    // The first value shows whether fields make up a whole value. An error in it is found again.
    if isWhole == nil { _ = try? decode(at: OpenPlace(.element(0), of: rows), from: session, node) }
    guard isWhole == true else { return nil }
    var found = [FieldColumn](repeating: .absent, count: coders.count)
    for (number, key) in keys.enumerated() {
      let index = try? session.message.keyIndex(of: key.stringValue, inShape: shape, likely: number)
      guard let index, let column = try? rows.column(index) else { continue }
      found[number] =
        column.constant.map { .constant($0) }
        ?? .cells(
          type: column.type, base: column.base, first: columns.rows.lowerBound + Int(column.offset),
          stride: columns.stride)
    }
    var isComplete = true
    let result = [Value].filled(count: rows.count) { first, initialized in
      let targets = stored.map {
        FieldTarget(
          start: UnsafeMutableRawPointer(first) + $0.offset, stride: MemoryLayout<Value>.stride,
          count: rows.count)
      }
      for (number, coder) in coders.enumerated()
      where !coder.decode(found[number], session.message, to: targets[number]) {
        for done in 0..<number { coders[done].destroy(targets[done], upTo: rows.count) }
        isComplete = false
        return
      }
      initialized = rows.count
    }
    return isComplete ? result : nil
  }
}

// MARK: walks

/// A walk from value to value: over a record that has only the fields, in order, or over a map for as long as
/// it turns out to do so.
struct FieldsWalk: BitwiseCopyable {
  /// The offset of the next value, or of the key before it, and the end of the object.
  private var next: Int
  private let end: Int
  let isMap: Bool
  /// The keys of the record whose values are yet to come, as bits; and the bit of each field's key, by the
  /// numbers of the fields.
  private var marks: UInt64 = 0
  private let bits: UnsafePointer<UInt64>

  init(ofMap body: Range<Int>, _ bits: UnsafePointer<UInt64>) {
    (next, end, isMap) = (body.lowerBound, body.upperBound, true)
    self.bits = bits
  }

  /// Makes a walk over a record; nil if the record is malformed, or has no values.
  init?(
    of record: ObjectHeader, keyCount: Int, _ bits: UnsafePointer<UInt64>, _ reader: ByteReader
  ) {
    (next, end, isMap) = (record.body.lowerBound, record.body.upperBound, false)
    self.bits = bits
    if record.isPartial {
      guard let start = try? Records.endOfPresence(reader, in: record.body, keyCount: keyCount) else {
        return nil
      }
      marks = reader.firstBytes(at: next, upTo: start)
      next = start
    } else {
      marks = keyCount <= end &- next ? .max >> UInt64(64 &- keyCount) : 0
    }
    if marks == 0 { return nil }
  }

  var isComplete: Bool { next == end }

  /// Returns the offset of the value of a field, or −1 if it has no value.
  @inline(__always)
  mutating func find(_ byte: Int, _ number: Int, _ keyTable: DecodingKeyTable, _ message: Message) -> Int {
    if !isMap {
      let bit = bits[number]
      guard marks & bit != 0 else { return -1 }
      marks ^= bit
      return next
    }
    guard next < end, let text = keyTable.knownText(ofByte: byte), text.stands(at: next, in: message.reader)
    else { return -1 }
    return next &+ text.bytes.count
  }

  /// Moves past the value at `start`, which ends at `offset`.
  mutating func advance(to offset: Int, from start: Int) throws(FormatError) {
    guard offset <= end else { try fail(.malformed, at: start) }
    next = offset
    if marks == 0, !isMap, offset != end { try fail(.malformed, at: offset) }
  }
}

/// The working memory for decoding the fields of one value. Nested values have one each.
final class FieldsScratch {
  /// Holds the fields until they are moved out.
  let memory: UnsafeMutableRawPointer
  /// The reader for objects that are searched; nil before the first.
  @exclusivity(unchecked) var reader: ObjectReader?
  /// The last shape, its source, and the number of its keys; 0 if they are not those of fields, in order.
  @exclusivity(unchecked) private var shape = (number: -1, source: 0, keyCount: 0)
  /// The bits of the fields' keys in that shape, by the numbers of the fields.
  private let bits: UnsafeMutablePointer<UInt64>

  init(byteCount: Int, alignment: Int, keyCount: Int) {
    memory = .allocate(byteCount: byteCount, alignment: alignment)
    bits = .allocate(capacity: keyCount)
    bits.initialize(repeating: 0, count: keyCount)
  }

  deinit {
    memory.deallocate()
    bits.deallocate()
  }

  /// Returns a walk over the object at a place; nil if the object must be searched.
  ///
  /// - Parameter isFlat: Whether a map may be walked over: if it must be searched after all, its values are
  ///   decoded again.
  func walk(over place: OpenPlace, _ keys: [any CodingKey], isFlat: Bool, _ message: Message) -> FieldsWalk? {
    guard let offset = place.tagged, let object = try? ObjectHeader.read(message.reader, at: offset) else {
      return nil
    }
    guard let shape = object.shape else { return isFlat ? FieldsWalk(ofMap: object.body, bits) : nil }
    guard shape < message.tables.shapeCount else { return nil }
    if shape != self.shape.number || message.source(ofShape: shape) != self.shape.source {
      learn(shape, keys, message)
    }
    guard self.shape.keyCount > 0 else { return nil }
    return FieldsWalk(of: object, keyCount: self.shape.keyCount, bits, message.reader)
  }

  @inline(never)
  private func learn(_ shape: Int, _ keys: [any CodingKey], _ message: Message) {
    var count = 0
    for (number, key) in keys.enumerated() {
      let index = try? message.keyIndex(of: key.stringValue, inShape: shape, likely: count)
      bits[number] = index == count && count < 64 ? 1 << UInt64(count) : 0
      if index == count { count += 1 }
    }
    let isInOrder = count <= 64 && count == message.tables.keyCount(ofShape: shape)
    self.shape = (shape, message.source(ofShape: shape), isInOrder ? count : 0)
  }
}
