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

/// Records the values of a type with a table of fields, by a program that does not know the type.
final class FieldsEncodingPlan<Value: StowFields>: EncodingPlan<Value> {
  private let table: FieldTable<Value>
  fileprivate let program: EncodingProgram

  init(_ table: FieldTable<Value>, _ fields: FieldProgram) {
    (self.table, program) = (table, EncodingProgram(fields, stride: MemoryLayout<Value>.stride))
  }

  override var continuesObjects: Bool { false }

  override func append(
    _ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    if program.keyTable == nil {
      do { try learnKeys(copy value, builder) } catch {
        throw EncodingError.wrongFields(error, copy value, builder, key, parent)
      }
    }
    let levels = builder.levels(in: parent)
    if levels > 0 {
      return try withUnsafePointer(to: value) {
        try program.append(UnsafeRawPointer($0), key: key, in: parent, levels, builder)
      }
    }
    try builder.call(of: value, key: key, parent: parent) { value, place in
      let encoder = RecordingEncoder(builder: builder, place: place, parent: parent, key: key)
      try withUnsafePointer(to: value) { try program.record(UnsafeRawPointer($0), at: encoder, builder) }
    }
  }

  override func encode(
    _ elements: UnsafeBufferPointer<Value>, to builder: TapeBuilder, in array: Int
  ) throws {
    // A wrong table is an error of the first element, which has its path.
    if program.keyTable == nil, let first = elements.first { try? learnKeys(first, builder) }
    let levels = builder.levels(in: array)
    guard program.keyTable != nil, levels > 0, let first = elements.baseAddress else {
      return try super.encode(elements, to: builder, in: array)
    }
    try program.append(elements.count, from: UnsafeRawPointer(first), to: array, levels, builder)
  }

  override func retained(_ elements: [Value], by builder: TapeBuilder, in parent: Int) -> RetainedValue? {
    // Whether arrays are kept is known once one value was recorded.
    let depth = program.keyTable == nil ? 0 : program.keptDepth + 1
    guard depth > 1, builder.levels(in: parent, wanted: depth) >= depth else { return nil }
    func lend(_ body: (UnsafeRawPointer) -> Void) {
      elements.withUnsafeBufferPointer { $0.baseAddress.map { body(UnsafeRawPointer($0)) } }
    }
    return program.keep(elements.count, lend, builder).map { .rows($0) }
  }

  /// Checks the table with the first value, and makes the keys known to the key table.
  @inline(never)
  private func learnKeys(_ value: Value, _ builder: TapeBuilder) throws {
    try table.checkOnce(value)
    func find<Key: CodingKey>(_ type: Key.Type) -> KeyTable.Reference { builder.pool(of: type).pointee.keys }
    let (fields, keyTable) = (program.fields, find(program.fields.keyType))
    for (field, key) in zip(fields.instructions, fields.keys) where !keyTable.pointee.isLearnt(field.byte) {
      keyTable.pointee.learn(key, named: key.stringValue, byte: field.byte)
    }
    program.keyTable = keyTable
  }
}

extension StowFields {
  /// Returns the program that records the type; nil if it is recorded otherwise, or its table was not checked yet.
  static func encodingProgram(in builder: TapeBuilder) -> EncodingProgram? {
    let entry = builder.plan(of: Self.self)
    let program =
      entry.isPlain
      ? nil : entry.withPlan(as: AnyEncodingPlan.self) { ($0 as? FieldsEncodingPlan<Self>)?.program }
    return program?.keyTable == nil ? nil : program
  }

  static var fieldWitnesses: FieldWitnesses { stowFields.witnesses }
}

// MARK: the program

/// Records values from memory, field after field. Values with tables of their own are recorded in the same loop; only what
/// calls `Codable` leaves it, for itself.
final class EncodingProgram {
  let fields: FieldProgram
  /// The distance of values in an array.
  private let stride: Int
  /// Nil before the first value.
  @exclusivity(unchecked) var keyTable: KeyTable.Reference?
  /// Nil before the first array.
  private var knownDepth: Int?

  init(_ fields: FieldProgram, stride: Int) { (self.fields, self.stride) = (fields, stride) }

  /// Appends a value, which the caller links.
  ///
  /// - Parameter levels: How many containers may nest in `parent` without another look at the depth.
  func append(
    _ value: UnsafeRawPointer, key: TokenKey, in parent: Int, _ levels: Int, _ builder: TapeBuilder
  ) throws {
    try builder.runProgram {
      var room = builder.recorded.tape.room(0, after: Token.unlinked)
      try record(value, key: key, in: parent, levels, needed: 0, builder, &room)
      builder.recorded.tape.take(room)
    }
  }

  /// Records values that follow each other to an array.
  func append(
    _ count: Int, from first: UnsafeRawPointer, to array: Int, _ levels: Int, _ builder: TapeBuilder
  ) throws {
    try builder.runProgram {
      var room = builder.recorded.tape.room(0, after: Int(builder.recorded.tape.container(array).last))
      try record(count, from: first, in: array, levels, needed: 0, builder, &room)
      builder.recorded.tape.take(room)
      builder.recorded.tape.link(count, last: room.last, to: array)
    }
  }

  /// Records a value to the place of an encoder.
  func record(_ value: UnsafeRawPointer, at encoder: RecordingEncoder, _ builder: TapeBuilder) throws {
    guard let keyTable else { preconditionFailure("a program that has no keys") }
    let object = builder.container(at: encoder, isArray: false) { builder.recorded.form(of: keyTable) }
    var room = builder.recorded.tape.room(fields.instructions.count, after: encoder.place)
    let levels = builder.levels(in: object)
    let count = try recordFields(
      of: value, to: object, levels, needed: fields.instructions.count, builder, &room)
    builder.recorded.tape.take(room)
    builder.recorded.tape.link(count, last: room.last, to: object)
  }

  private func record(
    _ count: Int, from first: UnsafeRawPointer, in array: Int, _ levels: Int, needed: Int,
    _ builder: TapeBuilder, _ room: inout TapeRoom
  ) throws {
    for index in 0..<count {
      // The index is part of the paths of errors.
      let key = builder.recorded.tape.key(index, at: room.count)
      try record(
        first + index &* stride, key: key, in: array, levels, needed: needed, builder, &room)
    }
  }

  /// Records a value as an object.
  ///
  /// - Parameter needed: How much room the values around it may still need.
  private func record(
    _ value: UnsafeRawPointer, key: TokenKey, in parent: Int, _ levels: Int, needed: Int,
    _ builder: TapeBuilder, _ room: inout TapeRoom
  ) throws {
    guard let keyTable else { preconditionFailure("a program that has no keys") }
    let needed = needed &+ fields.instructions.count &+ 1
    builder.recorded.tape.enlarge(&room, to: needed)
    let previous = room.last
    let form = builder.recorded.form(of: keyTable)
    let object = builder.recorded.tape.begin(form, key: key, parent: parent, in: &room)
    builder.countCall()
    let count = try recordFields(of: value, to: object, levels &- 1, needed: needed, builder, &room)
    builder.endCall()
    builder.recorded.tape.end(object, count: count, after: previous, in: &room)
  }

  /// Records the fields of a value to an object, and returns how many have values.
  ///
  /// - Parameter levels: How many containers may nest in the object; below zero if it is too deep itself.
  private func recordFields(
    of value: UnsafeRawPointer, to object: Int, _ levels: Int, needed: Int, _ builder: TapeBuilder,
    _ room: inout TapeRoom
  ) throws -> Int {
    guard let keyTable, let first = fields.instructions.baseAddress else { return 0 }
    var count = 0
    /// The slot that the next key most likely has.
    var expected = 0
    for number in 0..<fields.instructions.count {
      // Used in place, because copying all of it would take longer than recording a value.
      let field = first + number
      let value = value + field.pointee.stored
      var byte = field.pointee.byte
      let isPresent = !field.pointee.isOptional || field.pointee.isPresent(value)
      byte = builder.recorded.find(byte, of: keyTable, &expected, isPresent: isPresent)
      if !isPresent { continue }
      count &+= 1
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
        let index = field.pointee.lend(String.self, at: value) { builder.recorded.use($0) }
        room.append(.string, key: key, value: index)
      case .enumeration:
        // In an object that is too deep, the call throws.
        if levels >= 0, let entry = field.pointee.symbols?[Int(value.load(as: UInt8.self))],
          entry.state == .integer
        {
          room.append(.integer, key: key, value: Int(entry.value))
        } else {
          try recordRare(field, value, key, object, levels, needed, builder, &room)
        }
      case .scalar, .scalars, .fields, .array, .other:
        try recordRare(field, value, key, object, levels, needed, builder, &room)
      }
    }
    return count
  }

  /// Records a value that takes a call.
  @inline(never)
  private func recordRare(
    _ field: UnsafeMutablePointer<FieldInstruction>, _ value: UnsafeRawPointer, _ key: TokenKey,
    _ object: Int, _ levels: Int, _ needed: Int, _ builder: TapeBuilder, _ room: inout TapeRoom
  ) throws {
    try field.pointee.coder._withUnsafeGuaranteedRef { coder in
      let wanted = field.pointee.operation == .array ? 2 : 1
      var levels = levels
      if field.pointee.program != nil, levels < wanted {
        levels = builder.levels(in: object, wanted: wanted)
      }
      if let program = field.pointee.program, levels >= wanted,
        wanted == 1 || program._withUnsafeGuaranteedRef({ $0.keptDepth == 0 })
      {
        return try program._withUnsafeGuaranteedRef { program in
          if field.pointee.operation == .fields, !field.pointee.isOptional {
            return try program.record(value, key: key, in: object, levels, needed: needed, builder, &room)
          }
          try coder.lend(value) { first, count in
            guard field.pointee.operation == .array else {
              guard let first else { return }
              return try program.record(first, key: key, in: object, levels, needed: needed, builder, &room)
            }
            let previous = room.last
            let array = builder.recorded.tape.begin(.array, key: key, parent: object, in: &room)
            if let first {
              try program.record(count, from: first, in: array, levels &- 1, needed: needed, builder, &room)
            }
            builder.recorded.tape.end(array, count: count, after: previous, in: &room)
          }
        }
      }
      if levels >= 0, let symbols = coder.symbols, let text = symbols.text(at: value) {
        return room.append(.string, key: key, value: builder.recorded.use(text))
      }
      builder.recorded.tape.take(room)
      let index = builder.recorded.tape.count
      if field.pointee.operation == .scalar || field.pointee.operation == .scalars && levels > 0 {
        coder.appendScalars(value, key, &builder.recorded, object)
      } else {
        try coder.append(value, key, builder, object)
        coder.symbols?.learn(value, builder.recorded, from: index)
        learnProgram(of: field, coder, builder)
      }
      builder.recorded.tape.link(index, to: &room, needed)
    }
  }

  // MARK: arrays that are kept

  /// How many objects nest in each value of an array that is kept, including itself; 0 if arrays are not kept: if some field
  /// is neither a number nor a Bool, an enumeration, or a value of such fields.
  var keptDepth: Int {
    if let known = knownDepth { return known }
    var depth = 1
    for field in fields.instructions {
      if field.operation == .fields, !field.isOptional {
        // What is not known yet may be later.
        guard let nested = field.program?._withUnsafeGuaranteedRef({ $0.keptDepth }) else { return 0 }
        depth = nested == 0 ? 0 : max(depth, nested + 1)
      } else if field.operation == .string || !field.operation.isInLine && field.operation != .enumeration {
        depth = 0
      }
      if depth == 0 { break }
    }
    knownDepth = depth
    return depth
  }

  /// Returns an array that is kept; nil if it has cases that were not met before, or are not encoded as integers. Takes slots
  /// as the elements would.
  func keep(
    _ count: Int, _ lend: @escaping ((UnsafeRawPointer) -> Void) -> Void, _ builder: TapeBuilder
  ) -> KeptRows? {
    var steps: [KeptRows.Step] = []
    var areAlike = keptDepth == 1
    lend { first in
      let rows = (first: first, count: count, stride: stride)
      guard hasIntegers(rows) else { return }
      addSteps(of: rows, byte: 0, offset: 0, to: &steps, &areAlike, builder)
    }
    guard !steps.isEmpty else { return nil }
    return KeptRows(steps: steps, count: count, stride: stride, areAlike: areAlike, lend: lend)
  }

  private typealias Rows = (first: UnsafeRawPointer, count: Int, stride: Int)

  /// Returns whether all cases of enumerations are known, and are integers.
  private func hasIntegers(_ rows: Rows) -> Bool {
    fields.instructions.allSatisfy { field in
      if let program = field.program {
        return program._withUnsafeGuaranteedRef {
          $0.hasIntegers((rows.first + field.stored, rows.count, rows.stride))
        }
      }
      guard let symbols = field.symbols else { return true }
      return (0..<rows.count).allSatisfy { row in
        let value = rows.first + row &* rows.stride + field.stored
        if field.isOptional, !field.isPresent(value) { return true }
        return symbols[Int(value.load(as: UInt8.self))].state == .integer
      }
    }
  }

  /// - Parameters:
  ///   - byte: The byte of the key that the values have.
  ///   - offset: Where they are in the elements of the array.
  private func addSteps(
    of rows: Rows, byte: Int, offset: Int, to steps: inout [KeptRows.Step], _ areAlike: inout Bool,
    _ builder: TapeBuilder
  ) {
    guard let keyTable else { preconditionFailure("a program that has no keys") }
    builder.recorded.keyTables.countUses(keyTable, rows.count, from: builder.recorded.tape.nextContainer)
    steps.append(.begin(keyTable, byte: byte))
    var expected = 0
    for (field, coder) in zip(fields.instructions, fields.coders) {
      var present = rows.count
      if field.isOptional {
        present = (0..<rows.count).reduce(0) {
          $0 + (field.isPresent(rows.first + $1 &* rows.stride + offset + field.stored) ? 1 : 0)
        }
        if present > 0, present < rows.count { areAlike = false }
      }
      let byte = builder.recorded.find(field.byte, of: keyTable, &expected, isPresent: present > 0)
      if present == 0 { continue }
      let place = offset + field.stored
      if let program = field.program {
        program._withUnsafeGuaranteedRef {
          $0.addSteps(of: rows, byte: byte, offset: place, to: &steps, &areAlike, builder)
        }
      } else {
        steps.append(
          .value(
            KeptRows.Column(
              byte: byte, offset: place, isOptional: field.isOptional, type: coder.tapeScalar ?? Int64.self,
              integers: coder.symbols.map { UnsafePointer($0.integers) })))
      }
    }
    steps.append(.end)
  }

  /// Notes how a value with a table of its own is recorded from now on.
  private func learnProgram(
    of field: UnsafeMutablePointer<FieldInstruction>, _ coder: FieldCoder, _ builder: TapeBuilder
  ) {
    guard field.pointee.operation == .fields || field.pointee.operation == .array,
      field.pointee.program == nil
    else { return }
    field.pointee.program = coder.findProgram(builder).map(Unmanaged.passUnretained)
  }
}

/// What the `Codable` of a type of one byte records for each, once it was seen.
final class RecordedBytes {
  struct Entry: BitwiseCopyable {
    enum State: UInt8 { case unknown, absent, integer, text, other }

    var state = State.unknown
    /// The integer, or which of the texts it is.
    fileprivate(set) var value: Int32 = 0
  }

  let entries = UnsafeMutablePointer<Entry>.allocate(capacity: 256)
  /// The integers for all bytes, as rows have them.
  let integers = UnsafeMutablePointer<Int64>.allocate(capacity: 256)
  @exclusivity(unchecked) private var texts: [String] = []

  init() {
    entries.initialize(repeating: Entry(), count: 256)
    integers.initialize(repeating: KeptRows.noInteger, count: 256)
  }

  deinit {
    entries.deallocate()
    integers.deallocate()
  }

  func text(at value: UnsafeRawPointer) -> String? {
    let entry = entries[Int(value.load(as: UInt8.self))]
    return entry.state == .text ? texts[Int(entry.value)] : nil
  }

  /// Notes what was recorded from a token on, unless it is more than an integer or a text.
  func learn(_ value: UnsafeRawPointer, _ message: borrowing RecordedMessage, from index: Int) {
    let entry = entries + Int(value.load(as: UInt8.self))
    entry.pointee.state = .other
    guard message.tape.count == index + 1 else { return }
    let token = message.tape[index]
    if token.kind == .integer {
      (entry.pointee.state, entry.pointee.value) = (.integer, Int32(truncatingIfNeeded: token.integer))
      integers[Int(value.load(as: UInt8.self))] = token.integer
    } else if token.kind == .string {
      (entry.pointee.state, entry.pointee.value) = (.text, Int32(texts.count))
      texts.append(message.strings.string(token.value))
    }
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
