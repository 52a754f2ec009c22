#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Data {
  /// Lends the bytes to `body`.
  ///
  /// A span, where there is one: unlike `withUnsafeBytes` it counts no references.
  @inline(__always)
  func lendBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    #if compiler(>=6.3) && canImport(FoundationEssentials) && !canImport(Darwin)
      try bytes.withUnsafeBytes(body)
    #else
      try withUnsafeBytes(body)
    #endif
  }

  /// A copy of the bytes.
  static func copy(_ bytes: UnsafeRawBufferPointer) -> Data {
    bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
  }
}
