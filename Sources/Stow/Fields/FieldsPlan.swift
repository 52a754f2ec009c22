// How a type with a table of fields is decoded: field after field into memory. A value of which the fields are all there is
// stands there complete; another is made of them by its initializer.

extension StowFields {
  /// The plan of the type; nil if its keys are not known by their bytes.
  static func makeFieldsPlan() -> AnyDecodingPlan? {
    let table = stowFields
    let (type, keys) = table.checkedKeys()
    return CodedField.bytes(of: keys).map { FieldsPlan(table, type, keys, $0) }
  }
}

/// Decodes values by the table of their fields.
final class FieldsPlan<Value: StowFields>: DecodingPlan<Value> {
  private let table: FieldTable<Value>
  private let keyType: any CodingKey.Type
  private let keys: [any CodingKey]
  private let coders: [FieldCoder]
  /// The fields, where they stand until the initializer takes them; and where they lie in a value.
  private let packed: UnsafeMutableBufferPointer<CodedField>
  private let stored: UnsafeMutableBufferPointer<CodedField>
  private let layout: (offsets: [Int], size: Int, alignment: Int)
  /// Whether no field holds containers or calls `Codable`.
  private let isFlat: Bool
  /// Whether the fields are all there is of a value; nil until the first was made.
  @exclusivity(unchecked) private var isWhole: Bool?
  /// For values that stand within each other, of which `depth` are being decoded.
  @exclusivity(unchecked) private var objects = GrowableBuffer<Unmanaged<FieldsObject>>(capacity: 1)
  @exclusivity(unchecked) private var depth = 0

  init(
    _ table: FieldTable<Value>, _ keyType: any CodingKey.Type, _ keys: [any CodingKey], _ bytes: [Int]
  ) {
    self.table = table
    self.keyType = keyType
    self.keys = keys
    coders = table.fields.map { $0.accept(CoderMaker()) }
    layout = table.packedLayout
    packed = CodedField.allocate(coders, bytes, layout.offsets)
    stored = CodedField.allocate(coders, bytes, table.storedOffsets ?? [])
    isFlat = coders.allSatisfy { $0.kind != .other }
  }

  deinit {
    packed.deallocate()
    stored.deallocate()
    for object in objects.buffer { object.release() }
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

  /// Makes a value of the fields at `start`. The first tells whether the table is right, and what values consist of.
  private func make(_ start: UnsafeMutableRawPointer) -> Value {
    let value = table.make(start, layout.offsets)
    if isWhole == nil {
      table.checkFirst(value)
      isWhole = table.isAll(of: value)
    }
    return value
  }

  // MARK: one value

  /// Decodes the fields of the object at a place.
  ///
  /// - Parameter target: Where they are to stand; nil if they are taken away before anything else is decoded.
  /// - Returns: Where they stand.
  private func fill(
    _ target: UnsafeMutableRawPointer?, _ fields: UnsafeMutableBufferPointer<CodedField>,
    _ place: OpenPlace, _ session: DecodingSession, _ node: PathNode
  ) throws -> UnsafeMutableRawPointer {
    if !session.calls.enter(maximumDepth: session.message.maximumDepth) {
      try session.calls.enterDue(
        maximumDepth: session.message.maximumDepth, ValueDecoder(session, place, node))
    }
    defer { session.calls.leave() }
    if depth == objects.count { addObject(session) }
    let object = objects[depth]
    depth &+= 1
    defer { depth &-= 1 }
    return try object._withUnsafeGuaranteedRef {
      try fill(target ?? $0.memory, fields, $0, place, session, node)
    }
  }

  private func fill(
    _ start: UnsafeMutableRawPointer, _ fields: UnsafeMutableBufferPointer<CodedField>,
    _ object: FieldsObject, _ place: OpenPlace, _ session: DecodingSession, _ node: PathNode
  ) throws -> UnsafeMutableRawPointer {
    if object.beginWalk(place, isFlat: isFlat, session, node),
      try fillInLine(start, fields, object, session)
    {
      return start
    }
    defer { object.reader.finish() }
    try object.open(place, session, node)
    var count = 0
    do {
      while count < fields.count {
        let offset = try object.search(fields[count], session)
        try Self.decode(fields[count], at: offset, of: object, to: start + fields[count].offset, session)
        count &+= 1
      }
    } catch {
      destroy(fields[..<count], start)
      throw error
    }
    return start
  }

  /// Decodes the fields of an object that is walked over. Where the walk is, is at hand as long as no coder is called.
  ///
  /// - Returns: False if this is a map in which something else turned up. Nothing was decoded then.
  private func fillInLine(
    _ start: UnsafeMutableRawPointer, _ fields: UnsafeMutableBufferPointer<CodedField>,
    _ object: FieldsObject, _ session: DecodingSession
  ) throws -> Bool {
    let message = session.message
    var walk = object.walk
    var count = 0
    do {
      while count < fields.count {
        // Where it is, as a copy of all of it would take longer than a value.
        let field = fields.baseAddress.unsafelyUnwrapped + count
        let target = start + field.pointee.offset
        let offset = walk.find(field, object.reader.keyTable, message)
        if offset >= 0, field.pointee.isInLine {
          var next = offset
          do throws(FormatError) {
            try field.pointee.read(message, at: offset, next: &next, to: target)
            count &+= 1
            try walk.advance(to: next, from: offset)
          } catch {
            throw object.failure(error, field.pointee, field.pointee.expected(at: offset, message), session)
          }
        } else if offset < 0, field.pointee.isNilIfAbsent {
          field.pointee.putNil(target)
          count &+= 1
        } else {
          object.walk = walk
          try Self.decode(field.pointee, at: offset, of: object, to: target, session)
          walk = object.walk
          count &+= 1
        }
      }
    } catch {
      destroy(fields[..<count], start)
      if walk.isMap { return false }
      throw error
    }
    if walk.isComplete { return true }
    destroy(fields[...], start)
    return false
  }

  /// Decodes the value of a field that was found, or is missing, by its coder.
  @inline(never)
  private static func decode(
    _ field: CodedField, at offset: Int, of object: FieldsObject, to target: UnsafeMutableRawPointer,
    _ session: DecodingSession
  ) throws {
    try field.coder._withUnsafeGuaranteedRef {
      if offset >= 0 {
        try $0.decode(field, at: offset, of: object, to: target, session)
      } else if !$0.makeAbsent(target) {
        throw object.missing(field, session)
      }
    }
  }

  private func destroy(
    _ fields: Slice<UnsafeMutableBufferPointer<CodedField>>, _ start: UnsafeMutableRawPointer
  ) {
    for field in fields { coders[field.number].destroy(FieldTarget(start: start + field.offset)) }
  }

  @inline(never)
  private func addObject(_ session: DecodingSession) {
    func keyTable<Key: CodingKey>(_ type: Key.Type) -> DecodingKeyTable {
      session.types.pool(of: type).pointee.keyTable
    }
    let size = max(layout.size, MemoryLayout<Value>.size)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: size, alignment: max(layout.alignment, MemoryLayout<Value>.alignment))
    let object = FieldsObject(ObjectReader(session, keyTable(keyType)), keys, memory)
    objects.append(.passRetained(object))
  }

  // MARK: rows

  override func decode(rows: Elements, from session: DecodingSession, _ node: PathNode) throws -> [Value]? {
    guard rows.count > 0, let columns = rows.layout.columns, coders.allSatisfy({ $0.decodeRows != nil })
    else { return nil }
    // The first tells what values consist of. What is wrong with it is found again.
    let first = OpenPlace(.element(0), of: rows)
    if isWhole == nil { _ = try? decode(at: first, from: session, node) }
    guard isWhole == true else { return nil }
    if objects.count == 0 { addObject(session) }
    let object = objects[0].takeUnretainedValue()
    defer { object.reader.finish() }
    try object.open(first, session, node)
    let found = try? stored.map { field in
      let number = try object.search(field, session)
      return try FieldColumn(number < 0 ? nil : rows.column(number), columns)
    }
    guard let found else { return nil }
    var isComplete = true
    let result = [Value].filled(count: rows.count) { first, initialized in
      let targets = stored.map {
        FieldTarget(
          start: UnsafeMutableRawPointer(first) + $0.offset, stride: MemoryLayout<Value>.stride,
          count: rows.count)
      }
      for (number, coder) in coders.enumerated()
      where coder.decodeRows?(found[number], session.message, targets[number]) != true {
        for done in 0..<number { coders[done].destroy(targets[done]) }
        isComplete = false
        return
      }
      initialized = rows.count
    }
    return isComplete ? result : nil
  }
}

/// A walk from value to value of a record that has no others than the fields, in their order, or of a map for as long as it
/// turns out to have.
struct FieldsWalk: BitwiseCopyable {
  /// The next value, or the key before it, and where the object ends.
  private(set) var next = 0
  private var end = 0
  let isMap: Bool
  /// The keys of the record whose values are to come; by the numbers of the fields: the bits of their keys.
  private var marks: UInt64 = 0
  private let bits: UnsafePointer<UInt64>

  init(ofMap body: Range<Int>, _ bits: UnsafePointer<UInt64>) {
    (next, end, isMap) = (body.lowerBound, body.upperBound, true)
    self.bits = bits
  }

  /// A walk over a record; nil if the record is at fault, or has no values.
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

  /// Where the value of a field stands, or −1 if it has none.
  @inline(__always)
  mutating func find(_ field: UnsafePointer<CodedField>, _ keyTable: DecodingKeyTable, _ message: Message)
    -> Int
  {
    if !isMap {
      let bit = bits[field.pointee.number]
      guard marks & bit != 0 else { return -1 }
      marks ^= bit
      return next
    }
    guard next < end, let text = keyTable.knownText(ofByte: field.pointee.byte),
      text.stands(at: next, in: message.reader)
    else { return -1 }
    return next &+ text.bytes.count
  }

  /// Passes the value that was found at `start`, and ends at `offset`.
  mutating func advance(to offset: Int, from start: Int) throws(FormatError) {
    guard offset <= end else { try fail(.malformed, at: start) }
    next = offset
    if marks == 0, !isMap, offset != end { try fail(.malformed, at: offset) }
  }
}

/// An object whose fields are decoded, and then another. Finds their values, by a walk or by an `ObjectReader`, and throws what
/// a keyed container would.
final class FieldsObject {
  let reader: ObjectReader
  /// Where the fields stand until they are taken away.
  let memory: UnsafeMutableRawPointer
  private let keys: [any CodingKey]
  @exclusivity(unchecked) private var node = PathNode.top
  @exclusivity(unchecked) private var isWalk = false
  @exclusivity(unchecked) var walk: FieldsWalk
  /// A shape, what defined it, and how many keys it has; none if its keys are not those of fields, in their order.
  @exclusivity(unchecked) private var shape = (number: -1, source: 0, keyCount: 0)
  private let bits: UnsafeMutablePointer<UInt64>

  init(_ reader: ObjectReader, _ keys: [any CodingKey], _ memory: UnsafeMutableRawPointer) {
    self.reader = reader
    self.keys = keys
    self.memory = memory
    bits = .allocate(capacity: keys.count)
    walk = FieldsWalk(ofMap: 0..<0, bits)
  }

  deinit {
    memory.deallocate()
    bits.deallocate()
  }

  /// Begins a walk over the object at a place; false if that must be searched.
  ///
  /// - Parameter isFlat: Whether a map may be walked over: if it must be searched after all, what is in it is decoded again.
  func beginWalk(_ place: OpenPlace, isFlat: Bool, _ session: DecodingSession, _ node: PathNode) -> Bool {
    let message = session.message
    isWalk = false
    guard let offset = place.tagged, let object = try? ObjectHeader.read(message.reader, at: offset) else {
      return false
    }
    self.node = node
    if let shape = object.shape {
      guard shape < message.tables.shapeCount else { return false }
      if shape != self.shape.number || message.source(ofShape: shape) != self.shape.source {
        learn(shape, message)
      }
      guard self.shape.keyCount > 0,
        let walk = FieldsWalk(of: object, keyCount: self.shape.keyCount, bits, message.reader)
      else { return false }
      self.walk = walk
    } else {
      guard isFlat else { return false }
      walk = FieldsWalk(ofMap: object.body, bits)
    }
    isWalk = true
    return true
  }

  @inline(never)
  private func learn(_ shape: Int, _ message: Message) {
    var count = 0
    for (number, key) in keys.enumerated() {
      let index = try? message.keyIndex(of: key.stringValue, inShape: shape, likely: count)
      bits[number] = index == count && count < 64 ? 1 << UInt64(count) : 0
      if index == count { count += 1 }
    }
    let isInOrder = count <= 64 && count == message.tables.keyCount(ofShape: shape)
    self.shape = (shape, message.source(ofShape: shape), isInOrder ? count : 0)
  }

  /// Begins to search the object at a place.
  func open(_ place: OpenPlace, _ session: DecodingSession, _ node: PathNode) throws {
    self.node = node
    isWalk = false
    do throws(FormatError) { try open(place, session.message) } catch {
      throw session.error(error, at: node, place.offset, expected: [String: Any].self)
    }
  }

  private func open(_ place: OpenPlace, _ message: Message) throws(FormatError) {
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

  // MARK: values

  /// Where the value of a field stands in the object that is searched, or −1 if it has none.
  func search(_ field: CodedField, _ session: DecodingSession) throws -> Int {
    func find<Key: CodingKey>(_ key: Key) throws(FormatError) -> Int { try reader.find(key) }
    do throws(FormatError) { return try find(keys[field.number]) } catch {
      throw failure(error, field, nil, session)
    }
  }

  /// Reads the scalar at an offset that was found, and passes it.
  func read<Value: ReadableScalar>(
    _ field: CodedField, at offset: Int, _ session: DecodingSession
  ) throws -> Value {
    do throws(FormatError) {
      guard isWalk else { return try reader.read(Value.self, at: offset) }
      var next = offset
      let value = try Value.read(session.message, at: offset, next: &next)
      try walk.advance(to: next, from: offset)
      return value
    } catch {
      throw failure(error, field, Value.self, session)
    }
  }

  /// Passes the value at an offset that was found.
  func pass(_ field: CodedField, _ offset: Int, _ session: DecodingSession) throws {
    if !isWalk, reader.table != nil { return }
    do throws(FormatError) {
      guard isWalk else { return try reader.pass(offset) }
      try walk.advance(to: session.message.reader.end(of: offset), from: offset)
    } catch {
      throw failure(error, field, nil, session)
    }
  }

  /// The place of a value that was found.
  func place(_ offset: Int) -> OpenPlace {
    guard !isWalk, let table = reader.table else { return OpenPlace(at: offset) }
    return OpenPlace(table.layout.cell(offset, ofRowAt: reader.row), of: table)
  }

  /// Decodes a value of any type that was passed.
  func decode<Value: Decodable>(
    _ field: CodedField, at offset: Int, to target: UnsafeMutablePointer<Value>, _ session: DecodingSession
  ) throws {
    let mark = session.path.count
    let node = session.path.push(
      PathStep(.byte, parent: node, value: field.byte, keyTable: .passUnretained(reader.keyTable)))
    defer { session.path.pop(to: mark) }
    try session.decode(into: target, session.types.entry(for: Value.self), at: place(offset), node)
  }

  @inline(never)
  func failure(
    _ error: FormatError, _ field: CodedField, _ type: Any.Type?, _ session: DecodingSession
  ) -> any Error {
    session.error(error, path: session.codingPath(node) + [keys[field.number]], expected: type)
  }

  @inline(never)
  func missing(_ field: CodedField, _ session: DecodingSession) -> any Error {
    DecodingError.noValue(for: keys[field.number], path: session.codingPath(node))
  }
}
