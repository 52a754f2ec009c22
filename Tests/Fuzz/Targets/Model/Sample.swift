/// A value that a script encodes, and the node that it should become.
struct Sample {
  let value: any Encodable
  let node: Node

  static func choose(_ choices: Choices) -> Sample {
    switch choices.below(14) {
    case 0: scalar(choices.next() & 1 == 1) { .bool($0) }
    case 1: scalar(Int(Int8(bitPattern: choices.next()))) { .integer(Int64($0)) }
    case 2: scalar(Int64(choices.next()) << 55 | Int64(choices.next())) { .integer($0) }
    case 3: scalar(UInt8(choices.next())) { .integer(Int64($0)) }
    case 4: scalar(choices.pick(fractions)) { .double($0) }
    case 5: scalar(Float(choices.next()) / 8) { .double(Double($0)) }
    case 6: scalar(choices.pick(texts)) { .string($0) }
    case 7: scalar("text \(choices.next())") { .string($0) }
    case 8: list((0..<choices.below(8)).map { _ in Int16(choices.next()) << 4 }) { .integer(Int64($0)) }
    case 9: list((0..<choices.below(8)).map { _ in choices.pick(fractions) }) { .double($0) }
    case 10: list((0..<choices.below(8)).map { _ in choices.pick(texts) }) { .string($0) }
    case 11: list((0..<choices.below(20)).map { _ in choices.next() & 1 == 1 }) { .bool($0) }
    case 12: dictionary(choices)
    default: scalar(Int?.none) { _ in .null }
    }
  }

  private static let fractions = [0.5, -0.0, 0.1, 1e300, 12.25, .infinity, 3, 99.99, .pi, 0]
  private static let texts = ["", "a", "é", "repeated text", "a text of more than sixteen bytes", "name"]

  private static func scalar<Value: Encodable>(_ value: Value, _ content: (Value) -> Node.Content) -> Sample {
    Sample(value: value, node: Node(content(value)))
  }

  private static func list<Value: Encodable>(_ values: [Value], _ content: (Value) -> Node.Content) -> Sample {
    Sample(value: values, node: Node(.array(values.map { Node(content($0)) })))
  }

  private static func dictionary(_ choices: Choices) -> Sample {
    let keys = (0..<choices.below(5)).map { _ in NameKey.choose(choices).stringValue }
    let entries = Dictionary(keys.map { ($0, $0.utf8.count) }, uniquingKeysWith: { first, _ in first })
    return Sample(value: entries, node: Node(.object(entries.mapValues { Node(.integer(Int64($0))) })))
  }

  // Scalars go through the calls for their own types, as a compiler would choose them.

  func encode<Key: CodingKey>(into container: inout KeyedEncodingContainer<Key>, forKey key: Key) throws {
    switch value {
    case let value as Bool: try container.encode(value, forKey: key)
    case let value as Int: try container.encode(value, forKey: key)
    case let value as Int64: try container.encodeIfPresent(value, forKey: key)
    case let value as UInt8: try container.encode(value, forKey: key)
    case let value as Double: try container.encode(value, forKey: key)
    case let value as Float: try container.encode(value, forKey: key)
    case let value as String: try container.encode(value, forKey: key)
    default: try container.encode(value, forKey: key)
    }
  }

  func encode(into container: inout any UnkeyedEncodingContainer) throws {
    switch value {
    case let value as Bool: try container.encode(value)
    case let value as Int: try container.encode(value)
    case let value as Int64: try container.encode(value)
    case let value as UInt8: try container.encode(value)
    case let value as Double: try container.encode(value)
    case let value as Float: try container.encode(value)
    case let value as String: try container.encode(value)
    default: try container.encode(value)
    }
  }

  func encode(into container: inout any SingleValueEncodingContainer) throws {
    switch value {
    case let value as Bool: try container.encode(value)
    case let value as Int: try container.encode(value)
    case let value as Int64: try container.encode(value)
    case let value as UInt8: try container.encode(value)
    case let value as Double: try container.encode(value)
    case let value as Float: try container.encode(value)
    case let value as String: try container.encode(value)
    default: try container.encode(value)
    }
  }
}
