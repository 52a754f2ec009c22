// How a type with a table of fields is decoded: field after field into memory, by a walk over the object, or
// by searching once something else than the fields in order turns up. If the fields make up a whole value, it
// is then complete in memory; otherwise its initializer makes it from them.

extension StowFields {
  /// Makes the plan of the type; nil if its keys are not known by their bytes, if the table does not name them, or if their
  /// former names are ambiguous. Then its own `init(from:)` decodes it.
  static func makeFieldsDecodingPlan() -> AnyDecodingPlan? {
    let table = stowFields
    guard let fields = try? FieldProgram(table), FormerNames(of: fields.keyType)?.conflict == nil else {
      return nil
    }
    return FieldsDecodingPlan(table, fields)
  }
}

final class FieldsDecodingPlan<Value: StowFields>: DecodingPlan<Value> {
  private let table: FieldTable<Value>
  private let fields: FieldProgram
  // At hand, because each value needs them.
  private let keys: [any CodingKey]
  private let list: UnsafeMutableBufferPointer<FieldInstruction>
  private let keyTable: DecodingKeyTable
  private let packed: (offsets: [Int], size: Int, alignment: Int)
  /// Whether the fields make up a whole value; nil until the first is made.
  @exclusivity(unchecked) private var isWhole: Bool?
  /// The free list: scratches that no value is being decoded with.
  @exclusivity(unchecked) private var scratches = GrowableBuffer<Unmanaged<FieldsScratch>>(capacity: 1)

  init(_ table: FieldTable<Value>, _ fields: FieldProgram) {
    (self.table, self.fields) = (table, fields)
    (keys, list) = (fields.keys, fields.instructions)
    keyTable = DecodingKeyTable(fields.keyType)
    packed = FieldTable.packedLayout(of: table.fields)
    super.init()
    for (field, key) in zip(list, keys) { _ = keyTable.text(of: key, byte: field.byte) }
  }

  deinit { for scratch in scratches.buffer { scratch.release() } }

  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    let isWhole = isWhole == true
    let start = try fill(nil, isWhole: isWhole, place, session, node)
    return isWhole ? start.assumingMemoryBound(to: Value.self).move() : make(start)
  }

  override func decode(
    into target: UnsafeMutablePointer<Value>, at place: OpenPlace, from session: DecodingSession,
    _ node: PathNode
  ) throws {
    if isWhole == true {
      _ = try fill(UnsafeMutableRawPointer(target), isWhole: true, place, session, node)
    } else {
      target.initialize(to: try decode(at: place, from: session, node))
    }
  }

  /// Makes a value from packed fields. The first value shows whether fields make up a whole value.
  private func make(_ start: UnsafeMutableRawPointer) -> Value {
    let value = table.make(start, packed.offsets)
    if isWhole == nil { isWhole = table.isAll(of: value) }
    return value
  }

  // MARK: one value

  /// Decodes the fields of the object at a place, as a whole value or packed. If that fails, none is left.
  ///
  /// - Parameter target: Where to put the fields; nil if they are moved out before anything else is decoded.
  /// - Returns: Where the fields are.
  private func fill(
    _ target: UnsafeMutableRawPointer?, isWhole: Bool, _ place: OpenPlace, _ session: DecodingSession,
    _ node: PathNode
  ) throws -> UnsafeMutableRawPointer {
    let message = session.message
    if let reason = session.calls.enter(maximumDepth: message.maximumDepth) {
      throw DecodingError.unreadable(reason, path: ValueDecoder(session, place, node).codingPath)
    }
    defer { session.calls.leave() }
    let scratch = scratches.count > 0 ? scratches.takeLast() : makeScratch()
    defer { scratches.append(scratch) }
    return try scratch._withUnsafeGuaranteedRef { scratch in
      let start = target ?? scratch.memory
      let walk = scratch.walk(over: place, keys, message)
      if walk.isOver { try search(place, with: scratch, session, node) }
      try fill(start, isWhole: isWhole, walk, place, scratch, session, node)
      return start
    }
  }

  /// Decodes the fields of an object by a walk over it. Once that is over, they are searched.
  private func fill(
    _ start: UnsafeMutableRawPointer, isWhole: Bool, _ walk: consuming FieldsWalk, _ place: OpenPlace,
    _ scratch: FieldsScratch, _ session: DecodingSession, _ node: PathNode
  ) throws {
    let message = session.message
    var done = 0
    defer { if walk.isOver { scratch.reader?.finish() } }
    do {
      for number in 0..<list.count {
        // Used in place, because copying all of it would take longer than decoding a value.
        let field = UnsafePointer(list.baseAddress.unsafelyUnwrapped) + number
        let target = start + (isWhole ? field.pointee.stored : field.pointee.packed)
        let offset = walk.find(field.pointee.byte, number, keyTable, message)
        if offset >= 0, field.pointee.operation.isInLine {
          do throws(FormatError) {
            let next =
              switch field.pointee.operation {
              case .double: try field.pointee.read(Double.self, target, at: offset, message)
              case .float: try field.pointee.read(Float.self, target, at: offset, message)
              case .bool: try field.pointee.read(Bool.self, target, at: offset, message)
              case .string: try field.pointee.read(String.self, target, at: offset, message)
              case .int8: try field.pointee.read(Int8.self, target, at: offset, message)
              case .int16: try field.pointee.read(Int16.self, target, at: offset, message)
              case .int32: try field.pointee.read(Int32.self, target, at: offset, message)
              case .int64: try field.pointee.read(Int64.self, target, at: offset, message)
              case .uint8: try field.pointee.read(UInt8.self, target, at: offset, message)
              case .uint16: try field.pointee.read(UInt16.self, target, at: offset, message)
              case .uint32: try field.pointee.read(UInt32.self, target, at: offset, message)
              case .uint64: try field.pointee.read(UInt64.self, target, at: offset, message)
              case .scalar, .other: preconditionFailure("a field that is not read in line")
              }
            done &+= 1
            try walk.advance(to: next)
          } catch {
            throw failure(error, number, at: offset, session, node)
          }
        } else if offset == FieldsWalk.absent, field.pointee.isNilIfAbsent {
          field.pointee.putNil(target)
          done &+= 1
        } else {
          if offset == FieldsWalk.unknown, !walk.isOver {
            try search(place, from: walk.takeOver(), with: scratch, session, node)
          }
          try decode(field, number, at: offset, to: target, &walk, scratch, session, node)
          done &+= 1
        }
      }
    } catch {
      for number in 0..<done {
        fields.coders[number].destroy(start + (isWhole ? list[number].stored : list[number].packed))
      }
      throw error
    }
  }

  @inline(never)
  private func makeScratch() -> Unmanaged<FieldsScratch> {
    .passRetained(
      FieldsScratch(
        byteCount: max(packed.size, MemoryLayout<Value>.size, 1),
        alignment: max(packed.alignment, MemoryLayout<Value>.alignment, 16), keyCount: list.count))
  }

  /// Decodes a value that takes a call, or one that must be searched.
  ///
  /// - Parameter offset: Where the walk found the value, or why it did not.
  @inline(never)
  private func decode(
    _ field: UnsafePointer<FieldInstruction>, _ number: Int, at offset: Int,
    to target: UnsafeMutableRawPointer,
    _ walk: inout FieldsWalk, _ scratch: FieldsScratch, _ session: DecodingSession, _ node: PathNode
  ) throws {
    let (message, scalar) = (session.message, fields.coders[number].keyedScalar)
    var place = offset >= 0 ? OpenPlace(at: offset) : nil
    var found: ObjectReader.Found?
    if offset == FieldsWalk.unknown, let reader = scratch.reader {
      do throws(FormatError) {
        found = try reader.find(keys[number])
        if found == nil, let names = keyTable.formerNames?.names(of: keys[number].stringValue) {
          found = try reader.find(anyOf: names)
        }
      } catch {
        throw failure(error, number, at: nil, session, node)
      }
      place = found.map { reader.place($0) }
    }
    guard let place else {
      if let makeAbsent = fields.coders[number].makeAbsent { return makeAbsent(target) }
      throw DecodingError.noValue(for: keys[number], path: session.codingPath(node))
    }
    if let offset = place.tagged {
      var isDone = false
      do throws(FormatError) {
        // Like keyed containers, moves past a value of most types before decoding it.
        let next =
          if let scalar {
            try field.pointee.read(scalar, target, at: offset, message)
          } else {
            try message.reader.end(of: offset)
          }
        isDone = scalar != nil
        if let found, let reader = scratch.reader {
          try reader.pass(found, to: next)
        } else {
          try walk.advance(to: next)
        }
      } catch {
        if isDone { fields.coders[number].destroy(target) }
        throw failure(error, number, at: offset, session, node)
      }
      if isDone { return }
    }
    let mark = session.path.count
    let step = session.path.push(
      PathStep(.byte, parent: node, value: field.pointee.byte, keyTable: .passUnretained(keyTable)))
    defer { session.path.pop(to: mark) }
    try field.pointee.coder._withUnsafeGuaranteedRef { try $0.decode(target, place, session, step) }
  }

  /// Opens the reader of a scratch at an object, where it searches from an offset on.
  @inline(never)
  private func search(
    _ place: OpenPlace, from offset: Int? = nil, with scratch: FieldsScratch, _ session: DecodingSession,
    _ node: PathNode
  ) throws {
    let reader = scratch.reader ?? ObjectReader(session, keyTable)
    scratch.reader = reader
    do throws(FormatError) {
      if let elements = place.elements {
        try reader.open(place.number, of: elements, node)
      } else {
        try reader.open(objectAt: place.offset, node)
      }
      if let offset { try reader.advance(to: offset) }
    } catch {
      throw session.error(error, at: node, place.offset, expected: [String: Any].self)
    }
  }

  /// - Parameter offset: Where the value is; nil if it was not found.
  @inline(never)
  private func failure(
    _ error: FormatError, _ number: Int, at offset: Int?, _ session: DecodingSession, _ node: PathNode
  ) -> any Error {
    let isNil = list[number].isOptional && offset.map { Nils.isNil(session.message.reader, at: $0) } == true
    let expected = offset == nil || isNil ? nil : fields.coders[number].keyedScalar
    return session.error(error, path: session.codingPath(node) + [keys[number]], expected: expected)
  }

  // MARK: rows

  override func decode(rows: Elements, from session: DecodingSession, _ node: PathNode) throws -> [Value]? {
    guard fields.isFlat, rows.count > 0, let shape = rows.shape, let columns = rows.layout.columns else {
      return nil
    }
    // The first value shows whether fields make up a whole value. An error in it is found again.
    if isWhole == nil { _ = try? decode(at: OpenPlace(.element(0), of: rows), from: session, node) }
    let message = session.message
    let found = try? keys.enumerated().map { number, key in
      try message.keyIndex(of: key.stringValue, inShape: shape, likely: number).map { try rows.column($0) }
    }
    guard isWhole == true, let found else { return nil }
    // The rows may have a key's value under a former name.
    if found.contains(where: { $0 == nil }), keyTable.formerNames != nil { return nil }
    let result = [Value].filled(count: rows.count) { first, initialized in
      let targets = list.map {
        FieldTarget(
          start: UnsafeMutableRawPointer(first) + $0.stored, stride: MemoryLayout<Value>.stride,
          count: rows.count
        )
      }
      for (number, coder) in fields.coders.enumerated() {
        let count = coder.decode(found[number], of: columns, message, to: targets[number])
        if count == rows.count { continue }
        for index in 0..<count { coder.destroy(targets[number][index]) }
        for (coder, target) in zip(fields.coders, targets).prefix(number) {
          for index in 0..<rows.count { coder.destroy(target[index]) }
        }
        return
      }
      initialized = rows.count
    }
    return result.isEmpty ? nil : result
  }
}

// MARK: walks

/// A walk from value to value: over a record that has only the fields, in order, or over a map for as long as
/// it turns out to do so.
struct FieldsWalk: BitwiseCopyable {
  /// What is found for a field without a value, and for one that must be searched.
  static let absent = -1
  static let unknown = -2

  /// The offset of the next value, or of the key before it, and the end of the object.
  private var next = 0
  private var end = -1
  private var isMap = true
  /// The keys of the record whose values are yet to come, as bits; and the bit of each field's key, by the
  /// numbers of the fields.
  private var marks: UInt64 = 0
  private let bits: UnsafePointer<UInt64>

  /// Makes a walk that finds nothing.
  init(_ bits: UnsafePointer<UInt64>) { self.bits = bits }

  /// Makes a walk over a map, or over a record that has `keyCount` keys of fields; one that finds nothing if
  /// the record is malformed, or has no values.
  init(over object: ObjectHeader, keyCount: Int, _ bits: UnsafePointer<UInt64>, _ reader: ByteReader) {
    self.init(bits)
    if object.shape == nil {
      (next, end) = (object.body.lowerBound, object.body.upperBound)
      return
    }
    var start = object.body.lowerBound
    if object.isPartial {
      guard let values = try? Records.endOfPresence(reader, in: object.body, keyCount: keyCount) else {
        return
      }
      marks = reader.firstBytes(at: start, upTo: values)
      start = values
    } else if keyCount <= object.body.count {
      marks = .max >> UInt64(64 &- keyCount)
    }
    if marks != 0 { (next, end, isMap) = (start, object.body.upperBound, false) }
  }

  /// Whether all fields must be searched from now on: the walk was never begun, or was given up.
  var isOver: Bool { next > end }

  /// Returns the offset of the value of a field, or that it is absent or unknown.
  @inline(__always)
  mutating func find(_ byte: Int, _ number: Int, _ keyTable: DecodingKeyTable, _ message: Message) -> Int {
    if !isMap {
      let bit = bits[number]
      guard marks & bit != 0 else { return Self.absent }
      marks ^= bit
      return next
    }
    guard next < end, let text = keyTable.knownText(ofByte: byte), text.stands(at: next, in: message.reader)
    else { return next == end ? Self.absent : Self.unknown }
    return next &+ text.bytes.count
  }

  /// Moves past the value that was found, which ends at `offset`.
  mutating func advance(to offset: Int) throws(FormatError) {
    guard offset <= end else { try fail(.malformed, at: next) }
    next = offset
    if marks == 0, !isMap, offset != end { try fail(.malformed, at: offset) }
  }

  /// Ends the walk over a map, and returns the offset of the key from which on to search.
  mutating func takeOver() -> Int {
    defer { end = -1 }
    return next
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

  /// Returns a walk over the object at a place; one that finds nothing if the object must be searched.
  func walk(over place: OpenPlace, _ keys: [any CodingKey], _ message: Message) -> FieldsWalk {
    guard let offset = place.tagged, let object = try? ObjectHeader.read(message.reader, at: offset) else {
      return FieldsWalk(bits)
    }
    if let shape = object.shape {
      guard shape < message.tables.shapeCount else { return FieldsWalk(bits) }
      if shape != self.shape.number || message.source(ofShape: shape) != self.shape.source {
        learn(shape, keys, message)
      }
    }
    return FieldsWalk(over: object, keyCount: self.shape.keyCount, bits, message.reader)
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

// In the file that calls them, so that they are specialized where files are optimized one by one, as in a debug build.
extension FieldInstruction {
  /// Makes the nil of an optional that is read in line.
  @inline(__always)
  fileprivate func putNil(_ target: UnsafeMutableRawPointer) {
    switch operation {
    case .double: target.put(nil as Double?)
    case .int64: target.put(nil as Int64?)
    case .bool: target.put(nil as Bool?)
    case .string: target.put(nil as String?)
    default: coder._withUnsafeGuaranteedRef { $0.optional?.putNil(target) }
    }
  }

  /// Reads a scalar, or the nil of an optional, and returns where it ends.
  @inline(__always)
  fileprivate func read<Value: ReadableScalar>(
    _ type: Value.Type, _ target: UnsafeMutableRawPointer, at offset: Int, _ message: Message
  ) throws(FormatError) -> Int {
    var next = offset
    if !isOptional {
      target.put(try type.read(message, at: offset, next: &next))
    } else if Nils.isNil(message.reader, at: offset) {
      next = try message.reader.end(of: offset)
      target.put(nil as Value?)
    } else {
      target.put(Optional(try type.read(message, at: offset, next: &next)))
    }
    return next
  }
}
