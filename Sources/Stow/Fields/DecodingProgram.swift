// How the objects of a type with a table of fields are decoded: field after field into memory, by code that does not know
// the type.
//
//     a record or a map ──▶ run from value to value, as far as its keys are the fields, in order
//     the rest of a record ──▶ locate its values, run from offset to offset
//     everything else ──▶ search each field as keyed containers do

/// Decodes the values of one type by the program of its fields. Sessions have programs of their own.
final class DecodingProgram {
  let fields: FieldProgram
  private let count: Int
  /// The instructions, which get to know the programs of their types.
  private let instructions: UnsafeMutablePointer<FieldInstruction>
  private let keyTable: DecodingKeyTable
  /// The texts of the keys, by the numbers of the fields.
  private let texts: UnsafeMutablePointer<SearchedText>
  /// What is remembered of enumerations.
  private let memos: [EnumerationMemo?]
  /// The layout of fields that are not decoded in their places in a value.
  private let packed: (offsets: [Int], size: Int, alignment: Int)
  private let witnesses: FieldWitnesses
  private let isAll: (UnsafeRawPointer) -> Bool
  let stride: Int
  private let alignment: Int
  // Unchecked because each value looks here. Accesses call nothing that comes back here.
  @exclusivity(unchecked) private var state = State()

  struct State: ~Copyable {
    /// Memory for a value that nobody uses.
    var spare: UnsafeMutableRawPointer?
    /// Whether the fields make up a whole value; nil until the first is made.
    var isWhole: Bool?
    /// The last shape of records, and its source.
    var shape = (number: -1, source: 0)
    /// The numbers of its keys' fields, −1 for unknown keys; none if its records must be searched.
    var order = GrowableBuffer<Int>(capacity: 16)
    /// How many of its first keys are the first fields, in order.
    var inOrder = 0
    /// Readers that search no object.
    var readers: [ObjectReader] = []
  }

  var isWhole: Bool? { state.isWhole }

  init<Root: StowFields>(_ table: FieldTable<Root>, _ fields: FieldProgram) {
    self.fields = fields
    (count, instructions) = (fields.keys.count, fields.instructions.baseAddress.unsafelyUnwrapped)
    keyTable = DecodingKeyTable(fields.keyType)
    texts = .allocate(capacity: max(count, 1))
    packed = FieldTable.packedLayout(of: table.fields)
    witnesses = table.witnesses
    isAll = { table.isAll(of: $0.assumingMemoryBound(to: Root.self).pointee) }
    (stride, alignment) = (MemoryLayout<Root>.stride, MemoryLayout<Root>.alignment)
    memos = fields.coders.map { $0.operation == .enumeration ? EnumerationMemo() : nil }
    for (number, key) in fields.keys.enumerated() {
      instructions[number].memo = memos[number].map { .passUnretained($0) }
      (texts + number).initialize(to: keyTable.text(of: key, byte: instructions[number].byte))
    }
  }

  deinit {
    texts.deallocate()
    state.spare?.deallocate()
  }

  // MARK: one value

  /// Lends memory for a value, which `body` moves out.
  @inline(__always)
  func withMemory<Result>(_ body: (UnsafeMutableRawPointer) throws -> Result) rethrows -> Result {
    // A value may be decoded while another of its type is.
    let memory = state.spare ?? .allocate(byteCount: max(stride, 1), alignment: alignment)
    state.spare = nil
    defer {
      state.spare?.deallocate()
      state.spare = memory
    }
    return try body(memory)
  }

  /// Decodes the value at a place into uninitialized memory. The first value shows whether fields make up a whole value.
  func decode(
    at place: OpenPlace, into target: UnsafeMutableRawPointer, _ session: DecodingSession, _ node: PathNode
  ) throws {
    if isWhole == true {
      return try decodeFields(at: place, into: target, isWhole: true, session, node)
    }
    try withUnsafeTemporaryAllocation(byteCount: max(packed.size, 1), alignment: packed.alignment) {
      guard let memory = $0.baseAddress else { return }
      try decodeFields(at: place, into: memory, isWhole: false, session, node)
      witnesses.make(memory, packed.offsets, target)
      if isWhole == nil { state.isWhole = isAll(target) }
    }
  }

  /// Whether keys may have former names.
  var mayHaveFormerNames: Bool { keyTable.formerNames != nil }

  private func decodeFields(
    at place: OpenPlace, into target: UnsafeMutableRawPointer, isWhole: Bool, _ session: DecodingSession,
    _ node: PathNode
  ) throws {
    let message = session.message
    if let reason = session.calls.enter(maximumDepth: message.maximumDepth) {
      throw DecodingError.unreadable(reason, path: ValueDecoder(session, place, node).codingPath)
    }
    defer { session.calls.leave() }
    guard let offset = place.tagged, let object = try? ObjectHeader.read(message.reader, at: offset),
      var walk = walk(over: object, message)
    else { return try search(place, into: target, isWhole, session, node) }
    try run(&walk, nil, into: target, isWhole, session, node)
    if walk.field == count { return }
    try withUnsafeTemporaryAllocation(of: Int.self, capacity: count) { offsets in
      guard let offsets = offsets.baseAddress, (try? locate(walk, offsets, message)) == true else { return }
      try run(&walk, offsets, into: target, isWhole, session, node)
    }
    if walk.field < count { try search(place, from: walk, into: target, isWhole, session, node) }
  }

  // MARK: shapes

  /// Returns a walk over an object; nil if it must be searched.
  @inline(__always)
  private func walk(over object: ObjectHeader, _ message: Message) -> FieldWalk? {
    let (body, reader) = (object.body, message.reader)
    guard let number = object.shape else {
      return FieldWalk(next: body.lowerBound, end: body.upperBound, shape: nil, inOrder: count, keys: 0)
    }
    guard number < message.tables.shapeCount else { return nil }
    if number != state.shape.number || message.source(ofShape: number) != state.shape.source {
      learn(number, message)
    }
    let keyCount = state.order.count
    var (next, keys) = (body.lowerBound, UInt64.max >> UInt64(truncatingIfNeeded: 64 &- keyCount))
    if object.isPartial {
      guard let values = try? Records.endOfPresence(reader, in: body, keyCount: keyCount) else { return nil }
      (next, keys) = (values, reader.firstBytes(at: next, upTo: values))
    }
    guard keyCount > 0, keys != 0, object.isPartial || keyCount <= body.count else { return nil }
    return FieldWalk(next: next, end: body.upperBound, shape: number, inOrder: state.inOrder, keys: keys)
  }

  @inline(never)
  private func learn(_ number: Int, _ message: Message) {
    state.shape = (number, message.source(ofShape: number))
    state.order.removeAll()
    state.inOrder = 0
    let keyCount = message.tables.keyCount(ofShape: number)
    guard keyCount <= 64 else { return }
    for _ in 0..<keyCount { state.order.append(-1) }
    var known = 0
    for (field, key) in fields.keys.enumerated() {
      let index = try? message.keyIndex(of: key.stringValue, inShape: number, likely: known)
      guard let index else { continue }
      state.order.base[index] = field
      known += 1
    }
    while state.inOrder < keyCount, state.order.base[state.inOrder] == state.inOrder { state.inOrder += 1 }
    // The value of an unknown key may be that of a field, under its former name.
    if known < keyCount, keyTable.formerNames != nil { state.order.removeAll() }
  }

  /// Finds the values of the fields of a record that are left: −1 for one without a value. Returns false if there may be
  /// others.
  private func locate(
    _ walk: FieldWalk, _ offsets: UnsafeMutablePointer<Int>, _ message: Message
  ) throws(FormatError) -> Bool {
    guard let number = walk.shape else { return false }
    // Values within this one may have had other shapes.
    if number != state.shape.number { learn(number, message) }
    let (reader, order, keyCount) = (message.reader, state.order.base, state.order.count)
    offsets.initialize(repeating: -1, count: count)
    var next = walk.next
    for index in walk.field..<max(walk.field, keyCount) where walk.hasKey(index) {
      if order[index] >= 0 { offsets[order[index]] = next }
      next = try reader.end(of: next)
      guard next <= walk.end else { return false }
    }
    return next == walk.end
  }

  // MARK: the program

  /// Decodes field after field, up to one of a map that has not the next key. If that fails, none is left.
  ///
  /// - Parameter offsets: Where the values are; nil if they follow each other.
  private func run(
    _ walk: inout FieldWalk, _ offsets: UnsafePointer<Int>?, into start: UnsafeMutableRawPointer,
    _ isWhole: Bool, _ session: DecodingSession, _ node: PathNode
  ) throws {
    let (message, end) = (session.message, walk.end)
    var (number, next) = (walk.field, walk.next)
    do {
      while number < count {
        // Used in place, because copying all of it would take longer than decoding a value.
        let field = UnsafePointer(instructions) + number
        let target = start + (isWhole ? field.pointee.stored : field.pointee.packed)
        let current = next
        var offset = next
        if let offsets {
          offset = offsets[number]
        } else if walk.isMap {
          if next == end {
            offset = -1
          } else if texts[number].stands(at: next, in: message.reader) {
            offset = next &+ texts[number].bytes.count
          } else {
            break
          }
        } else if number >= walk.inOrder {
          break
        } else if !walk.hasKey(number) {
          offset = -1
        }
        if offset < 0 {
          try makeAbsent(number, target, session, node)
          number &+= 1
          continue
        }
        let (isReadFirst, isLast) = (field.pointee.isReadFirst, walk.isLast(number))
        do throws(FormatError) {
          if isReadFirst {
            next = try read(field, target, at: offset, message)
            // From now on, it is deinitialized if anything fails.
            number &+= 1
          } else if offsets == nil {
            next = try message.reader.end(of: offset)
          }
          if offsets == nil {
            guard next <= end else { try fail(.malformed, at: current) }
            if isLast, next != end { try fail(.malformed, at: next) }
          }
        } catch {
          throw failure(error, instructions.distance(to: .init(mutating: field)), at: offset, session, node)
        }
        if !isReadFirst {
          try decode(number, at: OpenPlace(at: offset), to: target, session, node)
          number &+= 1
        }
      }
    } catch {
      destroy(number, at: start, isWhole)
      throw error
    }
    (walk.field, walk.next) = (number, next)
  }

  /// Makes the value of a field that has none in the message.
  @inline(__always)
  private func makeAbsent(
    _ number: Int, _ target: UnsafeMutableRawPointer, _ session: DecodingSession, _ node: PathNode
  ) throws {
    if instructions[number].isNilIfAbsent { return instructions[number].putNil(target) }
    guard let makeAbsent = fields.coders[number].makeAbsent else {
      throw DecodingError.noValue(for: fields.keys[number], path: session.codingPath(node))
    }
    makeAbsent(target)
  }

  /// Decodes a value that has been moved past.
  func decode(
    _ number: Int, at place: OpenPlace, to target: UnsafeMutableRawPointer, _ session: DecodingSession,
    _ node: PathNode
  ) throws {
    let (field, message) = (instructions + number, session.message)
    var key: EnumerationMemo.Key?
    if let memo = field.pointee.memo, let offset = place.tagged {
      key = try? EnumerationMemo.key(at: offset, message)
      if let key, let byte = memo._withUnsafeGuaranteedRef({ $0[key] }) {
        return target.storeBytes(of: byte, as: UInt8.self)
      }
    }
    let mark = session.path.count
    let step = session.path.push(
      PathStep(.byte, parent: node, value: field.pointee.byte, keyTable: .passUnretained(keyTable)))
    defer { session.path.pop(to: mark) }
    if let nested = field.pointee.nested, let offset = place.tagged,
      try nested._withUnsafeGuaranteedRef({ nested in
        let isOptional = field.pointee.isOptional
        return try field.pointee.operation == .array
          ? nested.decode(arrayAt: offset, into: target, isOptional: isOptional, session, step)
          : nested.decode(at: offset, into: target, isOptional: isOptional, session, step)
      })
    {
      return
    }
    try field.pointee.coder._withUnsafeGuaranteedRef { coder in
      // The plan of the type knows other forms, and finds an error again.
      if let offset = place.tagged {
        if let readArray = coder.readArray, readArray(target, offset, message) { return }
        if (try? coder.read?(target, offset, message)) != nil { return }
      }
      try coder.decode(target, place, session, step)
      if let key { memos[number]?.note(target.load(as: UInt8.self), for: key) }
      if field.pointee.nested == nil, let find = coder.findNested {
        field.pointee.nested = find(session).map { .passUnretained($0) }
      }
    }
  }

  /// Decodes the value at an offset, or of an optional that has one. Returns false for nil.
  @inline(__always)
  private func decode(
    at offset: Int, into target: UnsafeMutableRawPointer, isOptional: Bool, _ session: DecodingSession,
    _ node: PathNode
  ) throws -> Bool {
    if isOptional, Nils.isNil(session.message.reader, at: offset) { return false }
    try decode(at: OpenPlace(at: offset), into: target, session, node)
    if isOptional { witnesses.wrap(target) }
    return true
  }

  /// Deinitializes the first fields of a value that could not be decoded.
  @inline(never)
  private func destroy(_ count: Int, at start: UnsafeMutableRawPointer, _ isWhole: Bool) {
    for number in 0..<count where !instructions[number].isTrivial {
      fields.coders[number].destroy(
        start + (isWhole ? instructions[number].stored : instructions[number].packed))
    }
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

  // MARK: arrays

  /// Decodes an array of values. Returns false if it has others, or a fault.
  private func decode(
    arrayAt offset: Int, into target: UnsafeMutableRawPointer, isOptional: Bool, _ session: DecodingSession,
    _ node: PathNode
  ) throws -> Bool {
    guard let elements = try? Arrays.read(session.message.reader, at: offset),
      let count = try? Arrays.count(elements, session.message.reader)
    else { return false }
    try witnesses.makeArray(target, isOptional, count) { first, done in
      try decode(count, from: elements.lowerBound, into: first, &done, session, node)
    }
    return true
  }

  /// Decodes values one after the other, which have been counted, and counts those that are done.
  func decode(
    _ count: Int, from start: Int, into first: UnsafeMutableRawPointer, _ done: inout Int,
    _ session: DecodingSession, _ node: PathNode
  ) throws {
    let mark = session.path.count
    var step = session.path.push(PathStep(.index, parent: node))
    defer { session.path.pop(to: mark) }
    var offset = start
    for index in 0..<count {
      step = session.path.setIndex(index, at: step)
      try decode(at: OpenPlace(at: offset), into: first + index &* stride, session, step)
      done = index &+ 1
      offset = try session.attempt(at: node, expected: nil) { () throws(FormatError) in
        try session.message.reader.end(of: offset)
      }
    }
  }

  // MARK: other objects

  /// Decodes the fields of an object that has other keys, has them in another order, is a row, or has a fault.
  @inline(never)
  private func search(
    _ place: OpenPlace, from walk: FieldWalk? = nil, into target: UnsafeMutableRawPointer, _ isWhole: Bool,
    _ session: DecodingSession, _ node: PathNode
  ) throws {
    var done = walk?.field ?? 0
    let reader = state.readers.popLast() ?? ObjectReader(session, keyTable)
    defer {
      reader.finish()
      state.readers.append(reader)
    }
    do throws(FormatError) {
      if let elements = place.elements {
        try reader.open(place.number, of: elements, node)
      } else {
        try reader.open(objectAt: place.offset, node)
      }
      if done > 0, let walk, walk.isMap { try reader.advance(to: walk.next) }
    } catch {
      destroy(done, at: target, isWhole)
      throw session.error(error, at: node, place.offset, expected: [String: Any].self)
    }
    do {
      for number in done..<count {
        let target = target + (isWhole ? instructions[number].stored : instructions[number].packed)
        try search(number, target, reader, session, node)
        done = number + 1
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
          let next = try read(field, target, at: offset, session.message)
          isRead = true
          return try reader.pass(found, to: next)
        }
        try reader.pass(found)
      }
    } catch {
      if isRead { fields.coders[number].destroy(target) }
      throw failure(error, number, at: place?.tagged, session, node)
    }
    if let place {
      try decode(number, at: place, to: target, session, node)
    } else {
      try makeAbsent(number, target, session, node)
    }
  }

  // MARK: scalars

  /// Reads a scalar, or the nil of an optional, and returns where it ends.
  @inline(__always)
  private func read(
    _ field: UnsafePointer<FieldInstruction>, _ target: UnsafeMutableRawPointer, at offset: Int,
    _ message: Message
  ) throws(FormatError) -> Int {
    let (reader, tag, isOptional) = (
      message.reader, try message.reader.byte(at: offset), field.pointee.isOptional
    )
    if isOptional, tag == Nils.tag || tag == Nils.nested {
      return try readRare(field, target, at: offset, message)
    }
    var next = offset
    switch field.pointee.operation {
    case .double: target.put(try Double.read(message, at: offset, next: &next), isOptional: isOptional)
    case .float: target.put(try Float.read(message, at: offset, next: &next), isOptional: isOptional)
    case .bool: target.put(try Bool.read(message, at: offset, next: &next), isOptional: isOptional)
    case .string: target.put(try String.read(message, at: offset, next: &next), isOptional: isOptional)
    case .scalar, .enumeration, .scalars, .fields, .array, .other:
      return try readRare(field, target, at: offset, message)
    default:
      guard Integers.isUsual(tag) else { return try readRare(field, target, at: offset, message) }
      let integer = try Integers.read(reader, at: offset, next: &next)
      switch field.pointee.operation {
      case .int8: target.put(try Int8.make(integer, at: offset), isOptional: isOptional)
      case .int16: target.put(try Int16.make(integer, at: offset), isOptional: isOptional)
      case .int32: target.put(try Int32.make(integer, at: offset), isOptional: isOptional)
      case .uint8: target.put(try UInt8.make(integer, at: offset), isOptional: isOptional)
      case .uint16: target.put(try UInt16.make(integer, at: offset), isOptional: isOptional)
      case .uint32: target.put(try UInt32.make(integer, at: offset), isOptional: isOptional)
      case .uint64: target.put(try UInt64.make(integer, at: offset), isOptional: isOptional)
      default: target.put(integer, isOptional: isOptional)
      }
    }
    return next
  }

  /// Reads a nil, or a scalar from another kind of value than it is mostly written as.
  @inline(never)
  private func readRare(
    _ field: UnsafePointer<FieldInstruction>, _ target: UnsafeMutableRawPointer, at offset: Int,
    _ message: Message
  ) throws(FormatError) -> Int {
    guard let read = field.pointee.coder._withUnsafeGuaranteedRef({ $0.read }) else {
      preconditionFailure("a field that is no scalar")
    }
    return try read(target, offset, message)
  }
}

/// How far the fields of an object are decoded, in their order.
private struct FieldWalk {
  /// The number of the next field.
  var field = 0
  /// Where its value is, or its key; and the end of the object.
  var next: Int
  let end: Int
  /// The shape of a record; nil in a map.
  let shape: Int?
  /// How many of the record's first keys are the first fields, in order.
  let inOrder: Int
  /// The keys of the record that have values, as bits.
  let keys: UInt64

  var isMap: Bool { shape == nil }
  func hasKey(_ index: Int) -> Bool { keys &>> UInt64(truncatingIfNeeded: index) & 1 == 1 }
  func isLast(_ index: Int) -> Bool { keys &>> UInt64(truncatingIfNeeded: index) == 1 }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  func put<Value>(_ value: Value, isOptional: Bool) {
    isOptional ? put(Optional(value)) : put(value)
  }
}

extension FixedWidthInteger {
  @inline(__always)
  fileprivate static func make(_ integer: Int64, at offset: Int) throws(FormatError) -> Self {
    guard let value = Self(exactly: integer) else { try fail(.unrepresentable, at: offset) }
    return value
  }
}

// In the file that calls them, so that they are specialized where files are optimized one by one, as in a debug build.
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
