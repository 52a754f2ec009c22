import Foundation

/// An encoder that does nothing with what it is given: what remains is the cost of `Codable`'s own calls,
/// the floor that no encoder gets below which answers those calls in the standard library's containers.
///
/// It asks every element of a collection: an encoder that writes whole collections may come out below.
struct DiscardingEncoder: Encoder {
  let cache: ContainerCache.Reference
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    cache.pointee.container(for: Key.self) { KeyedEncodingContainer(DiscardingKeyedContainer(encoder: self)) }
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { DiscardingUnkeyedContainer(encoder: self) }

  func singleValueContainer() -> any SingleValueEncodingContainer { DiscardingSingleValueContainer(encoder: self) }

  /// Lets a value encode itself, out of sight of the optimizer.
  @inline(never)
  func encode<Value: Encodable>(_ value: Value) throws {
    if isWhole(Value.self) { return }
    try opaque(value as any Encodable).encode(to: opaque(self as any Encoder))
  }

  /// Visits a nested value, which may go on to visit others.
  @inline(__always)
  fileprivate func visit<Value: Encodable>(_ value: Value) throws {
    if isWhole(Value.self) { return }
    try value.encode(to: self)
  }
}

/// Owns what a discarding encoder works with.
final class DiscardingSession {
  let encoder = DiscardingEncoder(cache: ContainerCache.create())

  deinit { ContainerCache.destroy(encoder.cache) }
}

/// Whether fast coders handle values of this type themselves, without asking the type how.
@inline(__always)
func isWhole(_ type: Any.Type) -> Bool {
  type == String.self || type == Int.self || type == Double.self || type == Date.self || type == UUID.self
    || type == URL.self || type == Data.self
}

/// An object whose values are dropped.
struct DiscardingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: DiscardingEncoder
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) {}
  func encode(_ value: Bool, forKey key: Key) {}
  func encode(_ value: String, forKey key: Key) {}
  func encode(_ value: Double, forKey key: Key) {}
  func encode(_ value: Float, forKey key: Key) {}
  func encode(_ value: Int, forKey key: Key) {}
  func encode(_ value: Int8, forKey key: Key) {}
  func encode(_ value: Int16, forKey key: Key) {}
  func encode(_ value: Int32, forKey key: Key) {}
  func encode(_ value: Int64, forKey key: Key) {}
  func encode(_ value: Int128, forKey key: Key) {}
  func encode(_ value: UInt, forKey key: Key) {}
  func encode(_ value: UInt8, forKey key: Key) {}
  func encode(_ value: UInt16, forKey key: Key) {}
  func encode(_ value: UInt32, forKey key: Key) {}
  func encode(_ value: UInt64, forKey key: Key) {}
  func encode(_ value: UInt128, forKey key: Key) {}

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.visit(value) }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    if let value { try encoder.visit(value) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder }

  func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// An array whose elements are counted and dropped.
struct DiscardingUnkeyedContainer: UnkeyedEncodingContainer {
  let encoder: DiscardingEncoder
  var codingPath: [any CodingKey] { [] }
  private(set) var count = 0

  init(encoder: DiscardingEncoder) { self.encoder = encoder }

  mutating func encodeNil() { count += 1 }
  mutating func encode(_ value: Bool) { count += 1 }
  mutating func encode(_ value: String) { count += 1 }
  mutating func encode(_ value: Double) { count += 1 }
  mutating func encode(_ value: Float) { count += 1 }
  mutating func encode(_ value: Int) { count += 1 }
  mutating func encode(_ value: Int8) { count += 1 }
  mutating func encode(_ value: Int16) { count += 1 }
  mutating func encode(_ value: Int32) { count += 1 }
  mutating func encode(_ value: Int64) { count += 1 }
  mutating func encode(_ value: Int128) { count += 1 }
  mutating func encode(_ value: UInt) { count += 1 }
  mutating func encode(_ value: UInt8) { count += 1 }
  mutating func encode(_ value: UInt16) { count += 1 }
  mutating func encode(_ value: UInt32) { count += 1 }
  mutating func encode(_ value: UInt64) { count += 1 }
  mutating func encode(_ value: UInt128) { count += 1 }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    count += 1
    try encoder.visit(value)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    count += 1
    return encoder.container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    count += 1
    return encoder.unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder {
    count += 1
    return encoder
  }
}

/// A single value, dropped.
struct DiscardingSingleValueContainer: SingleValueEncodingContainer {
  let encoder: DiscardingEncoder
  var codingPath: [any CodingKey] { [] }

  func encodeNil() {}
  func encode(_ value: Bool) {}
  func encode(_ value: String) {}
  func encode(_ value: Double) {}
  func encode(_ value: Float) {}
  func encode(_ value: Int) {}
  func encode(_ value: Int8) {}
  func encode(_ value: Int16) {}
  func encode(_ value: Int32) {}
  func encode(_ value: Int64) {}
  func encode(_ value: Int128) {}
  func encode(_ value: UInt) {}
  func encode(_ value: UInt8) {}
  func encode(_ value: UInt16) {}
  func encode(_ value: UInt32) {}
  func encode(_ value: UInt64) {}
  func encode(_ value: UInt128) {}

  func encode<Value: Encodable>(_ value: Value) throws { try encoder.visit(value) }
}
