/// Any JSON value, with the keys of objects in the order of the document: what a program holds that does not
/// know what it is about to read.
enum JSONValue: Codable, Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case uint(UInt64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([(key: String, value: JSONValue)])

  /// Tries one kind of value after the other, as every such type must.
  init(from decoder: any Decoder) throws {
    if let scalar = try Self.scalar(from: decoder.singleValueContainer()) {
      self = scalar
    } else if var container = try? decoder.unkeyedContainer() {
      self = try .array(Self.elements(of: &container))
    } else {
      self = try .object(Self.members(of: decoder.container(keyedBy: DocumentKey.self)))
    }
  }

  /// Writes the value as what it is.
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let members):
      var container = encoder.container(keyedBy: DocumentKey.self)
      for member in members { try container.encode(member.value, forKey: DocumentKey(member.key)) }
    default:
      var container = encoder.singleValueContainer()
      try encodeScalar(to: &container)
    }
  }

  /// The value, unless it is an array or an object.
  private static func scalar(from container: any SingleValueDecodingContainer) -> JSONValue? {
    if container.decodeNil() { return .null }
    if let value = try? container.decode(Bool.self) { return .bool(value) }
    if let value = try? container.decode(Int64.self) { return .int(value) }
    if let value = try? container.decode(UInt64.self) { return .uint(value) }
    if let value = try? container.decode(Double.self) { return .double(value) }
    if let value = try? container.decode(String.self) { return .string(value) }
    return nil
  }

  /// All elements of an array.
  private static func elements(of container: inout any UnkeyedDecodingContainer) throws -> [JSONValue] {
    var elements: [JSONValue] = []
    if let count = container.count { elements.reserveCapacity(count) }
    while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
    return elements
  }

  /// All members of an object.
  private static func members(
    of container: KeyedDecodingContainer<DocumentKey>
  ) throws -> [(key: String, value: JSONValue)] {
    try container.allKeys.map {
      (key: $0.stringValue, value: try container.decode(JSONValue.self, forKey: $0))
    }
  }

  /// Writes anything but an array or an object.
  private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
    switch self {
    case .null, .array, .object: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .uint(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    }
  }
}

extension JSONValue: Equatable {
  /// Equal values of equal kinds; the members of an object may stand in any order.
  static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.uint(let left), .uint(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)):
      left.elementsEqual(right, by: ==) || left.count == right.count && dictionary(left) == dictionary(right)
    default: false
    }
  }

  /// The members by their keys.
  private static func dictionary(_ members: [(key: String, value: JSONValue)]) -> [String: JSONValue] {
    Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }
  }
}

/// A key that is known only when it is met.
struct DocumentKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ stringValue: String) { self.stringValue = stringValue }

  init?(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}
