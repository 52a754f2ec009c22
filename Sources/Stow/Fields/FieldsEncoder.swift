// How a type with a table of fields is recorded: one field after the other from the memory of its properties,
// as the same tokens that its `encode(to:)` would leave.

extension StowFields {
  /// Makes the type encoder of the type; nil if its properties are not stored directly in its values, as in a
  /// class, or if its keys are not known by their bytes.
  static func makeFieldsEncoder() -> AnyTypeEncoder? {
    let table = stowFields
    let (type, keys) = table.checkedKeys()
    guard let offsets = table.storedOffsets, let bytes = CodedField.bytes(of: keys) else { return nil }
    return FieldsTypeEncoder(table, type, keys, bytes, offsets)
  }
}

/// Records values by the table of their fields.
final class FieldsTypeEncoder<Value: StowFields>: TypeEncoder<Value> {
  private let table: FieldTable<Value>
  private let keyType: any CodingKey.Type
  private let keys: [any CodingKey]
  private let coders: [FieldCoder]
  private let fields: UnsafeMutableBufferPointer<CodedField>
  /// Whether no field holds containers or calls `Codable`.
  private let isFlat: Bool
  /// Nil before the first value.
  @exclusivity(unchecked) private var keyTable: KeyTable.Reference?

  init(
    _ table: FieldTable<Value>, _ keyType: any CodingKey.Type, _ keys: [any CodingKey], _ bytes: [Int],
    _ offsets: [Int]
  ) {
    self.table = table
    self.keyType = keyType
    self.keys = keys
    coders = table.fields.map { $0.makeCoder() }
    fields = CodedField.allocate(coders, bytes, offsets)
    isFlat = coders.allSatisfy { $0.kind != .other }
  }

  deinit { fields.deallocate() }

  override func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    guard let keyTable else {
      learnKeys(copy value, recorder)
      return try encode(value, into: recorder, key: key, parent: parent, level: level)
    }
    if isFlat, recorder.hasRoom {
      return try withUnsafePointer(to: value) {
        try recordFlat($0, keyTable, recorder, key: key, parent: parent)
      }
    }
    let outside = try recorder.beginCall(of: value, key: key, parent: parent)
    do {
      recorder.occupy(recorder.recording.beginObject(keyTable, key: key, parent: parent, flags: 0))
      var room = recorder.recording.tape.room(fields.count)
      try withUnsafePointer(to: value) {
        try record($0, keyTable, recorder, begin: outside.start, &room)
      }
      recorder.recording.tape.take(room)
    } catch {
      recorder.failCall(parent: parent, outside)
      throw error
    }
    recorder.endCall(key: key, parent: parent, outside)
  }

  override func encode(
    _ elements: UnsafeBufferPointer<Value>, into recorder: Recorder, parent: Int
  ) throws {
    guard !elements.isEmpty, let first = elements.baseAddress else { return }
    if keyTable == nil { learnKeys(first.pointee, recorder) }
    guard let keyTable, isFlat, recorder.hasRoom else {
      return try super.encode(elements, into: recorder, parent: parent)
    }
    let stride = MemoryLayout<Value>.stride
    for index in 0..<elements.count {
      try recordFlat(
        UnsafeRawPointer(first) + index &* stride, keyTable, recorder, key: TokenKey(index: index),
        parent: parent)
    }
  }

  /// Records a value whose fields call nothing that needs the containers around it.
  @inline(__always)
  private func recordFlat(
    _ value: UnsafeRawPointer, _ keyTable: KeyTable.Reference, _ recorder: Recorder, key: TokenKey,
    parent: Int
  ) throws {
    var room = recorder.recording.tape.room(fields.count &+ 2)
    let begin = room.count
    let start = ContainerStart(.object, key: key, parent: parent, index: keyTable.pointee.index)
    recorder.recording.keyTables.countUse(keyTable, at: begin)
    recorder.recording.tape.append(start, to: &room)
    try record(value, keyTable, recorder, begin: begin, &room)
    room.append(Token(.end, index: begin))
    recorder.recording.tape.take(room)
  }

  /// Records the fields of a value into room on the tape, which is valid only while nobody else writes there.
  @inline(__always)
  private func record(
    _ value: UnsafeRawPointer, _ keyTable: KeyTable.Reference, _ recorder: Recorder, begin: Int,
    _ room: inout TapeRoom
  ) throws {
    let slots = keyTable.pointee.table
    /// The slot that the next key most likely has.
    var expected = 0
    guard var field = UnsafePointer(fields.baseAddress) else { return }
    let end = field + fields.count
    while field < end {
      defer { field += 1 }
      let value = value + field.pointee.offset
      let byte = field.pointee.byte
      if field.pointee.isOptional, !field.pointee.isPresent(value) {
        if Int(slots[byte] & ~KeyTable.absent) == expected {
          expected &+= 1
        } else {
          _ = recorder.recording.slot(keyTable, ofByte: byte, &expected, isPresent: false)
        }
        continue
      }
      var slot = Int(slots[byte])
      if slot == KeyTable.fresh {
        // The message needs the key for the first time: it comes after all others.
        slot = recorder.recording.keyTables.takeSlot(keyTable, ofByte: byte, isPresent: true)
        expected = slot &+ 1
      } else if slot == expected {
        expected &+= 1
      } else {
        slot = recorder.recording.slot(keyTable, ofByte: byte, &expected, isPresent: true)
      }
      let key = TokenKey(slot: slot)
      let isOptional = field.pointee.isOptional
      switch field.pointee.kind {
      case .double:
        let double =
          isOptional ? value.load(as: Double?.self).unsafelyUnwrapped : value.load(as: Double.self)
        room.append(.double, key: key, word: double.bitPattern)
      case .int:
        let int = isOptional ? value.load(as: Int?.self).unsafelyUnwrapped : value.load(as: Int.self)
        if let short = Int32(exactly: int) {
          room.append(Token(.integer, key: key, index: Int(short)))
        } else {
          room.append(.longInteger, key: key, word: UInt64(truncatingIfNeeded: int))
        }
      case .bool:
        let bool = isOptional ? value.load(as: Bool?.self).unsafelyUnwrapped : value.load(as: Bool.self)
        room.append(Token(bool ? .true : .false, key: key))
      case .string:
        let index =
          isOptional
          ? recorder.recording.strings.intern(
            value.assumingMemoryBound(to: String?.self).pointee.unsafelyUnwrapped)
          : recorder.recording.strings.intern(value.assumingMemoryBound(to: String.self).pointee)
        recorder.recording.strings.countValueUse(index)
        room.append(Token(.string, key: key, index: index))
      case .scalar, .other:
        recorder.recording.tape.take(room)
        // An earlier value may have written to a container that was left.
        if !isFlat, !recorder.isCurrent(begin) { recorder.resume(begin) }
        try Self.record(value, key, field.pointee, recorder)
        room = recorder.recording.tape.room(fields.count &+ 2)
      }
    }
  }

  /// Records the value of a field by its coder.
  @inline(never)
  private static func record(
    _ value: UnsafeRawPointer, _ key: TokenKey, _ field: CodedField, _ recorder: Recorder
  ) throws {
    do {
      try field.coder._withUnsafeGuaranteedRef { try $0.encode(value, key: key, into: recorder) }
    } catch {
      recorder.recording.isOutOfOrder = true
      recorder.recording.dropKey()
      throw error
    }
  }

  /// Checks the table with the first value, and makes the keys known to the key table.
  @inline(never)
  private func learnKeys(_ value: Value, _ recorder: Recorder) {
    table.checkFirst(value)
    func find<Key: CodingKey>(_ type: Key.Type) -> KeyTable.Reference { recorder.keys(type).pointee.table }
    let keyTable = find(keyType)
    for (field, key) in zip(fields, keys) where !keyTable.pointee.isLearnt(field.byte) {
      keyTable.pointee.learn(key, named: key.stringValue, byte: field.byte)
    }
    self.keyTable = keyTable
  }
}
