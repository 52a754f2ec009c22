// How the objects of a type with a table of fields are decoded: field after field into memory, by code that does not know
// the type.
//
//     header ─▶ a record of all fields, in order ───────────────────▶ run, from value to value
//            ─▶ another record or a map ─▶ locate its values ───────▶ run, from offset to offset
//                                            │ a fault, unknown keys
//                                            ▼
//                                          search each field as keyed containers do

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
  private let maker: FieldMaker
  private let isAll: (UnsafeRawPointer) -> Bool
  let stride: Int
  /// Whether the fields make up a whole value; nil until the first is made.
  @exclusivity(unchecked) private(set) var isWhole: Bool?

  /// The last shape of records, and its source.
  @exclusivity(unchecked) private var shape = (number: -1, source: 0)
  /// The numbers of its keys' fields, −1 for unknown keys; and whether these are all fields, in order.
  @exclusivity(unchecked) private var order = GrowableBuffer<Int16>(capacity: 16)
  @exclusivity(unchecked) private var isInOrder = false
  /// Readers that search no object.
  @exclusivity(unchecked) private var readers: [ObjectReader] = []

  init<Root: StowFields>(_ table: FieldTable<Root>, _ fields: FieldProgram) {
    self.fields = fields
    (count, instructions) = (fields.keys.count, fields.instructions.baseAddress.unsafelyUnwrapped)
    keyTable = DecodingKeyTable(fields.keyType)
    texts = .allocate(capacity: max(count, 1))
    packed = FieldTable.packedLayout(of: table.fields)
    maker = table.maker
    isAll = { table.isAll(of: $0.assumingMemoryBound(to: Root.self).pointee) }
    stride = MemoryLayout<Root>.stride
    memos = fields.coders.map { $0.operation == .enumeration ? EnumerationMemo() : nil }
    for (number, key) in fields.keys.enumerated() {
      instructions[number].memo = memos[number].map { .passUnretained($0) }
      (texts + number).initialize(to: keyTable.text(of: key, byte: instructions[number].byte))
    }
  }

  deinit { texts.deallocate() }

  // MARK: one value

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
      maker.make(memory, packed.offsets, target)
      if isWhole == nil { isWhole = isAll(target) }
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
    if let offset = place.tagged, let object = try? ObjectHeader.read(message.reader, at: offset) {
      let isKnown = object.shape.map { turn(to: $0, message) } ?? false
      if isKnown, isInOrder, !object.isPartial, object.body.count >= count {
        return try run(nil, object.body, into: target, isWhole, session, node)
      }
      if isKnown || object.shape == nil {
        let isDone = try withUnsafeTemporaryAllocation(of: Int.self, capacity: max(count, 1)) { offsets in
          guard let offsets = offsets.baseAddress, (try? locate(object, offsets, message)) == true else {
            return false
          }
          try run(offsets, object.body, into: target, isWhole, session, node)
          return true
        }
        if isDone { return }
      }
    }
    try search(place, into: target, isWhole, session, node)
  }

  // MARK: shapes

  /// Learns a shape, unless it is the last one. Returns false if the values of its records must be searched.
  @inline(__always)
  private func turn(to number: Int, _ message: Message) -> Bool {
    guard number < message.tables.shapeCount else { return false }
    if number == shape.number, message.source(ofShape: number) == shape.source { return order.count > 0 }
    return learn(number, message)
  }

  @inline(never)
  private func learn(_ number: Int, _ message: Message) -> Bool {
    shape = (number, message.source(ofShape: number))
    order.removeAll()
    isInOrder = false
    let keyCount = message.tables.keyCount(ofShape: number)
    // Nothing else needs room for all keys of a shape.
    guard keyCount <= DecodingKeyTable.size else { return false }
    for _ in 0..<keyCount { order.append(-1) }
    var (known, ordered) = (0, 0)
    for (field, key) in fields.keys.enumerated() {
      let index = try? message.keyIndex(of: key.stringValue, inShape: number, likely: known)
      guard let index else { continue }
      order.base[index] = Int16(truncatingIfNeeded: field)
      if index == field { ordered += 1 }
      known += 1
    }
    isInOrder = ordered == count && keyCount == count
    // The value of an unknown key may be that of a field, under its former name.
    if known < keyCount, keyTable.formerNames != nil { order.removeAll() }
    return order.count > 0
  }

  /// Finds the values of all fields: −1 for one without a value. Returns false if there may be others, or a fault.
  private func locate(
    _ object: ObjectHeader, _ offsets: UnsafeMutablePointer<Int>, _ message: Message
  ) throws(FormatError) -> Bool {
    let (reader, end) = (message.reader, object.body.upperBound)
    var next = object.body.lowerBound
    offsets.initialize(repeating: -1, count: count)
    if object.shape == nil {
      var field = 0
      while next < end {
        while field < count, !texts[field].stands(at: next, in: reader) { field &+= 1 }
        guard field < count else { return false }
        offsets[field] = next &+ texts[field].bytes.count
        next = try reader.end(of: offsets[field])
        field &+= 1
      }
      return next == end
    }
    let bits = next
    if object.isPartial {
      next = try Records.endOfPresence(reader, in: object.body, keyCount: order.count)
    }
    for index in 0..<order.count where !object.isPartial || reader.bit(index, at: bits) {
      let field = Int(order.base[index])
      if field >= 0 { offsets[field] = next }
      next = try reader.end(of: next)
      guard next <= end else { return false }
    }
    return next == end
  }

  // MARK: the program

  /// Decodes field after field. If that fails, none is left.
  ///
  /// - Parameters:
  ///   - offsets: Where the values are; nil if they follow each other, and fill `body`.
  private func run(
    _ offsets: UnsafePointer<Int>?, _ body: Range<Int>, into target: UnsafeMutableRawPointer, _ isWhole: Bool,
    _ session: DecodingSession, _ node: PathNode
  ) throws {
    let message = session.message
    var (next, done) = (body.lowerBound, 0)
    do {
      for number in 0..<count {
        // Used in place, because copying all of it would take longer than decoding a value.
        let field = UnsafePointer(instructions) + number
        let target = target + (isWhole ? field.pointee.stored : field.pointee.packed)
        let offset = offsets.map { $0[number] } ?? next
        if offset < 0 {
          try makeAbsent(number, target, session, node)
        } else {
          do throws(FormatError) {
            if field.pointee.isReadFirst {
              next = try field.pointee.read(target, at: offset, message)
              // From now on, it is deinitialized if anything fails.
              done = number &+ 1
            } else if offsets == nil {
              next = try message.reader.end(of: offset)
            }
            if offsets == nil { try check(next, of: number, in: body, from: offset) }
          } catch {
            throw failure(error, number, at: offset, session, node)
          }
          if !field.pointee.isReadFirst {
            try decode(number, at: OpenPlace(at: offset), to: target, session, node)
          }
        }
        done = number &+ 1
      }
    } catch {
      destroy(done, at: target, isWhole)
      throw error
    }
  }

  /// Checks where the value of a field ends.
  @inline(__always)
  private func check(_ next: Int, of number: Int, in body: Range<Int>, from offset: Int) throws(FormatError) {
    guard next <= body.upperBound else { try fail(.malformed, at: offset) }
    if number &+ 1 == count, next != body.upperBound { try fail(.malformed, at: next) }
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
        try field.pointee.operation == .array
          ? nested.decode(arrayAt: offset, into: target, session, step)
          : nested.decode(at: offset, into: target, isOptional: field.pointee.isOptional, session, step)
      })
    {
      return
    }
    try field.pointee.coder._withUnsafeGuaranteedRef { coder in
      // The plan of the type knows other forms, and finds an error again.
      if let offset = place.tagged, (try? coder.read?(target, offset, message)) != nil { return }
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
    if isOptional { maker.wrap(target) }
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
    arrayAt offset: Int, into target: UnsafeMutableRawPointer, _ session: DecodingSession, _ node: PathNode
  ) throws -> Bool {
    guard let elements = try? Arrays.read(session.message.reader, at: offset),
      let count = try? Arrays.count(elements, session.message.reader)
    else { return false }
    try maker.makeArray(target, count) { first, done in
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
    _ place: OpenPlace, into target: UnsafeMutableRawPointer, _ isWhole: Bool, _ session: DecodingSession,
    _ node: PathNode
  ) throws {
    let reader = readers.popLast() ?? ObjectReader(session, keyTable)
    defer {
      reader.finish()
      readers.append(reader)
    }
    do throws(FormatError) {
      if let elements = place.elements {
        try reader.open(place.number, of: elements, node)
      } else {
        try reader.open(objectAt: place.offset, node)
      }
    } catch {
      throw session.error(error, at: node, place.offset, expected: [String: Any].self)
    }
    var done = 0
    do {
      for number in 0..<count {
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
          let next = try field.pointee.read(target, at: offset, session.message)
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

  @inline(__always)
  private func put<Value>(_ value: Value, _ target: UnsafeMutableRawPointer) {
    isOptional ? target.put(Optional(value)) : target.put(value)
  }

  @inline(__always)
  private func put<Value: FixedWidthInteger>(
    _ type: Value.Type, _ integer: Int64, _ target: UnsafeMutableRawPointer, at offset: Int
  ) throws(FormatError) {
    guard let value = type.init(exactly: integer) else { try fail(.unrepresentable, at: offset) }
    put(value, target)
  }

  /// Reads a scalar, or the nil of an optional, and returns where it ends.
  @inline(__always)
  fileprivate func read(
    _ target: UnsafeMutableRawPointer, at offset: Int, _ message: Message
  ) throws(FormatError) -> Int {
    var next = offset
    let (reader, tag) = (message.reader, try message.reader.byte(at: offset))
    if isOptional, tag == Nils.tag || tag == Nils.nested { return try readRare(target, at: offset, message) }
    switch operation {
    case .double: put(try Double.read(message, at: offset, next: &next), target)
    case .float: put(try Float.read(message, at: offset, next: &next), target)
    case .bool: put(try Bool.read(message, at: offset, next: &next), target)
    case .string: put(try String.read(message, at: offset, next: &next), target)
    case .scalar, .enumeration, .fields, .array, .other:
      return try readRare(target, at: offset, message)
    default:
      guard Integers.isUsual(tag) else { return try readRare(target, at: offset, message) }
      let integer = try Integers.read(reader, at: offset, next: &next)
      switch operation {
      case .int8: try put(Int8.self, integer, target, at: offset)
      case .int16: try put(Int16.self, integer, target, at: offset)
      case .int32: try put(Int32.self, integer, target, at: offset)
      case .uint8: try put(UInt8.self, integer, target, at: offset)
      case .uint16: try put(UInt16.self, integer, target, at: offset)
      case .uint32: try put(UInt32.self, integer, target, at: offset)
      case .uint64: try put(UInt64.self, integer, target, at: offset)
      default: put(integer, target)
      }
    }
    return next
  }

  /// Reads a nil, or a scalar from another kind of value than it is mostly written as.
  @inline(never)
  private func readRare(
    _ target: UnsafeMutableRawPointer, at offset: Int, _ message: Message
  ) throws(FormatError) -> Int {
    guard let read = coder._withUnsafeGuaranteedRef({ $0.read }) else {
      preconditionFailure("a field that is no scalar")
    }
    return try read(target, offset, message)
  }
}
