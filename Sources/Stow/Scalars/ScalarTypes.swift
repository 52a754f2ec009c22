#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The types that are recorded and read without their own `Codable`.
enum ScalarTypes {
  /// Returns a type as the scalar that it is; nil for other types.
  ///
  /// Types are compared one by one: a cast searches every conformance in the program, and an array of all scalars
  /// makes the runtime instantiate the conformance of each.
  @inline(never)
  static func scalar(_ type: Any.Type) -> (any (RecordableScalar & ReadableScalar).Type)? {
    switch type {
    case is Bool.Type: Bool.self
    case is Double.Type: Double.self
    case is Float.Type: Float.self
    case is String.Type: String.self
    case is Date.Type: Date.self
    case is UUID.Type: UUID.self
    case is URL.Type: URL.self
    case is Decimal.Type: Decimal.self
    case is Data.Type: Data.self
    case is Int.Type: Int.self
    case is Int8.Type: Int8.self
    case is Int16.Type: Int16.self
    case is Int32.Type: Int32.self
    case is Int64.Type: Int64.self
    case is Int128.Type: Int128.self
    case is UInt.Type: UInt.self
    case is UInt8.Type: UInt8.self
    case is UInt16.Type: UInt16.self
    case is UInt32.Type: UInt32.self
    case is UInt64.Type: UInt64.self
    case is UInt128.Type: UInt128.self
    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
      case is Float16.Type: Float16.self
    #endif
    default: nil
    }
  }
}
