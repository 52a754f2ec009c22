// How a type with a table of fields is recorded: one field after the other from the memory of its properties,
// as the same tokens that its `encode(to:)` would leave.

extension StowFields {
  /// Makes the type encoder of the type; nil if its properties are not stored directly in its values, as in a
  /// class, or if its keys are not known by their bytes.
  static func makeFieldsEncoder() -> AnyTypeEncoder? {
    do throws(FieldTableError) {
      guard let fields = try CodedFields<Self>(), fields.table.fields.allSatisfy({ $0.offset != nil }) else {
        return nil
      }
      return FieldsTypeEncoder(fields)
    } catch {
      return WrongFieldsEncoder<Self>(error)
    }
  }
}

/// Refuses to encode the values of a type whose table is wrong.
private final class WrongFieldsEncoder<Value>: TypeEncoder<Value> {
  private let flaw: FieldTableError

  init(_ flaw: FieldTableError) { self.flaw = flaw }

  override func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    throw EncodingError.wrongFields(flaw, copy value, recorder, key, parent)
  }
}

extension EncodingError {
  fileprivate static func wrongFields(
    _ flaw: any Error, _ value: Any, _ recorder: Recorder, _ key: TokenKey, _ parent: Int
  ) -> EncodingError {
    .invalid(
      value, path: recorder.recording.path(parent: parent, key: key, start: recorder.recording.tape.count),
      "\(flaw)")
  }
}

/// Records values by the table of their fields.
final class FieldsTypeEncoder<Value: StowFields>: TypeEncoder<Value> {
  private let fields: CodedFields<Value>
  /// Nil before the first value.
  @exclusivity(unchecked) private var keyTable: KeyTable.Reference?

  /// The most tokens that a value and its fields take, and the most words.
  private var tokensPerValue: Int { fields.list.count + 2 }

  init(_ fields: CodedFields<Value>) { self.fields = fields }

  override func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    guard let keyTable else {
      do { try learnKeys(copy value, recorder) } catch {
        throw EncodingError.wrongFields(error, copy value, recorder, key, parent)
      }
      return try encode(value, into: recorder, key: key, parent: parent, level: level)
    }
    if fields.isFlat, recorder.hasRoom {
      var room = recorder.recording.tape.room(tokensPerValue)
      try withUnsafePointer(to: value) {
        try recordFlat($0, keyTable, recorder, key: key, parent: parent, false, &room)
      }
      return recorder.recording.tape.take(room)
    }
    try recorder.call(of: value, key: key, parent: parent) { value, begin in
      recorder.occupy(recorder.recording.beginObject(keyTable, key: key, parent: parent))
      var room = recorder.recording.tape.room(tokensPerValue)
      try withUnsafePointer(to: value) { try record($0, keyTable, recorder, begin: begin, false, &room) }
      recorder.recording.tape.take(room)
    }
  }

  override func encode(
    _ elements: UnsafeBufferPointer<Value>, into recorder: Recorder, parent: Int
  ) throws {
    // A wrong table is an error of the first element, which has its path.
    if keyTable == nil, let first = elements.first { try? learnKeys(first, recorder) }
    guard fields.isFlat, recorder.hasRoom, let keyTable, let first = elements.baseAddress else {
      return try super.encode(elements, into: recorder, parent: parent)
    }
    var room = recorder.recording.tape.room(0)
    var isInOrder = false
    for index in 0..<elements.count {
      // Room for some values at once: for all of them, it could be far more than they need. Whether the slots are in
      // order is known once the first values have taken them.
      if index % 64 == 0 {
        isInOrder = hasSlotsInOrder(keyTable)
        recorder.recording.tape.take(room)
        room = recorder.recording.tape.room(min(64, elements.count - index) * tokensPerValue)
      }
      try recordFlat(
        first + index, keyTable, recorder, key: TokenKey(index), parent: parent, isInOrder, &room)
    }
    recorder.recording.tape.take(room)
  }

  /// Returns whether every field always has a value, and the slot of its key is its number.
  private func hasSlotsInOrder(_ keyTable: KeyTable.Reference) -> Bool {
    fields.list.enumerated().allSatisfy { number, field in
      !field.isOptional && keyTable.pointee.table[field.byte] == number
    }
  }

  /// Records a value whose fields call nothing that needs the containers around it.
  @inline(__always)
  private func recordFlat(
    _ value: UnsafeRawPointer, _ keyTable: KeyTable.Reference, _ recorder: Recorder, key: TokenKey,
    parent: Int, _ isInOrder: Bool, _ room: inout TapeRoom
  ) throws {
    let begin = room.count
    let start = ContainerStart(.object, key: key, parent: parent, index: keyTable.pointee.index)
    recorder.recording.keyTables.countUse(keyTable, at: begin)
    recorder.recording.tape.append(start, to: &room)
    try record(value, keyTable, recorder, begin: begin, isInOrder, &room)
    room.append(Token(.end, index: begin))
  }

  /// Records the fields of a value into room on the tape, which is valid only while nobody else writes there.
  ///
  /// - Parameter isInOrder: Whether `hasSlotsInOrder` holds.
  @inline(__always)
  private func record(
    _ value: UnsafeRawPointer, _ keyTable: KeyTable.Reference, _ recorder: Recorder, begin: Int,
    _ isInOrder: Bool, _ room: inout TapeRoom
  ) throws {
    let (list, slots) = (fields.list, keyTable.pointee.table)
    /// The slot that the next key most likely has.
    var expected = 0
    for number in 0..<list.count {
      // Used in place, because copying all of it would take longer than recording a value.
      let field = list.baseAddress.unsafelyUnwrapped + number
      let value = value + field.pointee.stored
      var slot = number
      if !isInOrder {
        let byte = field.pointee.byte
        let isPresent = !field.pointee.isOptional || field.pointee.isPresent(value)
        slot = Int(isPresent ? slots[byte] : slots[byte] & ~KeyTable.absent)
        if slot == expected {
          expected &+= 1
        } else if slot == KeyTable.fresh, isPresent {
          // The message needs the key for the first time: it comes after all others.
          slot = recorder.recording.keyTables.takeSlot(keyTable, ofByte: byte, isPresent: true)
          expected = slot &+ 1
        } else {
          slot = recorder.recording.slot(keyTable, ofByte: byte, &expected, isPresent: isPresent)
        }
        if !isPresent { continue }
      }
      let key = TokenKey(slot)
      switch field.pointee.kind {
      case .double: field.pointee.lend(Double.self, at: value) { $0.record(on: &room, key: key) }
      case .int: field.pointee.lend(Int.self, at: value) { $0.record(on: &room, key: key) }
      case .bool: field.pointee.lend(Bool.self, at: value) { $0.record(on: &room, key: key) }
      case .string:
        let index = field.pointee.lend(String.self, at: value) { recorder.recording.strings.intern($0) }
        recorder.recording.strings[index].valueUses &+= 1
        room.append(Token(.string, key: key, index: index))
      case .scalar, .other:
        recorder.recording.tape.take(room)
        // An earlier value may have written to a container that was left.
        if !fields.isFlat, !recorder.isCurrent(begin) { recorder.resume(begin) }
        try Self.record(value, key, field.pointee, recorder)
        room = recorder.recording.tape.room(tokensPerValue)
      }
    }
  }

  /// Records the value of a field by its coder.
  @inline(never)
  private static func record(
    _ value: UnsafeRawPointer, _ key: TokenKey, _ field: CodedField, _ recorder: Recorder
  ) throws {
    try field.coder._withUnsafeGuaranteedRef { try $0.encode(value, key, recorder) }
  }

  /// Checks the table with the first value, and makes the keys known to the key table.
  @inline(never)
  private func learnKeys(_ value: Value, _ recorder: Recorder) throws {
    try fields.table.checkOnce(value)
    func find<Key: CodingKey>(_ type: Key.Type) -> KeyTable.Reference { recorder.pool(of: type).pointee.keys }
    let keyTable = find(fields.keyType)
    for (field, key) in zip(fields.list, fields.keys) where !keyTable.pointee.isLearnt(field.byte) {
      keyTable.pointee.learn(key, named: key.stringValue, byte: field.byte)
    }
    self.keyTable = keyTable
  }
}

// In the file that calls it, so that it is specialized where files are optimized one by one, as in a debug build.
extension CodedField {
  /// Lends a value that is present.
  @inline(__always)
  fileprivate func lend<Value, Result>(
    _ type: Value.Type, at value: UnsafeRawPointer, _ body: (Value) -> Result
  ) -> Result {
    isOptional
      ? body(value.assumingMemoryBound(to: Value?.self).pointee.unsafelyUnwrapped)
      : body(value.assumingMemoryBound(to: Value.self).pointee)
  }
}
