#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The conversions of `ScalarReading`, for values without tags.

extension DecodingSession {
  func integer<Value: FixedWidthInteger>(_ type: Value.Type, _ cell: Cell, at offset: Int) throws(FormatError)
    -> Value
  {
    switch cell {
    case .integer(let integer):
      guard let result = Value(exactly: integer) else { try fail(.unrepresentable, at: offset) }
      return result
    case .double: try fail(.unrepresentable, at: offset)
    case .bool, .date: try fail(.cellMismatch, at: offset)
    }
  }

  func double(_ cell: Cell, at offset: Int) throws(FormatError) -> Double {
    switch cell {
    case .integer(let integer): return Double(integer)
    case .double(let value), .date(let value): return value
    case .bool: try fail(.cellMismatch, at: offset)
    }
  }

  func float(_ cell: Cell, at offset: Int) throws(FormatError) -> Float {
    if case .integer(let integer) = cell { return Float(integer) }
    return try float(try double(cell, at: offset), at: offset)
  }

  func bool(_ cell: Cell, at offset: Int) throws(FormatError) -> Bool {
    guard case .bool(let value) = cell else { try fail(.cellMismatch, at: offset) }
    return value
  }

  func decimal(_ cell: Cell, at offset: Int) throws(FormatError) -> Decimal {
    switch cell {
    case .integer(let integer):
      guard let decimal = DecimalParts(Int128(integer)).decimal else {
        try fail(.unrepresentable, at: offset)
      }
      return decimal
    case .double(let value): return try decimal(value, at: offset)
    case .bool, .date: try fail(.cellMismatch, at: offset)
    }
  }

  /// A value of a type that is known here, from a cell.
  func known<Value>(_ type: Value.Type, _ kind: ValueKind, _ cell: Cell, at offset: Int) throws(FormatError)
    -> Value
  {
    switch kind {
    case .bool: return reinterpret(try bool(cell, at: offset), as: type)
    case .double: return reinterpret(try double(cell, at: offset), as: type)
    case .float: return reinterpret(try float(cell, at: offset), as: type)
    case .float16:
      #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
        return reinterpret(try float16(try float(cell, at: offset), at: offset), as: type)
      #else
        try fail(.cellMismatch, at: offset)
      #endif
    case .int: return reinterpret(try integer(Int.self, cell, at: offset), as: type)
    case .int8: return reinterpret(try integer(Int8.self, cell, at: offset), as: type)
    case .int16: return reinterpret(try integer(Int16.self, cell, at: offset), as: type)
    case .int32: return reinterpret(try integer(Int32.self, cell, at: offset), as: type)
    case .int64: return reinterpret(try integer(Int64.self, cell, at: offset), as: type)
    case .int128: return reinterpret(try integer(Int128.self, cell, at: offset), as: type)
    case .uint: return reinterpret(try integer(UInt.self, cell, at: offset), as: type)
    case .uint8: return reinterpret(try integer(UInt8.self, cell, at: offset), as: type)
    case .uint16: return reinterpret(try integer(UInt16.self, cell, at: offset), as: type)
    case .uint32: return reinterpret(try integer(UInt32.self, cell, at: offset), as: type)
    case .uint64: return reinterpret(try integer(UInt64.self, cell, at: offset), as: type)
    case .uint128: return reinterpret(try integer(UInt128.self, cell, at: offset), as: type)
    case .date:
      return reinterpret(Date(timeIntervalSinceReferenceDate: try double(cell, at: offset)), as: type)
    case .decimal: return reinterpret(try decimal(cell, at: offset), as: type)
    case .plain, .planned, .deepOptional, .string, .uuid, .url, .data:
      try fail(.cellMismatch, at: offset)
    }
  }
}
