#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The types that are recorded without their own `encode(to:)`.
enum RecordableTypes {
  private static let scalars: [any RecordableScalar.Type] = {
    var scalars: [any RecordableScalar.Type] = [
      Bool.self, Double.self, Float.self, String.self, Date.self, UUID.self, URL.self, Decimal.self,
      Data.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self,
      UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self,
    ]
    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
      scalars.append(Float16.self)
    #endif
    return scalars
  }()

  /// A type as the scalar that it is; nil if it is none.
  static func scalar(_ type: Any.Type) -> (any RecordableScalar.Type)? { scalars.first { $0 == type } }
}
