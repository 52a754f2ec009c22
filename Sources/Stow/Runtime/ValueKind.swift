#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How the values of a type are encoded and decoded: by their own conformance, or by a way of ours that does
/// the same with fewer calls.
enum ValueKind: UInt8 {
  /// By `encode(to:)` and `init(from:)`.
  case plain
  case bool, double, float, float16, string, date, uuid, url, data, decimal
  case int, int8, int16, int32, int64, int128
  case uint, uint8, uint16, uint32, uint64, uint128
  /// By a `TypeEncoder` and a `DecodingPlan`.
  case planned
  /// By the conformance of an optional, which knows what is inside as a type that can be encoded and decoded:
  /// with very many levels that takes too long to ask.
  case deepOptional

  /// The kind of a type; nil if that depends on what it conforms to.
  init?(_ type: Any.Type) {
    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
      if type == Float16.self {
        self = .float16
        return
      }
    #endif
    if let kind = Self.known.first(where: { $0.type == type })?.kind {
      self = kind
      return
    }
    let name = TypeName(type)
    if name.nestsManyOptionals {
      self = name.isOptional ? .deepOptional : .plain
    } else if name.mayBeGeneric {
      return nil
    } else {
      self = .plain
    }
  }

  private static let known: [(type: Any.Type, kind: ValueKind)] = [
    (Bool.self, .bool), (Double.self, .double), (Float.self, .float), (String.self, .string),
    (Date.self, .date), (UUID.self, .uuid), (URL.self, .url), (Data.self, .data), (Decimal.self, .decimal),
    (Int.self, .int), (Int8.self, .int8), (Int16.self, .int16), (Int32.self, .int32), (Int64.self, .int64),
    (Int128.self, .int128), (UInt.self, .uint), (UInt8.self, .uint8), (UInt16.self, .uint16),
    (UInt32.self, .uint32), (UInt64.self, .uint64), (UInt128.self, .uint128),
  ]
}
