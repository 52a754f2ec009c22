import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes what JSON lacks as `JSONEncoder` does.
enum PlainJSON {
  /// Returns the text of a scalar that JSON lacks; nil for one that diagnostic notation writes as JSON does.
  @Sendable
  static func text(of value: StowValue) -> String? {
    switch value {
    case .nestedNull: "null"
    case .date(let date): StowValue.double(date.timeIntervalSinceReferenceDate).description
    case .data(let data): StowValue.string(data.base64EncodedString()).description
    case .uuid(let id): StowValue.string(id.uuidString).description
    case .url(let url): StowValue.string(url).description
    case .decimal(let number): number.description
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      "\(isNegative ? "-" : "")\(magnitude)e\(exponent)"
    default: nil
    }
  }

  /// Returns where the first number is that JSON has no text for, or nil.
  static func pathOfNonfinite(in value: StowValue) -> PathText? {
    switch value {
    case .double(let number): number.isFinite ? nil : PathText()
    case .float(let number): number.isFinite ? nil : PathText()
    case .date(let date): date.timeIntervalSinceReferenceDate.isFinite ? nil : PathText()
    case .decimal(let number): number.isNaN ? PathText() : nil
    case .array(let elements):
      elements.indices.lazy.compactMap { index in pathOfNonfinite(in: elements[index])?.inside(index) }.first
    case .object(let object):
      object.lazy.compactMap { key, value in pathOfNonfinite(in: value)?.inside(key) }.first
    default: nil
    }
  }
}
