#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Numbers of one type as numbers of another, with an error where they do not fit. Offsets are for errors.
enum Rounding {
  /// Returns the nearest `Float`; a finite number beyond its range is an error.
  static func float(_ value: Double, at offset: Int) throws(FormatError) -> Float {
    let result = Float(value)
    guard result.isFinite || !value.isFinite else { try fail(.unrepresentable, at: offset) }
    return result
  }

  #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    /// Returns the nearest `Float16`; a finite number beyond its range is an error.
    static func float16(_ value: Float, at offset: Int) throws(FormatError) -> Float16 {
      let result = Float16(preserving: value)
      guard result.isFinite || !value.isFinite else { try fail(.unrepresentable, at: offset) }
      return result
    }
  #endif

  /// Returns the shortest decimal that is this number, as JSON would say it. `Decimal` takes "-inf" for a number.
  static func decimal(_ value: Double, at offset: Int) throws(FormatError) -> Decimal {
    guard value.isFinite, let decimal = Decimal(string: value.description) else {
      try fail(.unrepresentable, at: offset)
    }
    return decimal
  }
}
