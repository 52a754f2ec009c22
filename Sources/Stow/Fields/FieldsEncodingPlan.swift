// How a type with a table of fields is recorded: one field after the other from the memory of its properties,
// as the same tokens that its `encode(to:)` would leave.

extension StowFields {
  /// Makes the encoding plan of the type; nil if its properties are not stored directly in its values, as in a
  /// class, or if its keys are not known by their bytes.
  static func makeFieldsEncodingPlan() -> AnyEncodingPlan? {
    do throws(FieldTableError) {
      let table = stowFields
      guard let program = try FieldProgram(table), table.fields.allSatisfy({ $0.offset != nil }) else {
        return nil
      }
      return FieldsEncodingPlan(table, program)
    } catch {
      return WrongFieldsPlan<Self>(error)
    }
  }
}

/// Refuses to encode the values of a type whose table is wrong.
private final class WrongFieldsPlan<Value>: EncodingPlan<Value> {
  private let flaw: FieldTableError

  init(_ flaw: FieldTableError) { self.flaw = flaw }

  override var continuesObjects: Bool { false }

  override func append(
    _ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    throw EncodingError.wrongFields(flaw, copy value, builder, key, parent)
  }
}

extension EncodingError {
  fileprivate static func wrongFields(
    _ flaw: any Error, _ value: Any, _ builder: TapeBuilder, _ key: TokenKey, _ parent: Int
  ) -> EncodingError {
    .invalid(
      value, path: builder.recorded.path(key, at: builder.recorded.tape.count, in: parent), "\(flaw)")
  }
}

/// Records values by the table of their fields.
final class FieldsEncodingPlan<Value: StowFields>: EncodingPlan<Value> {
  private let table: FieldTable<Value>
  private let program: FieldProgram
  /// Nil before the first value.
  @exclusivity(unchecked) private var keyTable: KeyTable.Reference?

  /// The most tokens that a value and its fields take, and the most words.
  private var tokensPerValue: Int { program.instructions.count + 1 }

  /// How many values there is room for at once. A field that is recorded by its coder takes the room of its value only.
  private let rowsAtOnce: Int

  init(_ table: FieldTable<Value>, _ program: FieldProgram) {
    (self.table, self.program) = (table, program)
    rowsAtOnce = program.instructions.allSatisfy(\.operation.isInLine) ? 64 : 1
  }

  override var continuesObjects: Bool { false }

  override func append(
    _ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    guard let keyTable else {
      do { try learnKeys(copy value, builder) } catch {
        throw EncodingError.wrongFields(error, copy value, builder, key, parent)
      }
      return try append(value, to: builder, key: key, parent: parent, level: level)
    }
    if program.isFlat, builder.hasRoom(in: parent) {
      let row = builder.recorded.row(keyTable, in: parent, count: 1)
      var room = builder.recorded.tape.room(tokensPerValue)
      try withUnsafePointer(to: value) {
        try recordRow(row, $0, keyTable, builder, key: key, Token.unlinked, false, &room)
      }
      return builder.recorded.tape.take(room)
    }
    try builder.call(of: value, key: key, parent: parent) { value, place in
      let encoder = RecordingEncoder(builder: builder, place: place, parent: parent, key: key)
      let object = builder.container(at: encoder, isArray: false) { builder.recorded.form(of: keyTable) }
      var room = builder.recorded.tape.room(tokensPerValue)
      var first = room.count
      try withUnsafePointer(to: value) { try record($0, keyTable, builder, object, false, &first, &room) }
      builder.recorded.tape.take(room)
      builder.recorded.tape.linkAll(from: first, in: object)
    }
  }

  override func encode(
    _ elements: UnsafeBufferPointer<Value>, to builder: TapeBuilder, in array: Int
  ) throws {
    // A wrong table is an error of the first element, which has its path.
    if keyTable == nil, let first = elements.first { try? learnKeys(first, builder) }
    guard program.isFlat, builder.hasRoom(in: array), let keyTable, let first = elements.baseAddress else {
      return try super.encode(elements, to: builder, in: array)
    }
    var previous = Int(builder.recorded.tape.container(array).last)
    for start in stride(from: 0, to: elements.count, by: rowsAtOnce) {
      // Room for some values at once: for all of them, it could be far more than they need. Whether the slots are in
      // order is known once the first values have taken them.
      let isInOrder = hasSlotsInOrder(keyTable)
      let end = min(start + rowsAtOnce, elements.count)
      let row = builder.recorded.row(keyTable, in: array, count: end - start)
      var room = builder.recorded.tape.room((end - start) * tokensPerValue)
      for index in start..<end {
        let token = room.count
        // Nobody asks for the index of a value that calls nothing.
        try recordRow(row, first + index, keyTable, builder, key: TokenKey(), previous, isInOrder, &room)
        previous = token
      }
      builder.recorded.tape.take(room)
    }
    builder.recorded.tape.link(rows: elements.count, last: previous, to: array)
  }

  /// Returns whether every field always has a value, and the slot of its key is its number.
  private func hasSlotsInOrder(_ keyTable: KeyTable.Reference) -> Bool {
    program.instructions.enumerated().allSatisfy { number, field in
      !field.isOptional && keyTable.pointee.table[field.byte] == number
    }
  }

  /// Records a value whose fields call nothing that needs the containers around it.
  ///
  /// - Parameters:
  ///   - row: The object that it becomes.
  ///   - previous: The value before it in its container.
  @inline(__always)
  private func recordRow(
    _ row: TapeContainer, _ value: UnsafeRawPointer, _ keyTable: KeyTable.Reference, _ builder: TapeBuilder,
    key: TokenKey, _ previous: Int, _ isInOrder: Bool, _ room: inout TapeRoom
  ) throws {
    let token = room.beginRow()
    var first = room.count
    try record(value, keyTable, builder, 0, isInOrder, &first, &room)
    builder.recorded.tape.put(row, at: token, key: key, previous: previous, in: room)
  }

  /// Records the fields of a value into room on the tape, which is valid only while nobody else writes there.
  ///
  /// - Parameters:
  ///   - object: The object that they are linked to; those of a row are linked together.
  ///   - isInOrder: Whether `hasSlotsInOrder` holds.
  ///   - first: The first token that is not linked yet.
  @inline(__always)
  private func record(
    _ value: UnsafeRawPointer, _ keyTable: KeyTable.Reference, _ builder: TapeBuilder, _ object: Int,
    _ isInOrder: Bool, _ first: inout Int, _ room: inout TapeRoom
  ) throws {
    let (list, slots) = (program.instructions, keyTable.pointee.table)
    /// The slot that the next key most likely has.
    var expected = 0
    for number in 0..<list.count {
      // Used in place, because copying all of it would take longer than recording a value.
      let field = list.baseAddress.unsafelyUnwrapped + number
      let value = value + field.pointee.stored
      var byte = field.pointee.byte
      if !isInOrder {
        let isPresent = !field.pointee.isOptional || field.pointee.isPresent(value)
        let slot = Int(isPresent ? slots[byte] : slots[byte] & ~KeyTable.absent)
        if slot == expected {
          expected &+= 1
        } else if slot == KeyTable.fresh, isPresent {
          // The message needs the key for the first time: it comes after all others.
          expected = builder.recorded.keyTables.takeSlot(keyTable, ofByte: byte, isPresent: true) &+ 1
        } else {
          builder.recorded.findSlot(keyTable, ofByte: byte, &expected, isPresent: isPresent)
          byte = keyTable.pointee.firstOfSameName(byte)
        }
        if !isPresent { continue }
      }
      let key = TokenKey(byte: byte)
      switch field.pointee.operation {
      case .double: field.pointee.record(Double.self, at: value, on: &room, key)
      case .float: field.pointee.record(Float.self, at: value, on: &room, key)
      case .bool: field.pointee.record(Bool.self, at: value, on: &room, key)
      case .int8: field.pointee.record(Int8.self, at: value, on: &room, key)
      case .int16: field.pointee.record(Int16.self, at: value, on: &room, key)
      case .int32: field.pointee.record(Int32.self, at: value, on: &room, key)
      case .int64: field.pointee.record(Int64.self, at: value, on: &room, key)
      case .uint8: field.pointee.record(UInt8.self, at: value, on: &room, key)
      case .uint16: field.pointee.record(UInt16.self, at: value, on: &room, key)
      case .uint32: field.pointee.record(UInt32.self, at: value, on: &room, key)
      case .uint64: field.pointee.record(UInt64.self, at: value, on: &room, key)
      case .string:
        let index = field.pointee.lend(String.self, at: value) { builder.recorded.strings.intern($0) }
        builder.recorded.strings[index].valueUses &+= 1
        room.append(.string, key: key, value: index)
      case .scalar, .enumeration, .scalars, .fields, .array, .other:
        builder.recorded.tape.take(room)
        try record(value, key, field.pointee, builder, object, &first)
        room = builder.recorded.tape.room(tokensPerValue)
      }
    }
  }

  /// Records the value of a field by its coder.
  @inline(never)
  private func record(
    _ value: UnsafeRawPointer, _ key: TokenKey, _ field: FieldInstruction, _ builder: TapeBuilder,
    _ object: Int,
    _ first: inout Int
  ) throws {
    if !program.isFlat {
      builder.recorded.tape.linkAll(from: first, in: object)
      // An earlier value may have written to another container.
      if !builder.isCurrent(object) { builder.go(to: object) }
    }
    let index = builder.recorded.tape.count
    try field.coder._withUnsafeGuaranteedRef { try $0.append(value, key, builder, object) }
    if !program.isFlat {
      builder.recorded.tape.link(index, in: object)
      first = builder.recorded.tape.count
    }
  }

  /// Checks the table with the first value, and makes the keys known to the key table.
  @inline(never)
  private func learnKeys(_ value: Value, _ builder: TapeBuilder) throws {
    try table.checkOnce(value)
    func find<Key: CodingKey>(_ type: Key.Type) -> KeyTable.Reference { builder.pool(of: type).pointee.keys }
    let keyTable = find(program.keyType)
    for (field, key) in zip(program.instructions, program.keys) where !keyTable.pointee.isLearnt(field.byte) {
      keyTable.pointee.learn(key, named: key.stringValue, byte: field.byte)
    }
    self.keyTable = keyTable
  }
}

// In the file that calls it, so that it is specialized where files are optimized one by one, as in a debug build.
extension FieldInstruction {
  /// Lends a value that is present.
  @inline(__always)
  fileprivate func lend<Value, Result>(
    _ type: Value.Type, at value: UnsafeRawPointer, _ body: (Value) -> Result
  ) -> Result {
    isOptional
      ? body(value.assumingMemoryBound(to: Value?.self).pointee.unsafelyUnwrapped)
      : body(value.assumingMemoryBound(to: Value.self).pointee)
  }

  /// Records a number or a Bool that is present.
  @inline(__always)
  fileprivate func record<Value: TapeScalar>(
    _ type: Value.Type, at value: UnsafeRawPointer, on room: inout TapeRoom, _ key: TokenKey
  ) {
    lend(type, at: value) { $0.record(on: &room, key: key) }
  }
}
