// How the values of one field are recorded from their place in memory, and decoded into it.

/// What coding the values of a field does. For an optional, this is what it does with the value inside.
enum FieldOperation {
  // Scalars that are coded in line. `Int` and `UInt` are the integers of their size.
  case double, float, bool, string
  case int8, int16, int32, int64
  case uint8, uint16, uint32, uint64
  /// Another scalar.
  case scalar
  /// A type that may hold containers, and calls `Codable`.
  case other

  /// Whether values are coded in line.
  var isInLine: Bool { self != .scalar && self != .other }

  /// - Parameter scalar: The scalar that the type is, or wraps; nil if it is no scalar.
  fileprivate init(_ scalar: (any ReadableScalar.Type)?) {
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
      default: scalar == nil ? .other : .scalar
      }
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
  private let scalar: (any ReadableScalar.Type)?
  /// The same, if keyed containers have a method for its type. That reads a value before moving past it, which decides
  /// what error a broken value gives.
  let keyedScalar: (any ReadableScalar.Type)?
  /// Appends a value that is present.
  let append: (UnsafeRawPointer, TokenKey, TapeBuilder, _ object: Int) throws -> Void
  /// Decodes the value at a place. Types that keyed containers have methods for are read differently.
  let decode: (UnsafeMutableRawPointer, OpenPlace, DecodingSession, PathNode) throws -> Void
  /// Makes the value of a missing key; nil if there must be one.
  let makeAbsent: ((UnsafeMutableRawPointer) -> Void)?
  /// Whether values are coded in line, and an absent one is nil.
  let isNilIfAbsent: Bool
  /// Whether values can be copied and forgotten as bytes.
  let isTrivial: Bool
  /// Deinitializes what was decoded.
  let destroy: (UnsafeMutableRawPointer) -> Void

  init<Value: Codable>(_ type: Value.Type, _ putDefault: ((UnsafeMutableRawPointer) -> Void)?) {
    let optional = Value.self as? any AnyOptional.Type
    self.optional = optional
    scalar = ScalarTypes.scalar(optional?.wrapped ?? Value.self)
    operation = FieldOperation(scalar)
    isTrivial = _isPOD(Value.self)
    let isKeyed = operation != .scalar || scalar is any FixedWidthInteger.Type
    keyedScalar = isKeyed ? scalar : nil
    append = { value, key, builder, object in
      let entry = builder.plan(of: Value.self)
      try borrowing(value.assumingMemoryBound(to: Value.self)) {
        try builder.append($0, by: entry, key: key, parent: object)
      }
    }
    decode = { target, place, session, node in
      let target = target.bindMemory(to: Value.self, capacity: 1)
      try session.decode(into: target, session.plan(of: Value.self), at: place, node)
    }
    makeAbsent = putDefault ?? optional.map { type in { type.putNil($0) } }
    isNilIfAbsent = operation.isInLine && optional != nil && putDefault == nil
    destroy = { $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1) }
  }
}

extension AnyField {
  var optional: (any AnyOptional.Type)? { type as? any AnyOptional.Type }
}

// MARK: the fields of a type

/// The fields of a type as a program: what coding a value of it does, field after field.
final class FieldProgram {
  let keyType: any CodingKey.Type
  let keys: [any CodingKey]
  let coders: [FieldCoder]
  /// In memory of their own, where they are read without reference counting.
  let instructions: UnsafeMutableBufferPointer<FieldInstruction>
  /// Whether no field holds containers or calls `Codable`.
  let isFlat: Bool

  /// Makes the program of a table; nil if a key is not known by its byte.
  ///
  /// - Throws: An error if the table does not name coding keys of the type, each once.
  init?<Root: StowFields>(_ table: FieldTable<Root>) throws(FieldTableError) {
    (keyType, keys) = try table.codingKeys()
    guard isByte(keyType) else { return nil }
    coders = table.fields.map { FieldCoder($0.type, $0.putDefault) }
    isFlat = coders.allSatisfy { $0.operation != .other }
    instructions = .allocate(capacity: keys.count)
    let packed = FieldTable.packedLayout(of: table.fields).offsets
    for (number, coder) in coders.enumerated() {
      instructions.initializeElement(
        at: number,
        to: FieldInstruction(
          operation: coder.operation, isOptional: coder.optional != nil, isNilIfAbsent: coder.isNilIfAbsent,
          isTrivial: coder.isTrivial, byte: keyByte(keys[number]), stored: table.fields[number].offset ?? 0,
          packed: packed[number], coder: .passUnretained(coder)))
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
  /// The byte that identifies its key.
  let byte: Int
  /// The offset of the property in a value, and of what was decoded until the initializer takes it.
  let stored: Int
  let packed: Int
  let coder: Unmanaged<FieldCoder>

  /// Returns whether an optional has a value, which must then be written.
  func isPresent(_ value: UnsafeRawPointer) -> Bool {
    switch operation {
    case .double: value.load(as: Double?.self) != nil
    case .int64: value.load(as: Int64?.self) != nil
    case .string: value.assumingMemoryBound(to: String?.self).pointee != nil
    default: coder._withUnsafeGuaranteedRef { $0.optional?.isNil(value) == false }
    }
  }
}

// MARK: rows

/// Where the values of a field are to be put: `count` values at equal distances.
struct FieldTarget {
  let start: UnsafeMutableRawPointer
  let stride: Int
  let count: Int

  subscript(index: Int) -> UnsafeMutableRawPointer { start + index &* stride }
}

extension FieldCoder {
  /// Decodes the values of all rows at once, and returns how many were decoded. If not all are, each row must
  /// be looked at, also to find out what is wrong.
  ///
  /// - Parameter column: The column of the rows; nil if they lack the key.
  func decode(
    _ column: Columns.Column?, of rows: Columns, _ message: Message, to target: FieldTarget
  ) -> Int {
    switch operation {
    case .double: fill(target, with: Double.self, column, rows, message)
    case .int64: fill(target, with: Int64.self, column, rows, message)
    case .bool: fill(target, with: Bool.self, column, rows, message)
    default: scalar.map { fill(target, with: $0, column, rows, message) } ?? 0
    }
  }

  @inline(__always)
  private func fill<Value: ReadableScalar>(
    _ target: FieldTarget, with type: Value.Type, _ column: Columns.Column?, _ rows: Columns,
    _ message: Message
  ) -> Int {
    optional != nil
      ? fill(target, with: type, column, rows, message) { Optional($0) }
      : fill(target, with: type, column, rows, message) { $0 }
  }

  @inline(__always)
  private func fill<Value: ReadableScalar, Stored>(
    _ target: FieldTarget, with type: Value.Type, _ column: Columns.Column?, _ rows: Columns,
    _ message: Message, _ stored: (Value) -> Stored
  ) -> Int {
    guard let column else {
      guard let makeAbsent else { return 0 }
      for index in 0..<target.count { makeAbsent(target[index]) }
      return target.count
    }
    if var offset = column.constant {
      if let optional, Nils.isNil(message.reader, at: offset) {
        for index in 0..<target.count { optional.putNil(target[index]) }
        return target.count
      }
      guard let value = try? type.read(message, at: offset, next: &offset) else { return 0 }
      for index in 0..<target.count { target[index].put(stored(value)) }
      return target.count
    }
    let (first, stride) = (rows.rows.lowerBound &+ Int(column.offset), rows.stride)
    let (cellType, base) = (column.type, column.base)
    for index in 0..<target.count {
      do throws(FormatError) {
        let offset = first &+ index &* stride
        target[index].put(stored(try type.read(message.reader, at: offset, cellType, base: base)))
      } catch { return index }
    }
    return target.count
  }
}
