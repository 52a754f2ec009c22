#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Message {
  /// Returns the value at `offset` of a type that is read without its own `init(from:)`, which `kind` names.
  @inline(__always)
  func known<Value>(_ type: Value.Type, _ kind: ValueKind, at offset: Int) throws(FormatError) -> Value {
    var next = offset
    switch kind {
    case .bool: return reinterpret(try bool(at: offset, next: &next), as: type)
    case .double: return reinterpret(try double(at: offset, next: &next), as: type)
    case .float: return reinterpret(try float(at: offset, next: &next), as: type)
    case .float16:
      #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
        return reinterpret(try float16(at: offset, next: &next), as: type)
      #else
        try fail(.mismatch, at: offset)
      #endif
    case .string: return reinterpret(try string(at: offset, next: &next), as: type)
    case .int: return reinterpret(try integer(Int.self, at: offset, next: &next), as: type)
    case .int8: return reinterpret(try integer(Int8.self, at: offset, next: &next), as: type)
    case .int16: return reinterpret(try integer(Int16.self, at: offset, next: &next), as: type)
    case .int32: return reinterpret(try integer(Int32.self, at: offset, next: &next), as: type)
    case .int64: return reinterpret(try integer(Int64.self, at: offset, next: &next), as: type)
    case .int128: return reinterpret(try integer(Int128.self, at: offset, next: &next), as: type)
    case .uint: return reinterpret(try integer(UInt.self, at: offset, next: &next), as: type)
    case .uint8: return reinterpret(try integer(UInt8.self, at: offset, next: &next), as: type)
    case .uint16: return reinterpret(try integer(UInt16.self, at: offset, next: &next), as: type)
    case .uint32: return reinterpret(try integer(UInt32.self, at: offset, next: &next), as: type)
    case .uint64: return reinterpret(try integer(UInt64.self, at: offset, next: &next), as: type)
    case .uint128: return reinterpret(try integer(UInt128.self, at: offset, next: &next), as: type)
    case .date:
      let seconds = try dateSeconds(at: offset, next: &next)
      return reinterpret(Date(timeIntervalSinceReferenceDate: seconds), as: type)
    case .uuid: return reinterpret(try uuid(at: offset, next: &next), as: type)
    case .url: return reinterpret(try url(at: offset, next: &next), as: type)
    case .decimal: return reinterpret(try decimal(at: offset, next: &next), as: type)
    case .plain, .planned, .deepOptional, .data: try fail(.mismatch, at: offset)
    }
  }
}
