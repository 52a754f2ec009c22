#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// This library's coders take a value whole; the rest is for other coders.

extension StowValue: Codable {
  /// Decodes a value of any kind.
  ///
  /// A `StowDecoder` knows which kind it is. With any other decoder, kinds are tried in turn: nil, Bool, integers,
  /// floating-point numbers, strings, arrays, objects, and last dates and data, as property lists have them.
  ///
  /// - Throws: What the decoder throws, and `DecodingError.typeMismatch` if it finds none of these kinds.
  public init(from decoder: any Decoder) throws {
    if decoder is any StowValueCoder {
      self = try decoder.singleValueContainer().decode(StowValue.self)
    } else if let scalar = try Self.scalar(decoder.singleValueContainer()) {
      self = scalar
    } else if var container = try? decoder.unkeyedContainer() {
      self = try .array(Self.elements(&container))
    } else if let container = try? decoder.container(keyedBy: PathKey.self) {
      self = try .object(Self.members(container))
    } else {
      self = try Self.lastScalar(decoder.singleValueContainer())
    }
  }

  private static func scalar(_ container: any SingleValueDecodingContainer) -> StowValue? {
    if container.decodeNil() { return .null }
    if let value = try? container.decode(Bool.self) { return .bool(value) }
    if let value = try? container.decode(Int64.self) { return StowValue(value) }
    if let value = try? container.decode(UInt64.self) { return StowValue(value) }
    if let value = try? container.decode(Int128.self) { return StowValue(value) }
    if let value = try? container.decode(UInt128.self) { return StowValue(value) }
    if let value = try? container.decode(Double.self) { return .double(value) }
    if let value = try? container.decode(String.self) { return .string(value) }
    return nil
  }

  private static func elements(_ container: inout any UnkeyedDecodingContainer) throws -> [StowValue] {
    var elements: [StowValue] = []
    while !container.isAtEnd { elements.append(try container.decode(StowValue.self)) }
    return elements
  }

  private static func members(_ container: KeyedDecodingContainer<PathKey>) throws -> StowObject {
    var members = StowObject()
    for key in container.allKeys { members[key.stringValue] = try container.decode(StowValue.self, forKey: key) }
    return members
  }

  /// Decodes a kind that only some decoders have: others would find it in a string, a number or an array.
  private static func lastScalar(_ container: any SingleValueDecodingContainer) throws -> StowValue {
    if let value = try? container.decode(Date.self) { return .date(value) }
    if let value = try? container.decode(Data.self) { return .data(value) }
    throw DecodingError.mismatch(StowValue.self, path: container.codingPath, "Found a value of no kind that is known.")
  }

  /// Encodes the value as the kind that it is.
  ///
  /// A `StowEncoder` keeps all of it. Any other encoder receives what `Date`, `UUID`, `URL`, `Data` and
  /// `Decimal` encode, and nil for every level of nil.
  ///
  /// - Throws: What the encoder throws, and an `EncodingError` if another encoder gets a number that `Decimal` does not
  ///   hold.
  public func encode(to encoder: any Encoder) throws {
    if encoder is any StowValueCoder {
      var container = encoder.singleValueContainer()
      return try container.encode(self)
    }
    switch self {
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let object):
      var container = encoder.container(keyedBy: PathKey.self)
      for (key, value) in object { try container.encode(value, forKey: PathKey(stringValue: key)) }
    default:
      var container = encoder.singleValueContainer()
      try encodeScalar(&container)
    }
  }

  private func encodeScalar(_ container: inout any SingleValueEncodingContainer) throws {
    switch self {
    case .null, .nestedNull: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value):
      if let value = Int64(exactly: value) {
        try container.encode(value)
      } else if let value = UInt64(exactly: value) {
        try container.encode(value)
      } else {
        try container.encode(value)
      }
    case .unsignedInteger(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .float(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .uuid(let value): try container.encode(value)
    case .url(let value):
      if let url = URL(string: value) { try container.encode(url) } else { try container.encode(value) }
    case .decimal(let value): try container.encode(value)
    case .largeDecimal:
      guard let value = decimal else {
        throw EncodingError.invalid(self, path: container.codingPath, "Decimal does not hold the number \(self).")
      }
      try container.encode(value)
    case .array, .object: preconditionFailure("a container is no scalar")
    }
  }
}
