/// The container of an object that is being recorded.
struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: ObjectWriter

  var codingPath: [any CodingKey] { writer.codingPath }

  mutating func encodeNil(forKey key: Key) { writer.putNil(key) }
  @inline(__always)
  mutating func encode<Value: RecordableScalar>(_ value: Value, forKey key: Key) { writer.put(value, key) }
  // The standard library has defaults for these, which throw.
  mutating func encode(_ value: Int128, forKey key: Key) { writer.put(value, key) }
  mutating func encode(_ value: UInt128, forKey key: Key) { writer.put(value, key) }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try writer.encode(value, key)
  }

  // Absent values are seen, too: without these, the standard library would not call for them.

  mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: String?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Double?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Float?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int128?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt128?, forKey key: Key) { writer.put(value, key) }

  mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    try writer.encodeIfPresent(value, key)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    writer.nestedContainer(keyType, key)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    writer.nestedUnkeyedContainer(key)
  }

  mutating func superEncoder() -> any Encoder { writer.encoderForSuper() }
  mutating func superEncoder(forKey key: Key) -> any Encoder { writer.encoderForSuper(key) }
}
