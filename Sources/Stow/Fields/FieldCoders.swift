// How the values of one field are recorded from their place in memory, and decoded into it.

/// What coding the values of a field does. For an optional, this is what it does with the value inside.
enum FieldOperation {
  // Scalars that are coded in line. `Int` and `UInt` are the integers of their size.
  case double, float, bool, string
  case int8, int16, int32, int64
  case uint8, uint16, uint32, uint64
  /// Another scalar.
  case scalar
  /// A trivial byte, or an optional of one, with a scalar raw value. What its `Codable` makes of it is remembered.
  case enumeration
  /// An array of scalars, and a dictionary of scalars whose keys are strings.
  case scalars, map
  /// A type with a table of its own, or an array of such values.
  case fields, array
  /// Another type that may hold containers, and calls `Codable`.
  case other

  /// Whether scalars are coded in line.
  var isInLine: Bool {
    switch self {
    case .scalar, .enumeration, .scalars, .map, .fields, .array, .other: false
    default: true
    }
  }
}

/// Codes the values of a field by the plans of their type, or by their own `Codable`.
final class FieldCoder {
  let operation: FieldOperation
  /// The type, if it is an optional. Its nil is absent.
  let optional: (any AnyOptional.Type)?
  /// The scalar that the type is, or wraps.
  let scalar: (any (RecordableScalar & ReadableScalar).Type)?
  /// The same, if it is a number or a Bool that is coded in line.
  let tapeScalar: (any TapeScalar.Type)?
  /// The scalar that the elements of an array are, and the values of a dictionary; nil for other types.
  let element: (any (RecordableScalar & ReadableScalar).Type)?
  /// Appends a value to an object by the plan of its type.
  let append: (UnsafeRawPointer, TokenKey, TapeBuilder, _ object: Int) throws -> Void
  /// Lends a copy of the value at an address.
  let lendCopy: (UnsafeRawPointer, (UnsafeRawPointer) throws -> Void) throws -> Void
  /// The type that has a table of its own: this one, the one that it wraps, or that of its elements.
  let table: (any StowFields.Type)?
  let witnesses: FieldWitnesses?
  let symbols: RecordedBytes?
  /// Decodes the value at a place. Types that keyed containers have methods for are read differently.
  let decode: (UnsafeMutableRawPointer, OpenPlace, DecodingSession, PathNode) throws -> Void
  /// Makes the value of a missing key; nil if there must be one.
  let makeAbsent: ((UnsafeMutableRawPointer) -> Void)?
  /// Whether values can be copied and forgotten as bytes.
  let isTrivial: Bool
  let destroy: (UnsafeMutableRawPointer) -> Void
  let copy: (_ value: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) -> Void

  init<Value: Codable>(_ type: Value.Type, _ putDefault: ((UnsafeMutableRawPointer) -> Void)?) {
    let optional = optionalType(Value.self)
    let wrapped = optional?.wrapped ?? Value.self
    let arrayElement = elementType(wrapped)
    self.optional = optional
    scalar = ScalarTypes.scalar(wrapped)
    element = (arrayElement ?? elementType(wrapped, of: "Swift.Dictionary")).flatMap(ScalarTypes.scalar)
    isTrivial = _isPOD(Value.self)
    table = scalar == nil && element == nil ? (arrayElement ?? wrapped) as? any StowFields.Type : nil
    witnesses = table?.fieldWitnesses
    let isByte = isTrivial && MemoryLayout<Value>.size == 1
    operation =
      switch scalar {
      case is Double.Type: .double
      case is Float.Type: .float
      case is Bool.Type: .bool
      case is String.Type: .string
      case is Int8.Type: .int8
      case is Int16.Type: .int16
      case is Int32.Type: .int32
      case is Int64.Type: .int64
      case is Int.Type: MemoryLayout<Int>.size == 4 ? .int32 : .int64
      case is UInt8.Type: .uint8
      case is UInt16.Type: .uint16
      case is UInt32.Type: .uint32
      case is UInt64.Type: .uint64
      case is UInt.Type: MemoryLayout<UInt>.size == 4 ? .uint32 : .uint64
      case nil where element != nil: arrayElement == nil ? .map : .scalars
      case nil where table != nil: arrayElement == nil ? .fields : .array
      case nil where isByte && (wrapped as? any RawRepresentable.Type)?.hasScalar == true: .enumeration
      case nil: .other
      default: .scalar
      }
    tapeScalar = scalar?.tapeScalar
    append = { value, key, builder, object in
      let entry = builder.plan(of: Value.self)
      try borrowing(value.assumingMemoryBound(to: Value.self)) {
        try builder.append($0, by: entry, key: key, parent: object)
      }
    }
    lendCopy = { value, body in
      let copy = value.assumingMemoryBound(to: Value.self).pointee
      try withUnsafePointer(to: copy) { try body(UnsafeRawPointer($0)) }
    }
    symbols = operation == .enumeration ? RecordedBytes() : nil
    decode = { target, place, session, node in
      let target = target.bindMemory(to: Value.self, capacity: 1)
      try session.decode(into: target, session.plan(of: Value.self), at: place, node)
    }
    makeAbsent = putDefault ?? optional.map { type in { type.putNil($0) } }
    destroy = { $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1) }
    // Copying an array of one would also copy the padding, where another property may be.
    copy = { $1.put($0.assumingMemoryBound(to: Value.self).pointee) }
  }
}

extension RawRepresentable {
  fileprivate static var hasScalar: Bool { ScalarTypes.scalar(RawValue.self) != nil }
}

private protocol ElementsType {
  /// The type of the elements of an array, and of the values of a dictionary whose keys are strings.
  static var element: Any.Type? { get }
}

extension Array: ElementsType {
  fileprivate static var element: Any.Type? { Element.self }
}

extension Dictionary: ElementsType {
  fileprivate static var element: Any.Type? { Key.self == String.self ? Value.self : nil }
}

/// Returns a type as the optional that it is; nil for other types.
func optionalType(_ type: Any.Type) -> (any AnyOptional.Type)? {
  isInstance(type, of: "Swift.Optional") ? type as? any AnyOptional.Type : nil
}

/// Returns the type of the elements of an array, or of the values of a dictionary whose keys are strings; nil for other
/// types.
private func elementType(_ type: Any.Type, of container: String = "Swift.Array") -> Any.Type? {
  isInstance(type, of: container) ? (type as? any ElementsType.Type)?.element : nil
}

extension AnyField {
  var optional: (any AnyOptional.Type)? { optionalType(type) }
}

// MARK: the fields of a type

/// The fields of a type as a program: what coding a value of it does, field after field.
final class FieldProgram {
  let keyType: any CodingKey.Type
  let keys: [any CodingKey]
  let coders: [FieldCoder]
  /// In memory of their own, where they are read without reference counting.
  let instructions: UnsafeMutableBufferPointer<FieldInstruction>

  /// Makes a program without fields.
  init() { (keyType, keys, coders, instructions) = (PathKey.self, [], [], .allocate(capacity: 0)) }

  /// Makes the program of a table; nil if a key is not known by its byte. Throws if the table does not name coding keys
  /// of the type, each once.
  init?<Root: StowFields>(_ table: FieldTable<Root>) throws(FieldTableError) {
    (keyType, keys) = try table.codingKeys()
    guard isByte(keyType) else { return nil }
    coders = table.fields.map { FieldCoder($0.type, $0.putDefault) }
    instructions = .allocate(capacity: keys.count)
    let packed = AnyField.packedLayout(of: table.fields).offsets
    for (number, (coder, field)) in zip(coders, table.fields).enumerated() {
      let (isInLine, isOptional) = (coder.operation.isInLine, coder.optional != nil)
      instructions.initializeElement(
        at: number,
        to: FieldInstruction(
          operation: coder.operation, isOptional: isOptional,
          isNilIfAbsent: isInLine && isOptional && field.putDefault == nil, isTrivial: coder.isTrivial,
          isReadFirst: isInLine || coder.scalar is Int128.Type || coder.scalar is UInt128.Type,
          byte: keyByte(keys[number]), stored: field.offset ?? 0, packed: packed[number],
          coder: .passUnretained(coder), symbols: coder.symbols?.entries))
    }
  }

  deinit { instructions.deallocate() }
}

/// How a field of the values being coded is coded.
struct FieldInstruction: BitwiseCopyable {
  let operation: FieldOperation
  let isOptional: Bool
  /// Whether values are coded in line, and an absent one is nil.
  let isNilIfAbsent: Bool
  let isTrivial: Bool
  /// Whether keyed containers have a method for its type. That reads a value before moving past it, which decides what
  /// error a broken value gives.
  let isReadFirst: Bool
  /// The byte of its key.
  let byte: Int
  /// The offset of the property in a value, and of what was decoded until the initializer takes it.
  var stored: Int
  let packed: Int
  let coder: Unmanaged<FieldCoder>
  /// What an enumeration recorded for each byte.
  let symbols: UnsafeMutablePointer<RecordedByte>?
  /// The programs that record and decode values with a table of their own, once they are known.
  var program: Unmanaged<EncodingProgram>?
  var nested: Unmanaged<DecodingProgram>?
  var memo: Unmanaged<EnumerationMemo>?

  /// Returns whether an optional has a value, which must then be written.
  @inline(__always)
  func isPresent(_ value: UnsafeRawPointer) -> Bool {
    switch operation {
    case .double: return value.load(as: Double?.self) != nil
    case .float: return value.load(as: Float?.self) != nil
    case .bool: return value.load(as: Bool?.self) != nil
    case .int8, .uint8: return value.load(as: Int8?.self) != nil
    case .int16, .uint16: return value.load(as: Int16?.self) != nil
    case .int32, .uint32: return value.load(as: Int32?.self) != nil
    case .int64, .uint64: return value.load(as: Int64?.self) != nil
    case .string: return value.assumingMemoryBound(to: String?.self).pointee != nil
    case .enumeration:
      guard let entry = symbols.map({ $0 + Int(value.load(as: UInt8.self)) }) else { return true }
      if case .unknown = entry.pointee, isNil(value) { entry.pointee = .absent }
      if case .absent = entry.pointee { return false }
      return true
    default: return !isNil(value)
    }
  }

  private func isNil(_ value: UnsafeRawPointer) -> Bool {
    coder._withUnsafeGuaranteedRef { $0.optional?.isNil(value) == true }
  }
}

// MARK: rows

extension DecodingProgram {
  /// Decodes rows into memory, each field at once by its column. Returns false, and leaves nothing there, if each row
  /// must be looked at, also to find out what is wrong.
  func decode(
    rows: Elements, into start: UnsafeMutableRawPointer, _ session: DecodingSession, _ node: PathNode
  ) -> Bool {
    let message = session.message
    guard isWhole == true, let shape = rows.shape, let columns = rows.layout.columns,
      let found = try? fields.keys.enumerated().map({ number, key in
        try message.keyIndex(of: key.stringValue, inShape: shape, likely: number)
      }),
      // The rows may have a key's value under a former name.
      keyTable.formerNames == nil || found.allSatisfy({ $0 != nil })
    else { return false }
    for number in found.indices {
      let target = start + fields.instructions[number].stored
      var count = 0
      if let index = found[number] {
        let column = columns.columns[index]
        let cells = FieldCells(
          number: index, column: column, reader: message.reader, count: rows.count,
          first: columns.rows.lowerBound + Int(column.offset), stride: columns.stride, start: target, distance: stride)
        count = decode(number, cells, of: rows, session, node)
      } else if let makeAbsent = fields.coders[number].makeAbsent {
        for index in 0..<rows.count { makeAbsent(target + index * stride) }
        count = rows.count
      }
      if count == rows.count { continue }
      for other in 0...number {
        let target = start + fields.instructions[other].stored
        for index in 0..<(other == number ? count : rows.count) {
          fields.coders[other].destroy(target + index * stride)
        }
      }
      return false
    }
    return true
  }

  /// Decodes the values of a field, and returns how many were decoded.
  private func decode(
    _ number: Int, _ cells: FieldCells, of rows: Elements, _ session: DecodingSession, _ node: PathNode
  ) -> Int {
    let (coder, field) = (fields.coders[number], instructions + number)
    if let constant = cells.column.constant {
      do { try decode(field, at: OpenPlace(at: constant), to: cells.target(0), session, node) } catch { return 0 }
      for index in 1..<cells.count { coder.copy(cells.target(0), cells.target(index)) }
      return cells.count
    }
    switch coder.operation {
    case .double: return field.pointee.fillDoubles(cells)
    case .float: return field.pointee.fill(cells, with: Float.self)
    case .bool: return field.pointee.fill(cells, with: Bool.self)
    case .int8: return field.pointee.fill(cells, with: Int8.self)
    case .int16: return field.pointee.fill(cells, with: Int16.self)
    case .int32: return field.pointee.fill(cells, with: Int32.self)
    case .int64: return field.pointee.fill(cells, with: Int64.self)
    case .uint8: return field.pointee.fill(cells, with: UInt8.self)
    case .uint16: return field.pointee.fill(cells, with: UInt16.self)
    case .uint32: return field.pointee.fill(cells, with: UInt32.self)
    case .uint64: return field.pointee.fill(cells, with: UInt64.self)
    case .enumeration: return fill(number, cells, of: rows, session, node)
    default: return coder.scalar.map { field.pointee.fill(cells, with: $0) } ?? 0
    }
  }

  /// Decodes the values of an enumeration, each integer once.
  private func fill(
    _ number: Int, _ cells: FieldCells, of rows: Elements, _ session: DecodingSession, _ node: PathNode
  ) -> Int {
    let (type, base) = (cells.column.type, cells.column.base)
    guard ElementType.isInteger(type), let memo = fields.instructions[number].memo else { return 0 }
    return memo._withUnsafeGuaranteedRef { memo in
      for index in 0..<cells.count {
        guard let integer = try? Cell.readInteger(cells.reader, at: cells.offset(index), type: type) else {
          return index
        }
        let (key, target) = (EnumerationMemo.key(ofCell: integer &+ base), cells.target(index))
        if let byte = memo[key] {
          target.storeBytes(of: byte, as: UInt8.self)
          continue
        }
        let row = cells.offset(index) &- Int(cells.column.offset)
        let place = OpenPlace(rows.layout.cell(cells.number, ofRowAt: row), of: rows)
        let mark = session.path.count
        defer { session.path.pop(to: mark) }
        let step = session.path.push(PathStep(.index, parent: node, value: index))
        guard (try? decode(instructions + number, at: place, to: target, session, step)) != nil else { return index }
        memo.note(target.load(as: UInt8.self), for: key)
      }
      return cells.count
    }
  }
}

/// The cells of a column, and where the values of a field are to be put.
struct FieldCells {
  let number: Int
  let column: Columns.Column
  let reader: ByteReader
  let count: Int
  let first: Int
  let stride: Int
  let start: UnsafeMutableRawPointer
  let distance: Int

  func offset(_ index: Int) -> Int { first &+ index &* stride }
  func target(_ index: Int) -> UnsafeMutableRawPointer { start + index &* distance }
}

extension FieldInstruction {
  /// Returns how many cells were read.
  @inline(__always)
  fileprivate func fill<Value: ReadableScalar>(_ cells: FieldCells, with type: Value.Type) -> Int {
    let (reader, cellType, base) = (cells.reader, cells.column.type, cells.column.base)
    for index in 0..<cells.count {
      do throws(FormatError) {
        let value = try type.read(reader, at: cells.offset(index), cellType, base: base)
        cells.target(index).put(value, isOptional: isOptional)
      } catch { return index }
    }
    return cells.count
  }

  /// The same for numbers, those as they are and decimal fractions without a `Cell` in between.
  fileprivate func fillDoubles(_ cells: FieldCells) -> Int {
    let (reader, type) = (cells.reader, cells.column.type)
    guard let size = ElementType.stride(of: type), size > 0,
      (try? reader.require(size, at: cells.offset(cells.count - 1))) != nil
    else { return 0 }
    if type == ElementType.double {
      for index in 0..<cells.count {
        let bits = UInt64(littleEndian: reader.pointer(at: cells.offset(index)).loadUnaligned(as: UInt64.self))
        cells.target(index).put(Double(bitPattern: bits), isOptional: isOptional)
      }
      return cells.count
    }
    guard type >= 0x10, type < ElementType.integral else { return fill(cells, with: Double.self) }
    let (power, isNoisy) = (DecimalFraction.power(Int(type >> 4)), ElementType.isNoisy(type))
    for index in 0..<cells.count {
      let offset = cells.offset(index)
      let residue = isNoisy ? Int8(bitPattern: reader.base[offset &+ size &- 1]) : 0
      do throws(FormatError) {
        if residue == ElementType.integerMark {
          cells.target(index).put(try Double.read(reader, at: offset, type, base: 0), isOptional: isOptional)
        } else {
          let numerator = try reader.signed(at: offset, width: isNoisy ? size &- 1 : size)
          let value = DecimalFraction.adding(residue: residue, to: Double(numerator) / power)
          cells.target(index).put(value, isOptional: isOptional)
        }
      } catch { return index }
    }
    return cells.count
  }
}

/// What the `Codable` of an enumeration made of values that were met, so that it need not be asked again: the byte of
/// the case, for a symbol, an integer or a short string.
///
/// There are a few slots. A value that has no slot of its own takes that of another.
final class EnumerationMemo {
  /// A value by its bytes, and where it is from: a symbol belongs to a message, or to what that relies on.
  struct Key: BitwiseCopyable {
    let bits: UInt64
    let source: Int

    fileprivate var slot: Int { Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) &>> 59) }
  }

  private let slots: UnsafeMutablePointer<(key: Key, byte: UInt8)>

  private static let count = 32
  /// The sources of values that say all themselves, and of the cells of columns, which have no tags. Messages are
  /// counted from one, and what they rely on has negative numbers.
  private static let (value, cell, none) = (0, Int.min, Int.min + 1)

  init() {
    slots = .allocate(capacity: Self.count)
    slots.initialize(repeating: (Key(bits: 0, source: Self.none), 0), count: Self.count)
  }

  deinit { slots.deallocate() }

  subscript(key: Key) -> UInt8? {
    let slot = slots[key.slot]
    return slot.key.bits == key.bits && slot.key.source == key.source ? slot.byte : nil
  }

  func note(_ byte: UInt8, for key: Key) { slots[key.slot] = (key, byte) }

  static func key(ofCell integer: Int64) -> Key { Key(bits: UInt64(bitPattern: integer), source: cell) }

  /// Returns the key of the value at an offset; nil for a long one, or one that holds others.
  @inline(__always)
  static func key(at offset: Int, _ message: Message) throws(FormatError) -> Key? {
    let reader = message.reader
    let (tag, end) = (try reader.byte(at: offset), try reader.end(of: offset))
    guard end &- offset <= 8 else { return nil }
    let bits = reader.firstBytes(at: offset, upTo: end)
    var next = offset
    if let symbol = try Symbols.read(reader, at: offset, next: &next) {
      return Key(bits: bits, source: message.source(ofSymbol: symbol))
    }
    let isString = tag >= Strings.short && tag <= Strings.lastShort
    return isString || Integers.isUsual(tag) || tag == Nils.tag ? Key(bits: bits, source: value) : nil
  }
}
