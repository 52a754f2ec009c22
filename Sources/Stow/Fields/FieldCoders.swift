// How the values of one field are recorded from their place in memory, and decoded into it.

/// What coding the values of a field does. For an optional, this is what it does with the value inside.
enum FieldOperation {
  // Scalars that are coded in line. `Int` and `UInt` are the integers of their size.
  case double, float, bool, string
  case int8, int16, int32, int64
  case uint8, uint16, uint32, uint64
  /// Another scalar.
  case scalar
  /// A trivial byte, or an optional of one, that has a scalar as its raw value. What its `Codable` makes of a value is
  /// remembered.
  case enumeration
  /// An array of scalars.
  case scalars
  /// A type with a table of its own, or an array of such values.
  case fields, array
  /// Another type that may hold containers, and calls `Codable`.
  case other

  /// Whether values are coded in line.
  var isInLine: Bool { isScalar && self != .scalar }

  /// Whether values hold no containers, and call no `Codable`.
  var isScalar: Bool {
    switch self {
    case .enumeration, .scalars, .fields, .array, .other: false
    default: true
    }
  }

  /// - Parameters:
  ///   - type: The type, or the one that it wraps.
  ///   - scalar: The scalar that it is; nil if it is no scalar.
  ///   - isByte: Whether it is a trivial byte.
  fileprivate init(_ type: Any.Type, _ scalar: (any ReadableScalar.Type)?, isByte: Bool) {
    self =
      switch scalar {
      case is Double.Type: .double
      case is Float.Type: .float
      case is Bool.Type: .bool
      case is String.Type: .string
      case is Int8.Type: .int8
      case is Int16.Type: .int16
      case is Int32.Type: .int32
      case is Int64.Type: .int64
      case is Int.Type: Self.of(Int.bitWidth, .int32, .int64)
      case is UInt8.Type: .uint8
      case is UInt16.Type: .uint16
      case is UInt32.Type: .uint32
      case is UInt64.Type: .uint64
      case is UInt.Type: Self.of(UInt.bitWidth, .uint32, .uint64)
      case nil where elementOfArray(type) != nil: Self.array(of: elementOfArray(type))
      case nil where type is any StowFields.Type: .fields
      case nil where isByte && (type as? any RawRepresentable.Type)?.hasScalar == true: .enumeration
      case nil: .other
      default: .scalar
      }
  }

  private static func array(of element: Any.Type?) -> FieldOperation {
    guard let element else { return .other }
    // Scalars first: the cast searches every conformance in the program.
    return ScalarTypes.scalar(element) != nil ? .scalars : element is any StowFields.Type ? .array : .other
  }

  private static func of(_ width: Int, _ narrow: FieldOperation, _ wide: FieldOperation) -> FieldOperation {
    width == 32 ? narrow : wide
  }
}

/// Codes the values of a field by the plans of their type, or by their own `Codable`.
final class FieldCoder {
  let operation: FieldOperation
  /// The type, if it is an optional. Its nil is absent.
  let optional: (any AnyOptional.Type)?
  /// The scalar that the type is, or wraps.
  let scalar: (any (RecordableScalar & ReadableScalar).Type)?
  /// The same, if it is a number or a Bool.
  let tapeScalar: (any TapeScalar.Type)?
  /// Whether keyed containers have a method for its type. That reads a value before moving past it, which decides what
  /// error a broken value gives.
  let isReadFirst: Bool
  /// Appends a value that is present to an object in which as many containers may nest as given.
  let append: (UnsafeRawPointer, TokenKey, TapeBuilder, _ object: Int, _ levels: Int) throws -> Void
  /// Lends the values of a type that has a table; nil for other types.
  let witnesses: FieldWitnesses?
  /// Finds the program that records these, once it has recorded one.
  let findProgram: (TapeBuilder) -> Unmanaged<EncodingProgram>?
  /// What an enumeration recorded for each byte; nil for other types.
  let symbols: RecordedBytes?
  /// Decodes the value at a place. Types that keyed containers have methods for are read differently.
  let decode: (UnsafeMutableRawPointer, OpenPlace, DecodingSession, PathNode) throws -> Void
  /// The type of the elements of an array of scalars; nil for other types.
  let element: (any ReadableScalar.Type)?
  /// Finds the program of the type that has a table; nil for other types.
  let findNested: ((DecodingSession) -> DecodingProgram?)?
  /// Makes the value of a missing key; nil if there must be one.
  let makeAbsent: ((UnsafeMutableRawPointer) -> Void)?
  /// Whether values are coded in line, and an absent one is nil.
  let isNilIfAbsent: Bool
  /// Whether values can be copied and forgotten as bytes.
  let isTrivial: Bool
  /// Deinitializes what was decoded.
  let destroy: (UnsafeMutableRawPointer) -> Void
  /// Copies a value into uninitialized memory.
  let copy: (_ value: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) -> Void

  init<Value: Codable>(_ type: Value.Type, _ putDefault: ((UnsafeMutableRawPointer) -> Void)?) {
    let optional = optionalType(Value.self)
    self.optional = optional
    scalar = ScalarTypes.scalar(optional?.wrapped ?? Value.self)
    isTrivial = _isPOD(Value.self)
    operation = FieldOperation(
      optional?.wrapped ?? Value.self, scalar, isByte: isTrivial && MemoryLayout<Value>.size == 1)
    isReadFirst = operation.isInLine || scalar is Int128.Type || scalar is UInt128.Type
    let element = elementOfArray(optional?.wrapped ?? Value.self)
    self.element = element.flatMap(ScalarTypes.scalar)
    let hasTable = operation == .fields || operation == .array
    let table = hasTable ? (element ?? optional?.wrapped ?? Value.self) as? any StowFields.Type : nil
    findNested = table.map { type in { type.decodingProgram(in: $0) } }
    tapeScalar = operation.isInLine && operation != .string ? scalar as? any TapeScalar.Type : nil
    append = Self.makeAppend(type, scalar, element.flatMap(ScalarTypes.scalar), isOptional: optional != nil)
    witnesses = table?.fieldWitnesses
    findProgram = { builder in table?.encodingProgram(in: builder).map(Unmanaged.passUnretained) }
    symbols = operation == .enumeration ? RecordedBytes() : nil
    decode = { target, place, session, node in
      let target = target.bindMemory(to: Value.self, capacity: 1)
      try session.decode(into: target, session.plan(of: Value.self), at: place, node)
    }
    makeAbsent = putDefault ?? optional.map { type in { type.putNil($0) } }
    isNilIfAbsent = operation.isInLine && optional != nil && putDefault == nil
    destroy = { $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1) }
    copy = { $1.initializeMemory(as: Value.self, from: $0.assumingMemoryBound(to: Value.self), count: 1) }
  }

  /// - Parameters:
  ///   - scalar: The scalar that the type is, or wraps.
  ///   - element: The one that the elements of an array are.
  private static func makeAppend<Value: Codable>(
    _ type: Value.Type, _ scalar: (any RecordableScalar.Type)?, _ element: (any RecordableScalar.Type)?,
    isOptional: Bool
  ) -> (UnsafeRawPointer, TokenKey, TapeBuilder, Int, Int) throws -> Void {
    if let scalar {
      return { value, key, builder, _, _ in
        scalar.record(at: value, isOptional: isOptional, in: &builder.recorded, key: key)
      }
    }
    return { value, key, builder, object, levels in
      if levels > 0, let element {
        element.record(arrayAt: value, isOptional: isOptional, in: &builder.recorded, key: key, object)
      } else {
        let entry = builder.plan(of: Value.self)
        try borrowing(value.assumingMemoryBound(to: Value.self)) {
          try builder.append($0, by: entry, key: key, parent: object)
        }
      }
    }
  }
}

extension RawRepresentable {
  fileprivate static var hasScalar: Bool { ScalarTypes.scalar(RawValue.self) != nil }
}

/// An array whose type of elements is not known.
private protocol ArrayType {
  static var element: Any.Type { get }
}

extension Array: ArrayType {
  fileprivate static var element: Any.Type { Element.self }
}

/// Returns a type as the optional that it is; nil for other types.
func optionalType(_ type: Any.Type) -> (any AnyOptional.Type)? {
  mayBeGeneric(type) ? type as? any AnyOptional.Type : nil
}

/// Returns the type of the elements of an array; nil for other types.
private func elementOfArray(_ type: Any.Type) -> Any.Type? {
  mayBeGeneric(type) ? (type as? any ArrayType.Type)?.element : nil
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

  /// Makes the program of a table; nil if a key is not known by its byte.
  ///
  /// - Throws: An error if the table does not name coding keys of the type, each once.
  init?<Root: StowFields>(_ table: FieldTable<Root>) throws(FieldTableError) {
    (keyType, keys) = try table.codingKeys()
    guard isByte(keyType) else { return nil }
    coders = table.fields.map { FieldCoder($0.type, $0.putDefault) }
    instructions = .allocate(capacity: keys.count)
    let packed = FieldTable.packedLayout(of: table.fields).offsets
    for (number, coder) in coders.enumerated() {
      instructions.initializeElement(
        at: number,
        to: FieldInstruction(
          operation: coder.operation, isOptional: coder.optional != nil, isNilIfAbsent: coder.isNilIfAbsent,
          isTrivial: coder.isTrivial, isReadFirst: coder.isReadFirst, byte: keyByte(keys[number]),
          stored: table.fields[number].offset ?? 0,
          packed: packed[number], coder: .passUnretained(coder), symbols: coder.symbols?.entries))
    }
  }

  deinit { instructions.deallocate() }
}

/// How a field of the values being coded is coded.
struct FieldInstruction: BitwiseCopyable {
  let operation: FieldOperation
  let isOptional: Bool
  let isNilIfAbsent: Bool
  let isTrivial: Bool
  let isReadFirst: Bool
  /// The byte that identifies its key.
  let byte: Int
  /// The offset of the property in a value, and of what was decoded until the initializer takes it.
  let stored: Int
  let packed: Int
  let coder: Unmanaged<FieldCoder>
  /// What an enumeration recorded for each byte.
  let symbols: UnsafeMutablePointer<RecordedByte>?
  /// The program that records a value with a table of its own, or each in an array of such, once it is known.
  var program: Unmanaged<EncodingProgram>?
  /// The program that decodes a value with a table of its own, or each in an array of such, once it is known.
  var nested: Unmanaged<DecodingProgram>?
  /// What is remembered of an enumeration.
  var memo: Unmanaged<EnumerationMemo>?

  /// Returns whether an optional has a value, which must then be written.
  @inline(__always)
  func isPresent(_ value: UnsafeRawPointer) -> Bool {
    switch operation {
    case .double: return value.load(as: Double?.self) != nil
    case .float: return value.load(as: Float?.self) != nil
    case .bool: return value.load(as: Bool?.self) != nil
    case .int8: return value.load(as: Int8?.self) != nil
    case .int16: return value.load(as: Int16?.self) != nil
    case .int32: return value.load(as: Int32?.self) != nil
    case .int64: return value.load(as: Int64?.self) != nil
    case .uint8: return value.load(as: UInt8?.self) != nil
    case .uint16: return value.load(as: UInt16?.self) != nil
    case .uint32: return value.load(as: UInt32?.self) != nil
    case .uint64: return value.load(as: UInt64?.self) != nil
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
    let areCells = fields.coders.allSatisfy { $0.operation.isScalar || $0.operation == .enumeration }
    guard isWhole == true, areCells, let shape = rows.shape, let columns = rows.layout.columns,
      let found = try? fields.keys.enumerated().map({ number, key in
        try message.keyIndex(of: key.stringValue, inShape: shape, likely: number)
      }),
      // The rows may have a key's value under a former name.
      !mayHaveFormerNames || found.allSatisfy({ $0 != nil })
    else { return false }
    for number in found.indices {
      let target = start + fields.instructions[number].stored
      var count = 0
      if let index = found[number] {
        let cells = FieldCells(index, columns, message.reader, target: target, stride, count: rows.count)
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
    let (coder, field) = (fields.coders[number], fields.instructions[number])
    if let constant = cells.column.constant {
      guard
        (try? decode(instructions + number, at: OpenPlace(at: constant), to: cells.target(0), session, node))
          != nil
      else {
        return 0
      }
      for index in 1..<cells.count { coder.copy(cells.target(0), cells.target(index)) }
      return cells.count
    }
    switch coder.operation {
    case .double: return field.fillDoubles(cells)
    case .float: return field.fill(cells, with: Float.self)
    case .bool: return field.fill(cells, with: Bool.self)
    case .int8: return field.fill(cells, with: Int8.self)
    case .int16: return field.fill(cells, with: Int16.self)
    case .int32: return field.fill(cells, with: Int32.self)
    case .int64: return field.fill(cells, with: Int64.self)
    case .uint8: return field.fill(cells, with: UInt8.self)
    case .uint16: return field.fill(cells, with: UInt16.self)
    case .uint32: return field.fill(cells, with: UInt32.self)
    case .uint64: return field.fill(cells, with: UInt64.self)
    case .enumeration: return fill(number, cells, of: rows, session, node)
    default: return coder.scalar.map { field.fill(cells, with: $0) } ?? 0
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
  private let first: Int
  private let stride: Int
  private let start: UnsafeMutableRawPointer
  private let distance: Int

  fileprivate init(
    _ number: Int, _ columns: Columns, _ reader: ByteReader, target: UnsafeMutableRawPointer, _ distance: Int,
    count: Int
  ) {
    (self.number, self.reader, self.count) = (number, reader, count)
    column = columns.columns[number]
    (first, stride) = (columns.rows.lowerBound + Int(column.offset), columns.stride)
    (start, self.distance) = (target, distance)
  }

  func offset(_ index: Int) -> Int { first &+ index &* stride }
  func target(_ index: Int) -> UnsafeMutableRawPointer { start + index &* distance }
}

extension FieldInstruction {
  /// Reads the cells of a column, and returns how many were read.
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
