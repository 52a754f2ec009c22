// How the objects of a type with a table of fields are decoded: field after field into memory, by code that does not
// know the type.
//
//     a record or a map ──▶ run from value to value, as far as its keys are the fields, in order
//     everything else ──▶ search each field as keyed containers do

extension StowFields {
  /// Makes the plan of the type; nil if its keys are not known by their bytes, if the table does not name them, or if
  /// their former names are ambiguous. Then its own `init(from:)` decodes it.
  static func makeFieldsDecodingPlan() -> AnyDecodingPlan? {
    let table = stowFields
    guard let fields = try? FieldProgram(table), FormerNames(of: fields.keyType)?.conflict == nil else { return nil }
    return FieldsDecodingPlan<Self>(DecodingProgram(table, fields))
  }

  /// Returns the program of the type; nil if it is decoded otherwise.
  static func decodingProgram(in session: DecodingSession) -> DecodingProgram? {
    let entry = session.plan(of: Self.self)
    if entry.isPlain { return nil }
    return entry.withPlan(as: AnyDecodingPlan.self) { ($0 as? FieldsDecodingPlan<Self>)?.program }
  }
}

/// Decodes the values of a type with a table of fields, by a program that does not know the type.
final class FieldsDecodingPlan<Value: StowFields>: DecodingPlan<Value> {
  let program: DecodingProgram
  /// Memory for a value that no call uses.
  @exclusivity(unchecked) private var spare: UnsafeMutablePointer<Value>?

  init(_ program: DecodingProgram) { self.program = program }

  deinit { spare?.deallocate() }

  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    let memory = spare ?? .allocate(capacity: 1)
    spare = nil
    defer {
      // A value may be decoded while another of its type is.
      spare?.deallocate()
      spare = memory
    }
    try program.decode(at: place, into: memory, session, node)
    return memory.move()
  }

  override func decode(
    into target: UnsafeMutablePointer<Value>, at place: OpenPlace, from session: DecodingSession,
    _ node: PathNode
  ) throws {
    try program.decode(at: place, into: target, session, node)
  }

  override func decode(_ count: Int, from start: Int, session: DecodingSession, _ node: PathNode) throws -> [Value]? {
    try .filled(count: count) { first, done in
      try program.withElements(from: start, session, node) { next in
        while done < count {
          try next(first + done)
          done &+= 1
        }
      }
    }
  }

  override func decode(rows: Elements, from session: DecodingSession, _ node: PathNode) throws -> [Value]? {
    guard program.areCells else { return nil }
    // The first value shows whether fields make up a whole value. An error in it is found again.
    if program.isWhole == nil, rows.count > 0 {
      _ = try? decode(at: OpenPlace(.element(0), of: rows), from: session, node)
    }
    let result = [Value].filled(count: rows.count) { first, done in
      if program.decode(rows: rows, into: first, session, node) { done = rows.count }
    }
    return result.isEmpty ? nil : result
  }
}

/// Decodes the values of one type by the program of its fields. Sessions have programs of their own.
final class DecodingProgram {
  let fields: FieldProgram
  private let count: Int
  /// The instructions, which get to know the programs of their types.
  let instructions: UnsafeMutablePointer<FieldInstruction>
  let keyTable: DecodingKeyTable
  private let texts: UnsafeMutablePointer<SearchedText>
  private let memos: [EnumerationMemo?]
  /// The layout of fields that are not decoded in their places in a value.
  private let packed: (offsets: [Int], size: Int, alignment: Int)
  private let witnesses: FieldWitnesses
  private let isAll: (UnsafeRawPointer) -> Bool
  let stride: Int
  /// Whether all fields may be cells of rows.
  let areCells: Bool
  // Unchecked because each value looks here. Accesses call nothing that comes back here.
  @exclusivity(unchecked) private var state = State()

  struct State: ~Copyable {
    /// Whether the fields make up a whole value; nil until the first is made.
    var isWhole: Bool?
    /// The last shape of records, and its source.
    var shape = (number: -1, source: 0)
    var keyCount = 0
    /// The fields of its keys, as bits, and one more for unknown keys; none if its records must be searched.
    var fields: UInt64 = 0
    /// The numbers of these fields, if they are not those of the keys.
    var order = GrowableBuffer<Int>(capacity: 16)
    /// Readers that search no object.
    var readers: [ObjectReader] = []
  }

  var isWhole: Bool? { state.isWhole }

  init<Root: StowFields>(_ table: FieldTable<Root>, _ fields: FieldProgram) {
    self.fields = fields
    (count, instructions) = (fields.keys.count, fields.instructions.baseAddress.unsafelyUnwrapped)
    keyTable = DecodingKeyTable(fields.keyType)
    texts = .allocate(capacity: max(count, 1))
    packed = AnyField.packedLayout(of: table.fields)
    witnesses = table.witnesses
    isAll = { table.isAll(of: $0.assumingMemoryBound(to: Root.self).pointee) }
    stride = MemoryLayout<Root>.stride
    areCells = fields.coders.allSatisfy { $0.scalar != nil || $0.operation == .enumeration }
    memos = fields.coders.map { $0.operation == .enumeration ? EnumerationMemo() : nil }
    for (number, key) in fields.keys.enumerated() {
      instructions[number].memo = memos[number].map { .passUnretained($0) }
      (texts + number).initialize(to: keyTable.text(of: key, byte: instructions[number].byte))
    }
  }

  deinit { texts.deallocate() }

  // MARK: one value

  /// Decodes the value at a place into uninitialized memory, and returns where an object with a tag ends. The first
  /// value shows whether fields make up a whole value.
  @discardableResult
  func decode(
    at place: OpenPlace, into target: UnsafeMutableRawPointer, _ session: DecodingSession, _ node: PathNode
  ) throws -> Int {
    if isWhole == true { return try decodeFields(at: place, into: target, isWhole: true, session, node) }
    return try decodePacked(at: place, into: target, session, node)
  }

  @inline(never)
  private func decodePacked(
    at place: OpenPlace, into target: UnsafeMutableRawPointer, _ session: DecodingSession, _ node: PathNode
  ) throws -> Int {
    try withUnsafeTemporaryAllocation(byteCount: max(packed.size, 1), alignment: packed.alignment) {
      guard let memory = $0.baseAddress else { return 0 }
      let end = try decodeFields(at: place, into: memory, isWhole: false, session, node)
      witnesses.make(memory, packed.offsets, target)
      if isWhole == nil { state.isWhole = isAll(target) }
      return end
    }
  }

  /// Returns where the first value of an object is, or its key, and the fields that a record has, as bits; nil if the
  /// object must be searched.
  @inline(__always)
  private func walk(over object: ObjectHeader, _ message: Message) -> (next: Int, fields: UInt64)? {
    let (start, end) = (object.body.lowerBound, object.body.upperBound)
    guard let number = object.shape else { return (start, .max) }
    if number != state.shape.number || message.source(ofShape: number) != state.shape.source {
      guard number < message.tables.shapeCount else { return nil }
      learn(number, message)
    }
    if !object.isPartial { return state.fields == 0 || state.keyCount > end &- start ? nil : (start, state.fields) }
    guard
      let values = try? Records.endOfPresence(message.reader, in: object.body, keyCount: state.keyCount)
    else { return nil }
    let fields = state.fields & fields(ofKeys: message.reader.firstBytes(at: start, upTo: values))
    return fields == 0 ? nil : (values, fields)
  }

  /// Returns the bits of the fields of some keys of the shape.
  @inline(__always)
  private func fields(ofKeys keys: UInt64) -> UInt64 {
    if state.order.count == 0 { return keys }
    var fields: UInt64 = 0
    for index in 0..<state.order.count {
      let bit = keys &>> UInt64(truncatingIfNeeded: index) & 1
      fields |= bit &<< UInt64(truncatingIfNeeded: state.order.base[index])
    }
    return fields
  }

  /// Learns a shape. Its records can be walked over if its keys are fields in order, and unknown ones after these.
  @inline(never)
  private func learn(_ number: Int, _ message: Message) {
    state.shape = (number, message.source(ofShape: number))
    (state.keyCount, state.fields) = (message.tables.keyCount(ofShape: number), 0)
    state.order.removeAll()
    guard state.keyCount < 64, count < 64 else { return }
    var fields: UInt64 = 0
    for (field, key) in self.fields.keys.enumerated() {
      let index = try? message.keyIndex(of: key.stringValue, inShape: number, likely: state.order.count)
      guard let index else { continue }
      guard index == state.order.count else { return state.order.removeAll() }
      state.order.append(field)
      fields |= 1 &<< UInt64(truncatingIfNeeded: field)
    }
    let known = state.order.count
    // The value of an unknown key may be that of a field, under its former name.
    if known < state.keyCount, keyTable.formerNames != nil { return state.order.removeAll() }
    for _ in known..<state.keyCount { state.order.append(63) }
    state.fields = known < state.keyCount ? fields | 1 &<< 63 : fields
    if fields == 1 &<< UInt64(truncatingIfNeeded: known) &- 1, known == state.keyCount { state.order.removeAll() }
  }

  // MARK: the program

  // Not inlined: the loop would count fields, although only errors need their numbers.
  @inline(never)
  private func number(of field: UnsafePointer<FieldInstruction>) -> Int {
    UnsafePointer(instructions).distance(to: field)
  }

  /// Decodes field after field. If the next key of a map is not that of the next field, searches for this one and the
  /// rest. Returns where an object with a tag ends. If it throws, it has deinitialized all fields.
  private func decodeFields(
    at place: OpenPlace, into start: UnsafeMutableRawPointer, isWhole: Bool, _ session: DecodingSession,
    _ node: PathNode
  ) throws -> Int {
    let (message, reader) = (session.message, session.message.reader)
    if let reason = session.calls.enter(maximumDepth: message.maximumDepth) {
      throw DecodingError.unreadable(reason, path: ValueDecoder(session, place, node).codingPath)
    }
    defer { session.calls.leave() }
    guard let offset = place.tagged, let object = try? ObjectHeader.read(reader, at: offset),
      let walk = walk(over: object, message)
    else {
      try search(place, from: instructions, next: nil, into: start, isWhole, session, node)
      return place.tagged.flatMap { try? reader.end(of: $0) } ?? 0
    }
    let (isMap, end) = (object.shape == nil, object.body.upperBound)
    // Used in place, because copying all of an instruction would take longer than decoding a value.
    var (field, text) = (UnsafePointer(instructions), UnsafePointer(texts))
    var (next, present) = walk
    let last = field + count
    do {
      while field < last {
        let target = start + (isWhole ? field.pointee.stored : field.pointee.packed)
        let key = next
        var isThere = next < end
        if !isMap {
          isThere = present & 1 == 1
          present &>>= 1
        } else if isThere {
          guard text.pointee.stands(at: next, in: reader) else { break }
          next &+= text.pointee.bytes.count
        }
        guard isThere else {
          try makeAbsent(field, target, session, node)
          (field, text) = (field + 1, text + 1)
          continue
        }
        let (offset, isOptional) = (next, field.pointee.isOptional)
        do throws(FormatError) {
          let tag = try reader.byte(at: offset)
          let isNil = isOptional && (tag == Nils.tag || tag == Nils.nested)
          switch isNil ? .scalar : field.pointee.operation {
          case .double: target.put(try Double.read(message, at: offset, next: &next), isOptional: isOptional)
          case .float:
            if let float = try Floats.float(reader, at: offset, next: &next) {
              target.put(float, isOptional: isOptional)
            } else {
              target.put(try Float.read(message, at: offset, next: &next), isOptional: isOptional)
            }
          case .bool: target.put(try Bool.read(message, at: offset, next: &next), isOptional: isOptional)
          case .string:
            if let string = try Strings.readShort(reader, at: offset, next: &next) {
              target.put(string, isOptional: isOptional)
            } else {
              target.put(try String.read(message, at: offset, next: &next), isOptional: isOptional)
            }
          case .int8: target.put(try Int8.read(reader, at: offset, next: &next), isOptional: isOptional)
          case .int16: target.put(try Int16.read(reader, at: offset, next: &next), isOptional: isOptional)
          case .int32: target.put(try Int32.read(reader, at: offset, next: &next), isOptional: isOptional)
          case .int64: target.put(try Int64.read(reader, at: offset, next: &next), isOptional: isOptional)
          case .uint8: target.put(try UInt8.read(reader, at: offset, next: &next), isOptional: isOptional)
          case .uint16: target.put(try UInt16.read(reader, at: offset, next: &next), isOptional: isOptional)
          case .uint32: target.put(try UInt32.read(reader, at: offset, next: &next), isOptional: isOptional)
          case .uint64: target.put(try UInt64.read(reader, at: offset, next: &next), isOptional: isOptional)
          case _ where field.pointee.isReadFirst: next = try readRare(field, target, at: offset, message)
          default: next = try reader.end(of: offset)
          }
          if next >= end || present == 0 { try checkEnd(of: field, target, at: key, next, end, isLast: present == 0) }
        } catch {
          throw failure(error, number(of: field), at: offset, session, node)
        }
        if !field.pointee.isReadFirst {
          try decode(.init(mutating: field), at: OpenPlace(at: offset), to: target, session, node)
        }
        (field, text) = (field + 1, text + 1)
      }
    } catch {
      destroy(number(of: field), at: start, isWhole)
      throw error
    }
    if field < last { try search(place, from: field, next: next, into: start, isWhole, session, node) }
    return end
  }

  /// Checks where a value ends, the last one exactly at the end of the object. If that fails, what was read of it goes.
  @inline(never)
  private func checkEnd(
    of field: UnsafePointer<FieldInstruction>, _ target: UnsafeMutableRawPointer, at key: Int, _ next: Int,
    _ end: Int, isLast: Bool
  ) throws(FormatError) {
    if isLast ? next == end : next <= end { return }
    if field.pointee.isReadFirst { destroy(field, at: target) }
    try fail(.malformed, at: next <= end ? next : key)
  }

  @inline(__always)
  private func makeAbsent(
    _ field: UnsafePointer<FieldInstruction>, _ target: UnsafeMutableRawPointer, _ session: DecodingSession,
    _ node: PathNode
  ) throws {
    if field.pointee.isNilIfAbsent { return field.pointee.putNil(target) }
    guard let makeAbsent = field.pointee.coder._withUnsafeGuaranteedRef({ $0.makeAbsent }) else {
      let key = fields.keys[number(of: field)]
      throw DecodingError.noValue(for: key, path: session.codingPath(node))
    }
    makeAbsent(target)
  }

  /// Decodes a value that has been moved past.
  func decode(
    _ field: UnsafeMutablePointer<FieldInstruction>, at place: OpenPlace, to target: UnsafeMutableRawPointer,
    _ session: DecodingSession, _ node: PathNode
  ) throws {
    if let nested = field.pointee.nested, let offset = place.tagged {
      let isDone = try withStep(to: field, session, node) { step in
        try nested._withUnsafeGuaranteedRef { try $0.decode(field, at: offset, into: target, session, step) }
      }
      if isDone { return }
    }
    let message = session.message
    var key: EnumerationMemo.Key?
    if let offset = place.tagged {
      if let memo = field.pointee.memo {
        key = try? EnumerationMemo.key(at: offset, message)
        if let key, let byte = memo._withUnsafeGuaranteedRef({ $0[key] }) {
          return target.storeBytes(of: byte, as: UInt8.self)
        }
      } else if readScalars(field, target, at: offset, message) {
        return
      }
    }
    try withStep(to: field, session, node) { step in
      try field.pointee.coder._withUnsafeGuaranteedRef { try $0.decode(target, place, session, step) }
      if let key, let memo = field.pointee.memo {
        memo._withUnsafeGuaranteedRef { $0.note(target.load(as: UInt8.self), for: key) }
      }
      if field.pointee.nested == nil {
        field.pointee.nested = field.pointee.coder._withUnsafeGuaranteedRef {
          $0.table?.decodingProgram(in: session).map { .passUnretained($0) }
        }
      }
    }
  }

  @inline(__always)
  private func withStep<Result>(
    to field: UnsafePointer<FieldInstruction>, _ session: DecodingSession, _ node: PathNode,
    _ body: (PathNode) throws -> Result
  ) rethrows -> Result {
    let mark = session.path.count
    defer { session.path.pop(to: mark) }
    return try body(
      session.path.push(
        PathStep(.byte, parent: node, value: field.pointee.byte, keyTable: .passUnretained(keyTable))))
  }

  /// Reads a scalar, or an array of scalars. Returns false for other values, and for errors, which the plan reports.
  private func readScalars(
    _ field: UnsafePointer<FieldInstruction>, _ target: UnsafeMutableRawPointer, at offset: Int,
    _ message: Message
  ) -> Bool {
    let isOptional = field.pointee.isOptional
    return field.pointee.coder._withUnsafeGuaranteedRef { coder in
      if coder.operation == .scalars, let element = coder.element {
        return element.read(arrayAt: offset, message, into: target, isOptional: isOptional)
      }
      guard let scalar = coder.scalar else { return false }
      return (try? scalar.read(message, at: offset, into: target, isOptional: isOptional)) != nil
    }
  }

  /// Reads a nil, or a scalar from another kind of value than it is mostly written as.
  @inline(never)
  private func readRare(
    _ field: UnsafePointer<FieldInstruction>, _ target: UnsafeMutableRawPointer, at offset: Int,
    _ message: Message
  ) throws(FormatError) -> Int {
    guard let scalar = field.pointee.coder._withUnsafeGuaranteedRef({ $0.scalar }) else {
      preconditionFailure("a field that is no scalar")
    }
    return try scalar.read(message, at: offset, into: target, isOptional: field.pointee.isOptional)
  }

  /// Deinitializes the first fields of a value that could not be decoded.
  @inline(never)
  private func destroy(_ count: Int, at start: UnsafeMutableRawPointer, _ isWhole: Bool) {
    for field in instructions..<instructions + count {
      destroy(field, at: start + (isWhole ? field.pointee.stored : field.pointee.packed))
    }
  }

  private func destroy(_ field: UnsafePointer<FieldInstruction>, at target: UnsafeMutableRawPointer) {
    if !field.pointee.isTrivial { field.pointee.coder._withUnsafeGuaranteedRef { $0.destroy(target) } }
  }

  /// - Parameter offset: Where the value is; nil if it was not found.
  @inline(never)
  private func failure(
    _ error: FormatError, _ number: Int, at offset: Int?, _ session: DecodingSession, _ node: PathNode
  ) -> any Error {
    let field = instructions[number]
    let isNil = field.isOptional && offset.map { Nils.isNil(session.message.reader, at: $0) } == true
    let expected = offset == nil || isNil || !field.isReadFirst ? nil : fields.coders[number].scalar
    return session.error(error, path: session.codingPath(node) + [fields.keys[number]], expected: expected)
  }

  // MARK: values within others

  /// Decodes the value of a field, or an array of values. Returns false for nil, and for an array with a fault.
  @inline(__always)
  private func decode(
    _ field: UnsafePointer<FieldInstruction>, at offset: Int, into target: UnsafeMutableRawPointer,
    _ session: DecodingSession, _ node: PathNode
  ) throws -> Bool {
    let (reader, isOptional) = (session.message.reader, field.pointee.isOptional)
    if field.pointee.operation == .fields {
      if isOptional, Nils.isNil(reader, at: offset) { return false }
      try decode(at: OpenPlace(at: offset), into: target, session, node)
      if isOptional { witnesses.wrap(target) }
      return true
    }
    guard let elements = try? Arrays.read(reader, at: offset), let count = try? Arrays.count(elements, reader)
    else { return false }
    try withElements(from: elements.lowerBound, session, node) { next in
      try witnesses.makeArray(target, isOptional, count, next)
    }
    return true
  }

  /// Passes to `body` what decodes one of the values after another that begin at an offset, into uninitialized memory.
  @inline(__always)
  func withElements<Result>(
    from start: Int, _ session: DecodingSession, _ node: PathNode,
    _ body: (_ next: (UnsafeMutableRawPointer) throws -> Void) throws -> Result
  ) rethrows -> Result {
    let mark = session.path.count
    var (step, index, offset) = (session.path.push(PathStep(.index, parent: node)), 0, start)
    defer { session.path.pop(to: mark) }
    return try body { target in
      step = session.path.setIndex(index, at: step)
      offset = try decode(at: OpenPlace(at: offset), into: target, session, step)
      index &+= 1
    }
  }

  // MARK: other objects

  /// Decodes a field and those after it by searching the object: its keys are others or come in another order, it is a
  /// row, or it has a fault.
  ///
  /// - Parameter next: Where the rest of a map is; nil for all of an object.
  @inline(never)
  private func search(
    _ place: OpenPlace, from first: UnsafePointer<FieldInstruction>, next: Int?,
    into target: UnsafeMutableRawPointer, _ isWhole: Bool, _ session: DecodingSession, _ node: PathNode
  ) throws {
    var done = number(of: first)
    let reader = state.readers.popLast() ?? ObjectReader(session, keyTable)
    defer {
      reader.finish()
      state.readers.append(reader)
    }
    do {
      do throws(FormatError) {
        if let elements = place.elements {
          try reader.open(place.number, of: elements, node)
        } else {
          try reader.open(objectAt: place.offset, node)
        }
        if let next { try reader.advance(to: next) }
      } catch {
        throw session.error(error, at: node, place.offset, expected: [String: Any].self)
      }
      while done < count {
        let offset = isWhole ? instructions[done].stored : instructions[done].packed
        try search(done, target + offset, reader, session, node)
        done += 1
      }
    } catch {
      destroy(done, at: target, isWhole)
      throw error
    }
  }

  private func search(
    _ number: Int, _ target: UnsafeMutableRawPointer, _ reader: ObjectReader, _ session: DecodingSession,
    _ node: PathNode
  ) throws {
    let (field, key) = (instructions + number, fields.keys[number])
    var (place, isRead) = (OpenPlace?.none, false)
    do throws(FormatError) {
      var found = try reader.find(key)
      if found == nil, let names = keyTable.formerNames?.names(of: key.stringValue) {
        found = try reader.find(anyOf: names)
      }
      place = found.map { reader.place($0) }
      if let found, let offset = place?.tagged {
        if field.pointee.isReadFirst {
          let next = try readRare(field, target, at: offset, session.message)
          isRead = true
          return try reader.pass(found, to: next)
        }
        try reader.pass(found)
      }
    } catch {
      if isRead { destroy(field, at: target) }
      throw failure(error, number, at: place?.tagged, session, node)
    }
    if let place {
      try decode(field, at: place, to: target, session, node)
    } else {
      try makeAbsent(field, target, session, node)
    }
  }
}

// In the file that calls it, so that it is specialized where files are optimized one by one, as in a debug build.
extension FieldInstruction {
  /// Makes the nil of an optional that is read in line.
  @inline(__always)
  fileprivate func putNil(_ target: UnsafeMutableRawPointer) {
    switch operation {
    case .double: target.put(nil as Double?)
    case .float: target.put(nil as Float?)
    case .bool: target.put(nil as Bool?)
    case .string: target.put(nil as String?)
    case .int8, .uint8: target.put(nil as Int8?)
    case .int16, .uint16: target.put(nil as Int16?)
    case .int32, .uint32: target.put(nil as Int32?)
    case .int64, .uint64: target.put(nil as Int64?)
    default: coder._withUnsafeGuaranteedRef { $0.optional?.putNil(target) }
    }
  }
}
