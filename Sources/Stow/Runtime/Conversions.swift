#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Foundation's data and the standard library's arrays without copies and calls that are not needed, and floating-point
// numbers without a bit lost.

extension Data {
  /// Lends the bytes to `body`.
  ///
  /// Uses a span if there is one: unlike `withUnsafeBytes`, it counts no references.
  func lendBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    #if compiler(>=6.3) && canImport(FoundationEssentials) && !canImport(Darwin)
      try bytes.withUnsafeBytes(body)
    #else
      try withUnsafeBytes(body)
    #endif
  }

  static func copy(_ bytes: UnsafeRawBufferPointer) -> Data {
    bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
  }
}

extension Array {
  /// Returns an array of at most `count` elements, which `fill` initializes and counts.
  ///
  /// An empty array is not filled: the standard library would write its count to memory that all empty arrays
  /// share, which would be a data race.
  @inline(__always)
  static func filled<Failure: Error>(
    count: Int, _ fill: (UnsafeMutablePointer<Element>, _ initialized: inout Int) throws(Failure) -> Void
  ) throws(Failure) -> [Element] {
    guard count > 0 else { return [] }
    var failure: Failure?
    let result = [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
      guard let start = buffer.baseAddress else { return }
      do throws(Failure) { try fill(start, &initialized) } catch { failure = error }
    }
    if let failure { throw failure }
    return result
  }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float {
    /// The same number; a NaN keeps its bits, which conversion may change.
    init(preserving value: Float16) {
      guard value.isNaN else {
        self.init(value)
        return
      }
      let bits = UInt32(value.bitPattern)
      self.init(bitPattern: (bits & 0x8000) << 16 | 0x7F80_0000 | (bits & 0x3FF) << 13)
    }
  }

  extension Float16 {
    /// The nearest number; a NaN keeps the bits there is room for.
    init(preserving value: Float) {
      guard value.isNaN else {
        self.init(value)
        return
      }
      let payload = UInt16(truncatingIfNeeded: value.bitPattern >> 13 & 0x3FF)
      let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 16 & 0x8000)
      self.init(bitPattern: sign | 0x7C00 | (payload == 0 ? 0x200 : payload))
    }
  }
#endif
