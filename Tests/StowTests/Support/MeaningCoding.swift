import Foundation
import Stow

extension CodingUserInfoKey {
  /// The whole meaning that a message is expected to have.
  static let expectedMeaning = CodingUserInfoKey(rawValue: "expected meaning")!
}

extension StowDecoder {
  /// What a message means, read as the types that `expected` has at each place.
  func meaning(of message: Data, expected: Meaning) throws -> Meaning {
    userInfo[.expectedMeaning] = expected
    return try decode(Meaning.self, from: message)
  }
}

// MARK: - Reading

/// Many kinds can be read as several types, so a reader has to know which to ask for: the expected one.
extension Meaning: Decodable {
  init(from decoder: any Decoder) throws {
    let whole = decoder.userInfo[.expectedMeaning] as? Meaning
    guard let expected = whole?.part(at: decoder.codingPath) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "Nothing is expected here"))
    }
    switch expected {
    case .array: self = .array(try Self.elements(decoder))
    case .object: self = .object(try Self.object(decoder))
    default: self = try Self.scalar(expected, decoder.singleValueContainer())
    }
  }

  private static func elements(_ decoder: any Decoder) throws -> [Meaning] {
    var container = try decoder.unkeyedContainer()
    var elements: [Meaning] = []
    while !container.isAtEnd { elements.append(try container.decode(Meaning.self)) }
    return elements
  }

  private static func object(_ decoder: any Decoder) throws -> MeaningObject {
    let container = try decoder.container(keyedBy: AnyKey.self)
    return MeaningObject(try container.allKeys.map { ($0.stringValue, try container.decode(Meaning.self, forKey: $0)) })
  }

  private static func scalar(_ expected: Meaning, _ container: any SingleValueDecodingContainer) throws -> Meaning {
    switch expected {
    case .null(let level): .null(level: try nilLevel(level, container))
    case .bool: .bool(try container.decode(Bool.self))
    case .integer: .integer(try container.decode(Int128.self))
    case .unsigned: .unsigned(try container.decode(UInt128.self))
    case .float: .double(try container.decode(Double.self))
    case .singleNaN: .singleNaN(bits: try container.decode(Float.self).bitPattern)
    case .string: .text(try container.decode(String.self))
    case .data: .data(try container.decode(Data.self))
    case .date:
      .date(seconds: try container.decode(Date.self).timeIntervalSinceReferenceDate.bitPattern)
    case .uuid: .uuid(try container.decode(UUID.self))
    case .url: .url(try container.decode(URL.self).absoluteString)
    case .decimal: .decimal(try container.decode(Decimal.self))
    case .largeDecimal: .largeDecimal(try container.decode(StowValue.self))
    case .array, .object: preconditionFailure("a container is no scalar")
    }
  }

  /// The level of a nil. A type of four nested optionals tells levels apart up to 3.
  private static func nilLevel(_ expected: Int, _ container: any SingleValueDecodingContainer) throws -> Int {
    switch try container.decode(Int????.self) {
    case .none: return 0
    case .some(.none): return 1
    case .some(.some(.none)): return 2
    case .some(.some(.some(.none))): return max(3, expected)
    case .some(.some(.some(.some(let value)))):
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(value) in place of nil")
    }
  }
}

// MARK: - Writing

extension Meaning: Encodable {
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let object): try object.encode(to: encoder)
    case .null(let level): try Self.encodeNil(Int?.none, level: level, to: encoder)
    case .bool(let value): try encoder.writeSingle(value)
    case .integer(let value): try Self.encode(value, to: encoder)
    case .unsigned(let value): try encoder.writeSingle(value)
    case .float(let bits): try encoder.writeSingle(Double(bitPattern: bits))
    case .singleNaN(let bits): try encoder.writeSingle(Float(bitPattern: bits))
    case .string(let value): try encoder.writeSingle(value.string)
    case .data(let value): try encoder.writeSingle(value)
    case .date(let bits):
      try encoder.writeSingle(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
    case .uuid(let value): try encoder.writeSingle(value)
    case .url(let text): try encoder.writeSingle(URL(string: text))
    case .decimal(let value): try encoder.writeSingle(value)
    case .largeDecimal(let value): try encoder.writeSingle(value)
    }
  }

  private static func encode(_ value: Int128, to encoder: any Encoder) throws {
    if let value = Int64(exactly: value) {
      try encoder.writeSingle(value)
    } else if let value = UInt64(exactly: value) {
      try encoder.writeSingle(value)
    } else {
      try encoder.writeSingle(value)
    }
  }

  /// Puts a nil into as many optionals as its level says.
  private static func encodeNil<T: Encodable>(_ value: T?, level: Int, to encoder: any Encoder) throws {
    if level == 0 {
      try encoder.writeSingle(value)
    } else {
      try encodeNil(T??.some(value), level: level - 1, to: encoder)
    }
  }
}

extension MeaningObject: Encodable {
  func encode(to encoder: any Encoder) throws {
    switch keys {
    case .nothing: break
    case .free: try write(entries, to: encoder.container(keyedBy: AnyKey.self))
    case .fixed(0): try write(entries, to: encoder.container(keyedBy: FixedKey<Never>.self))
    case .fixed(1): try write(entries, to: encoder.container(keyedBy: FixedKey<Bool>.self))
    case .fixed: try write(entries, to: encoder.container(keyedBy: FixedKey<Int>.self))
    case .inherited:
      try write(entries.prefix(1), to: encoder.container(keyedBy: FixedKey<Never>.self))
      try write(entries.dropFirst(), to: encoder.container(keyedBy: FixedKey<Bool>.self))
    }
  }

  private func write<Key: CodingKey>(
    _ entries: some Sequence<(key: String, value: Meaning?)>, to container: KeyedEncodingContainer<Key>
  ) throws {
    var container = container
    for entry in entries {
      if let key = Key(stringValue: entry.key) {
        // The call with an optional is the one that may leave the key out.
        try container.encodeIfPresent(entry.value, forKey: key)
      } else {
        try entry.value.encode(to: container.superEncoder())
      }
    }
  }
}

/// A key of one of a few fixed key types: trivial, and of one byte.
private struct FixedKey<Type>: CodingKey {
  private let number: UInt8

  var stringValue: String { fixedNames[Int(number)] }
  var intValue: Int? { nil }

  init?(intValue: Int) { nil }

  init?(stringValue: String) {
    guard let index = fixedNames.firstIndex(of: stringValue) else { return nil }
    number = UInt8(index)
  }
}

/// The names of fixed keys; any other name calls `superEncoder()`.
private let fixedNames = [
  "age", "at", "description", "f", "here", "id", "kind", "mail", "name", "on", "phone", "there", "title",
  "unit", "value", "x", "y", "z",
]
