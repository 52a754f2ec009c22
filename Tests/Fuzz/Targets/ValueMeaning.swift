import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension MessageMeaning {
  /// What a `StowValue` is, with as much told apart as by other readers.
  init(_ value: StowValue) {
    switch value {
    case .null: self = .null(level: 0)
    case .nestedNull(let level): self = .null(level: min(level, 4))
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .unsignedInteger(let value): self = .unsigned(value)
    case .double(let value):
      self =
        value.isNaN && value.isWidened
        ? MessageMeaning(.float(Float(value))) : .float(bits: value.bitPattern)
    case .float(let value): self = .singleNaN(bits: value.bitPattern | Float.nan.bitPattern)
    case .string(let value): self = .string(value)
    case .data(let value): self = .data(value)
    case .date(let value): self = .date(seconds: value.timeIntervalSinceReferenceDate.bitPattern)
    case .uuid(let value): self = .uuid(value)
    case .url(let value): self = .url(value)
    case .decimal(let value): self = .decimal(value)
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      self = .largeDecimal(magnitude: magnitude, exponent: exponent, isNegative: isNegative)
    case .array(let elements): self = .array(elements.map { MessageMeaning($0) })
    case .object(let object): self = .object(object.map { ($0.key, MessageMeaning($0.value)) })
    }
  }
}
