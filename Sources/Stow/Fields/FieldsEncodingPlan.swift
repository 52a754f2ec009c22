// How a type with a table of fields is recorded: one field after the other from the memory of its properties,
// as the same tokens that its `encode(to:)` would leave.

extension StowFields {
  /// Makes the plan of the type; nil if its values do not store its properties directly, or if its keys are not known by
  /// their bytes.
  static func makeFieldsEncodingPlan() -> AnyEncodingPlan? {
    let table = stowFields
    guard table.fields.allSatisfy({ $0.offset != nil || $0.address != nil }) else { return nil }
    // The check of a wrong table throws before its program runs.
    do { return try FieldProgram(table).map { FieldsEncodingPlan(table, $0) } } catch {
      return FieldsEncodingPlan(table, FieldProgram())
    }
  }
}

/// Records the values of a type with a table of fields, by a program that does not know the type.
final class FieldsEncodingPlan<Value: StowFields>: EncodingPlan<Value> {
  private let table: FieldTable<Value>
  fileprivate let program: EncodingProgram
  /// Whether values encode themselves, because they are objects that do not store their properties as they are.
  private var encodesItself = false

  init(_ table: FieldTable<Value>, _ fields: FieldProgram) {
    self.table = table
    program = EncodingProgram(fields, stride: MemoryLayout<Value>.stride, isObject: Value.self is AnyClass)
  }

  override var continuesObjects: Bool { false }

  override func append(
    _ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    if program.keyTable == nil {
      do { try learnKeys(copy value, builder) } catch {
        let path = builder.recorded.path(key, at: builder.recorded.tape.count, in: parent)
        throw EncodingError.invalid(copy value, path: path, "\(error)")
      }
    }
    let levels = program.keyTable == nil ? 0 : builder.levels(in: parent)
    if levels > 0 {
      return try withUnsafePointer(to: value) {
        try program.append($0, key: key, in: parent, levels: levels, builder)
      }
    }
    // That call throws, unless the value encodes itself: it nests too deeply, or no more calls fit on the stack.
    try builder.appendPlain(value, key: key, parent: parent)
  }

  override func write(_ value: borrowing Value, by emitter: inout Emitter) -> Bool {
    guard program.isFlat else { return false }
    return withUnsafePointer(to: value) { program.write(UnsafeRawPointer($0), by: &emitter) }
  }

  override func encode(_ elements: UnsafeBufferPointer<Value>, to builder: TapeBuilder, in array: Int) throws {
    guard elements.count > 0, let first = elements.baseAddress else { return }
    // A wrong table is an error of the first element, which has its path.
    if program.keyTable == nil { try? learnKeys(first.pointee, builder) }
    let levels = builder.levels(in: array)
    guard program.keyTable != nil, levels > 0 else { return try super.encode(elements, to: builder, in: array) }
    try program.append(elements.count, from: first, in: array, levels: levels, builder)
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

  /// Checks the table with the first value, finds the properties, and makes the keys known to the key table.
  @inline(never)
  private func learnKeys(_ value: Value, _ builder: TapeBuilder) throws {
    if encodesItself { return }
    if program.isObject {
      let offsets = table.objectOffsets(like: value)
      encodesItself = offsets == nil
      guard let offsets else { return }
      for (number, offset) in zip(program.fields.keys.indices, offsets) {
        program.fields.instructions[number].stored = offset
      }
    }
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
    if entry.isPlain { return nil }
    let program = entry.withPlan(as: AnyEncodingPlan.self) { ($0 as? FieldsEncodingPlan<Self>)?.program }
    return program?.keyTable == nil ? nil : program
  }

  static var fieldWitnesses: FieldWitnesses { stowFields.witnesses }
}

// MARK: the program

/// Records values from memory, field after field. Values with tables of their own are recorded in the same loop; only
/// what calls `Codable` leaves it, for itself.
final class EncodingProgram {
  let fields: FieldProgram
  private let stride: Int
  /// Whether values are references to objects. Code of users may change these meanwhile, so what is more than a scalar
  /// is copied from them.
  let isObject: Bool
  /// Whether objects hold only what can be written without a tape.
  let isFlat: Bool
  @exclusivity(unchecked) var keyTable: KeyTable.Reference?
  /// The version of the table in which the keys were found to be in turn.
  @exclusivity(unchecked) private var versionInTurn = -1
  /// Nil before the first array.
  @exclusivity(unchecked) private var knownDepth: Int?

  init(_ fields: FieldProgram, stride: Int, isObject: Bool) {
    (self.fields, self.stride, self.isObject, knownDepth) = (fields, stride, isObject, isObject ? 0 : nil)
    isFlat = fields.instructions.allSatisfy { $0.operation.isInLine || $0.operation == .enumeration }
  }

  /// Appends a value, which the caller links.
  ///
  /// - Parameter levels: How many containers may nest in the parent without another look at the depth.
  func append(_ value: UnsafeRawPointer, key: TokenKey, in parent: Int, levels: Int, _ builder: TapeBuilder) throws {
    try builder.runProgram {
      var room = builder.recorded.tape.room(0, in: parent)
      try record(value, key: key, levels: levels, builder, &room)
      builder.recorded.tape.take(room)
    }
  }

  /// Records values that follow each other to an array.
  func append(_ count: Int, from first: UnsafeRawPointer, in array: Int, levels: Int, _ builder: TapeBuilder) throws {
    try builder.runProgram {
      let last = Int(builder.recorded.tape.container(array).last)
      var room = builder.recorded.tape.room(0, after: last, in: array)
      try record(count, from: first, levels: levels, builder, &room)
      builder.recorded.tape.end(count: count, in: &room)
      builder.recorded.tape.take(room)
    }
  }

  private func record(
    _ count: Int, from first: UnsafeRawPointer, levels: Int, _ builder: TapeBuilder, _ room: inout TapeRoom
  ) throws {
    for index in 0..<count {
      // The index is part of the paths of errors.
      let key = builder.recorded.tape.key(index, at: room.count)
      try record(first + index &* stride, key: key, levels: levels, builder, &room)
    }
  }

  private func record(
    _ value: UnsafeRawPointer, key: TokenKey, levels: Int, _ builder: TapeBuilder, _ room: inout TapeRoom
  ) throws {
    guard let keyTable, let first = fields.instructions.baseAddress else {
      preconditionFailure("a program that has no keys")
    }
    builder.recorded.tape.enlarge(&room, to: fields.instructions.count &+ 1)
    builder.recorded.tape.begin(builder.recorded.form(of: keyTable), key: key, in: &room)
    let levels = levels &- 1
    builder.countCall()
    let areInTurn = keysAreInTurn(keyTable)
    let start = properties(of: value)
    var count = 0
    /// The slot that the next key most likely has.
    var expected = 0
    for number in 0..<fields.instructions.count {
      // Used in place, because copying all of it would take longer than recording a value.
      let field = first + number
      let value = start + field.pointee.stored
      var byte = field.pointee.byte
      let isOptional = field.pointee.isOptional
      let isPresent = !isOptional || field.pointee.isPresent(value)
      if !areInTurn || isPresent && isOptional {
        if areInTurn { expected = number }
        byte = builder.recorded.find(byte, of: keyTable, &expected, isPresent: isPresent)
      }
      if !isPresent { continue }
      count &+= 1
      let key = TokenKey(byte: byte)
      switch field.pointee.operation {
      case .double: value.lend(Double.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .float: value.lend(Float.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .bool: value.lend(Bool.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .int8: value.lend(Int8.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .int16: value.lend(Int16.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .int32: value.lend(Int32.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .int64: value.lend(Int64.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .uint8: value.lend(UInt8.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .uint16: value.lend(UInt16.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .uint32: value.lend(UInt32.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .uint64: value.lend(UInt64.self, isOptional: isOptional) { room.append($0.token, key: key) }
      case .string:
        value.lend(String.self, isOptional: isOptional) {
          room.append(.string, key: key, value: builder.recorded.use($0))
        }
      case .enumeration:
        switch field.pointee.symbols?[Int(value.load(as: UInt8.self))] {
        case .integer(let integer): room.append(.integer, key: key, value: Int(integer))
        case .text(let text): room.append(.string, key: key, value: builder.recorded.use(text))
        default: try recordApart(field, value, key, builder, &room)
        }
      case .fields, .array:
        if try recordNested(field, value, key, levels: levels, builder, &room) { continue }
        try recordApart(field, value, key, builder, &room)
        if field.pointee.program != nil { continue }
        field.pointee.coder._withUnsafeGuaranteedRef {
          field.pointee.program = $0.table?.encodingProgram(in: builder).map { .passUnretained($0) }
        }
      case .scalar:
        let token = field.pointee.coder._withUnsafeGuaranteedRef {
          $0.scalar?.token(at: value, isOptional: isOptional, in: &builder.recorded)
        }
        if let token { room.append(token, key: key) }
      case .scalars where levels > 0, .map where levels > 0:
        let isMap = field.pointee.operation == .map
        field.pointee.coder._withUnsafeGuaranteedRef {
          guard let type = $0.element else { return }
          isMap
            ? type.record(mapAt: value, isOptional: isOptional, in: &builder.recorded, on: &room, key: key)
            : type.record(arrayAt: value, isOptional: isOptional, in: &builder.recorded, on: &room, key: key)
        }
        builder.recorded.tape.enlarge(&room, to: fields.instructions.count)
      case .scalars, .map, .other: try recordApart(field, value, key, builder, &room)
      }
    }
    builder.endCall()
    builder.recorded.tape.end(count: count, in: &room)
  }

  /// Returns the address from which the offsets of properties count: that of the value, or of the object that it refers to.
  @inline(__always)
  private func properties(of value: UnsafeRawPointer) -> UnsafeRawPointer {
    isObject ? UnsafeRawPointer(value.load(as: Unmanaged<AnyObject>.self).toOpaque()) : value
  }

  /// Returns whether the fields have the first slots, in order: then only the keys of optionals, which may have had no
  /// value yet, must be found.
  @inline(__always)
  private func keysAreInTurn(_ keys: KeyTable.Reference) -> Bool {
    keys.pointee.version == versionInTurn || keys.pointee.uses > 1 && findTurns(keys)
  }

  @inline(never)
  private func findTurns(_ keys: KeyTable.Reference) -> Bool {
    for (number, field) in fields.instructions.enumerated() {
      let entry = keys.pointee.table[field.byte]
      guard (field.isOptional ? entry & ~KeyTable.absent : entry) == number else { return false }
    }
    versionInTurn = keys.pointee.version
    return true
  }

  /// Records a value with a table of its own, or an array of such. Returns false if no known program may do so.
  @inline(__always)
  private func recordNested(
    _ field: UnsafeMutablePointer<FieldInstruction>, _ value: UnsafeRawPointer, _ key: TokenKey, levels: Int,
    _ builder: TapeBuilder, _ room: inout TapeRoom
  ) throws -> Bool {
    guard let program = field.pointee.program else { return false }
    let isArray = field.pointee.operation == .array
    let wanted = isArray ? 2 : 1
    let levels = levels >= wanted ? levels : builder.levels(in: room.container, wanted: wanted)
    return try program._withUnsafeGuaranteedRef { program in
      guard levels >= wanted, !isArray || program.keptDepth == 0 else { return false }
      if isObject || isArray || field.pointee.isOptional {
        try program.recordLent(field, value, isCopied: isObject, key, levels: levels, builder, &room)
      } else {
        try program.record(value, key: key, levels: levels, builder, &room)
      }
      builder.recorded.tape.enlarge(&room, to: fields.instructions.count)
      return true
    }
  }

  @inline(never)
  private func recordLent(
    _ field: UnsafeMutablePointer<FieldInstruction>, _ value: UnsafeRawPointer, isCopied: Bool, _ key: TokenKey,
    levels: Int, _ builder: TapeBuilder, _ room: inout TapeRoom
  ) throws {
    try field.pointee.coder._withUnsafeGuaranteedRef { coder in
      if isCopied, field.pointee.operation == .fields {
        try coder.lendCopy(value) {
          try recordLent(field, $0, isCopied: false, key, levels: levels, builder, &room)
        }
      } else if field.pointee.operation == .fields, !field.pointee.isOptional {
        try record(value, key: key, levels: levels, builder, &room)
      } else if field.pointee.operation == .fields {
        _ = try borrowingSome(coder.witnesses) {
          try $0.lend(value) { first, _ in
            if let first { try record(first, key: key, levels: levels, builder, &room) }
          }
        }
      } else {
        builder.recorded.tape.begin(.array, key: key, in: &room)
        var count = 0
        _ = try borrowingSome(coder.witnesses) {
          try $0.lendArray(value, field.pointee.isOptional, isCopied) { first, elements in
            count = elements
            if let first { try record(elements, from: first, levels: levels &- 1, builder, &room) }
          }
        }
        builder.recorded.tape.end(count: count, in: &room)
      }
    }
  }

  @inline(never)
  private func recordApart(
    _ field: UnsafeMutablePointer<FieldInstruction>, _ value: UnsafeRawPointer, _ key: TokenKey,
    _ builder: TapeBuilder, _ room: inout TapeRoom
  ) throws {
    builder.recorded.tape.take(room)
    let index = builder.recorded.tape.count
    try field.pointee.coder._withUnsafeGuaranteedRef { coder in
      func append(_ value: UnsafeRawPointer) throws {
        try coder.append(value, key, builder, room.container)
        coder.symbols?.learn(value, builder.recorded, from: index)
      }
      try isObject ? coder.lendCopy(value, append) : append(value)
    }
    builder.recorded.tape.link(index, to: &room, fields.instructions.count)
  }

  // MARK: objects that are messages

  /// Writes a message of one object. Returns false if a string or a key in it occurs twice and may become a symbol, or
  /// if more must be found out.
  func write(_ object: UnsafeRawPointer, by emitter: inout Emitter) -> Bool {
    guard let keyTable, let first = fields.instructions.baseAddress else { return false }
    let object = properties(of: object)
    emitter.writer.restart(capacity: 1024)
    var filter = keyTable.pointee.filter
    for number in fields.instructions.indices.reversed() {
      let field = first + number
      let value = object + field.pointee.stored
      if field.pointee.isOptional, !field.pointee.isPresent(value) { continue }
      emitter.writer.reserve(BackwardWriter.margin)
      if !field.pointee.write(at: value, to: &emitter.writer) {
        let isWritten = field.pointee.withText(at: value) { text in
          let bit = StringPool.filterBit(text)
          if filter & bit != 0, recurs(text, in: object, after: number, keyTable) { return false }
          filter |= bit
          emitter.writer.bytes(text)
          Strings.writeHeader(text.count, to: &emitter.writer)
          return true
        }
        guard isWritten else { return false }
      }
      emitter.write(key: keyTable.pointee.text(ofKey: field.pointee.byte))
    }
    Maps.writeHeader(emitter.writer.count, to: &emitter.writer)
    return true
  }

  /// Returns whether a text is a key, or the text of a field after the one with a number.
  private func recurs(
    _ text: UnsafeRawBufferPointer, in object: UnsafeRawPointer, after number: Int,
    _ keys: KeyTable.Reference
  ) -> Bool {
    fields.instructions.indices.contains { other in
      let field = fields.instructions[other]
      return equalBytes(keys.pointee.utf8(ofKey: field.byte), text)
        || other > number && field.withText(at: object + field.stored) { equalBytes($0, text) }
    }
  }

  // MARK: arrays that are kept

  /// How many objects nest in each value of an array that is kept, including itself; 0 if arrays are not kept: if some
  /// field is neither a number nor a Bool, an enumeration, or a value of such fields.
  @inline(__always)
  var keptDepth: Int { knownDepth ?? findDepth() }

  private func findDepth() -> Int {
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

  /// Returns an array that is kept; nil if its elements must be recorded. Takes slots as the elements would.
  func keep(_ count: Int, _ lend: @escaping ((UnsafeRawPointer) -> Void) -> Void, _ builder: TapeBuilder) -> KeptRows? {
    var steps: [KeptRows.Step] = []
    var areAlike = keptDepth == 1
    lend { first in
      let rows = (first: first, count: count, stride: stride)
      guard mayKeep(rows) else { return }
      addSteps(of: rows, byte: 0, offset: 0, to: &steps, &areAlike, builder)
    }
    guard !steps.isEmpty else { return nil }
    return KeptRows(steps: steps, count: count, stride: stride, areAlike: areAlike, lend: lend)
  }

  private typealias Rows = (first: UnsafeRawPointer, count: Int, stride: Int)

  /// Returns whether rows can be written from memory: all cases of enumerations are known, and are integers, and no object
  /// inside is empty in every row. Such objects are a column, and kept rows have none for objects.
  private func mayKeep(_ rows: Rows) -> Bool {
    fields.instructions.allSatisfy { field in
      let rows = (first: rows.first + field.stored, count: rows.count, stride: rows.stride)
      if let program = field.program {
        return program._withUnsafeGuaranteedRef { $0.mayKeep(rows) && !$0.areEmpty(rows) }
      }
      guard let symbols = field.symbols else { return true }
      return (0..<rows.count).allSatisfy {
        let value = rows.first + $0 &* rows.stride
        return field.isOptional && !field.isPresent(value)
          || symbols[Int(value.load(as: UInt8.self))].integer != nil
      }
    }
  }

  private func areEmpty(_ rows: Rows) -> Bool {
    fields.instructions.allSatisfy { field in
      field.isOptional
        && (0..<rows.count).allSatisfy { !field.isPresent(rows.first + $0 &* rows.stride + field.stored) }
    }
  }

  /// - Parameter offset: Where the values are in the elements of the array.
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
              symbols: field.symbols.map { UnsafePointer($0) })))
      }
    }
    steps.append(.end)
  }
}

/// What the `Codable` of a type of one byte records for each, once it was seen.
final class RecordedBytes {
  let entries = UnsafeMutablePointer<RecordedByte>.allocate(capacity: 256)

  init() { entries.initialize(repeating: .unknown, count: 256) }

  deinit {
    for byte in 0..<256 { if case .text(let text) = entries[byte] { text.deallocate() } }
    entries.deallocate()
  }

  /// Notes what was recorded from a token on, unless it is more than an integer or a text.
  func learn(_ value: UnsafeRawPointer, _ message: borrowing RecordedMessage, from index: Int) {
    let byte = Int(value.load(as: UInt8.self))
    guard case .unknown = entries[byte] else { return }
    entries[byte] = .other
    guard message.tape.count == index + 1 else { return }
    let token = message.tape[index]
    if token.kind == .integer {
      entries[byte] = .integer(Int32(truncatingIfNeeded: token.integer))
    } else if token.kind == .string {
      let utf8 = message.strings.utf8(token.value)
      let text = UnsafeMutableRawBufferPointer.allocate(byteCount: utf8.count, alignment: 1)
      text.copyMemory(from: utf8)
      entries[byte] = .text(UnsafeRawBufferPointer(text))
    }
  }
}

extension FieldInstruction {
  /// Writes a number, a Bool, or a case that is encoded as an integer. Returns false for anything else.
  @inline(__always)
  fileprivate func write(at value: UnsafeRawPointer, to writer: inout BackwardWriter) -> Bool {
    if operation == .string { return false }
    if let symbols { return symbols[Int(value.load(as: UInt8.self))].write(to: &writer) }
    return coder._withUnsafeGuaranteedRef {
      $0.tapeScalar?.write(at: value, isOptional: isOptional, to: &writer) ?? false
    }
  }

  /// Returns what `body` does with the text of a string, or of a case that is encoded as one; false if there is none.
  @inline(__always)
  fileprivate func withText(at value: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    var result: Bool?
    if operation == .string {
      value.lend(String.self, isOptional: isOptional) {
        result = $0.utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
      }
    } else if case .text(let text)? = symbols?[Int(value.load(as: UInt8.self))] {
      result = body(text)
    }
    return result ?? false
  }
}
