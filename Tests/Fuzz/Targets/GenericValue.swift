#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value of any kind, found by trying one type after another.
enum GenericValue: Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case wide(Int128)
  case wideUnsigned(UInt128)
  case double(Double)
  case string(String)
  case data(Data)
  case array([GenericValue])
  case object([String: GenericValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Int128.self) {
      self = .wide(value)
    } else if let value = try? container.decode(UInt128.self) {
      self = .wideUnsigned(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([GenericValue].self) {
      self = .array(value)
    } else if let value = try? container.decode(Data.self) {
      self = .data(value)
    } else {
      self = .object(try container.decode([String: GenericValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .wide(let value): try container.encode(value)
    case .wideUnsigned(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension GenericValue: Equatable {
  /// Floats are compared by their bits, strings by their bytes.
  static func == (a: GenericValue, b: GenericValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.unsigned(let a), .unsigned(let b)): a == b
    case (.wide(let a), .wide(let b)): a == b
    case (.wideUnsigned(let a), .wideUnsigned(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.data(let a), .data(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }
}
