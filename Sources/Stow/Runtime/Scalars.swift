#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The types that are recorded and read as they are, without their own `encode(to:)` and `init(from:)`.
enum Scalars {
  static let all: [Any.Type] = {
    var all: [Any.Type] = [
      Bool.self, Double.self, Float.self, String.self, Date.self, UUID.self, URL.self, Decimal.self,
      Data.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self,
      UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self,
    ]
    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
      all.append(Float16.self)
    #endif
    return all
  }()
}
