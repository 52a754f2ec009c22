#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The conversions of `ScalarReading`, for values without tags. Offsets are for errors.

extension Cell {
  func integer<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) throws(FormatError)
    -> Value
  {
    switch self {
    case .integer(let integer):
      guard let result = Value(exactly: integer) else { try fail(.unrepresentable, at: offset) }
      return result
    case .double: try fail(.unrepresentable, at: offset)
    case .bool, .date: try fail(.cellMismatch, at: offset)
    }
  }

  func double(at offset: Int) throws(FormatError) -> Double {
    switch self {
    case .integer(let integer): return Double(integer)
    case .double(let value), .date(let value): return value
    case .bool: try fail(.cellMismatch, at: offset)
    }
  }

  func float(at offset: Int) throws(FormatError) -> Float {
    if case .integer(let integer) = self { return Float(integer) }
    return try Rounding.float(double(at: offset), at: offset)
  }

  func bool(at offset: Int) throws(FormatError) -> Bool {
    guard case .bool(let value) = self else { try fail(.cellMismatch, at: offset) }
    return value
  }

  func decimal(at offset: Int) throws(FormatError) -> Decimal {
    switch self {
    case .integer(let integer):
      guard let decimal = DecimalParts(Int128(integer)).decimal else {
        try fail(.unrepresentable, at: offset)
      }
      return decimal
    case .double(let value): return try Rounding.decimal(value, at: offset)
    case .bool, .date: try fail(.cellMismatch, at: offset)
    }
  }

  /// Returns the cell as a value of a type that is read without its own `init(from:)`, which `kind` names.
  func known<Value>(_ type: Value.Type, _ kind: ValueKind, at offset: Int) throws(FormatError)
    -> Value
  {
    switch kind {
    case .bool: return reinterpret(try bool(at: offset), as: type)
    case .double: return reinterpret(try double(at: offset), as: type)
    case .float: return reinterpret(try float(at: offset), as: type)
    case .float16:
      #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
        return reinterpret(try Rounding.float16(float(at: offset), at: offset), as: type)
      #else
        try fail(.cellMismatch, at: offset)
      #endif
    case .int: return reinterpret(try integer(Int.self, at: offset), as: type)
    case .int8: return reinterpret(try integer(Int8.self, at: offset), as: type)
    case .int16: return reinterpret(try integer(Int16.self, at: offset), as: type)
    case .int32: return reinterpret(try integer(Int32.self, at: offset), as: type)
    case .int64: return reinterpret(try integer(Int64.self, at: offset), as: type)
    case .int128: return reinterpret(try integer(Int128.self, at: offset), as: type)
    case .uint: return reinterpret(try integer(UInt.self, at: offset), as: type)
    case .uint8: return reinterpret(try integer(UInt8.self, at: offset), as: type)
    case .uint16: return reinterpret(try integer(UInt16.self, at: offset), as: type)
    case .uint32: return reinterpret(try integer(UInt32.self, at: offset), as: type)
    case .uint64: return reinterpret(try integer(UInt64.self, at: offset), as: type)
    case .uint128: return reinterpret(try integer(UInt128.self, at: offset), as: type)
    case .date:
      return reinterpret(Date(timeIntervalSinceReferenceDate: try double(at: offset)), as: type)
    case .decimal: return reinterpret(try decimal(at: offset), as: type)
    case .plain, .planned, .deepOptional, .string, .uuid, .url, .data:
      try fail(.cellMismatch, at: offset)
    }
  }
}
