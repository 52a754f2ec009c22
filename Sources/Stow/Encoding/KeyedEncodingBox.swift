/// What a `KeyedEncodingContainer` refers to, where that is the cursor itself.
///
/// The methods are those of the standard library's `_KeyedEncodingContainerBase`, in the order in which it declares them:
/// a call finds a method by its place (`BoxClass`). `@usableFromInline` keeps the optimizer from dropping what nothing
/// here calls.
@usableFromInline
class KeyedEncodingBox {
  @usableFromInline
  init() {}

  private final var cursor: KeyedCursor { unsafeDowncast(self, to: KeyedCursor.self) }

  @usableFromInline
  var codingPath: [any CodingKey] { cursor.path }

  @usableFromInline
  func encodeNil<Key: CodingKey>(forKey key: Key) throws { cursor.putNil(key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Bool, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: String, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Double, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Float, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Int, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Int8, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Int16, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Int32, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Int64, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: Int128, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: UInt, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: UInt8, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: UInt16, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: UInt32, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: UInt64, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Key: CodingKey>(_ value: UInt128, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encode<Value: Encodable, Key: CodingKey>(_ value: Value, forKey key: Key) throws {
    try cursor.encode(value, key)
  }
  @usableFromInline
  func encodeConditional<Value: AnyObject & Encodable, Key: CodingKey>(
    _ value: Value, forKey key: Key
  ) throws {
    try cursor.encode(value, key)
  }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Bool?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: String?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Double?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Float?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Int?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Int8?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Int16?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Int32?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Int64?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: Int128?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: UInt?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: UInt8?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: UInt16?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: UInt32?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: UInt64?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Key: CodingKey>(_ value: UInt128?, forKey key: Key) throws { cursor.put(value, key) }
  @usableFromInline
  func encodeIfPresent<Value: Encodable, Key: CodingKey>(_ value: Value?, forKey key: Key) throws {
    try cursor.encodeIfPresent(value, key)
  }

  @usableFromInline
  func nestedContainer<NestedKey: CodingKey, Key: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    cursor.nestedContainer(keyType, key)
  }
  @usableFromInline
  func nestedUnkeyedContainer<Key: CodingKey>(forKey key: Key) -> any UnkeyedEncodingContainer {
    cursor.nestedUnkeyedContainer(key)
  }
  @usableFromInline
  func superEncoder() -> any Encoder { cursor.encoderForSuper() }
  @usableFromInline
  func superEncoder<Key: CodingKey>(forKey key: Key) -> any Encoder { cursor.encoderForSuper(key) }
}
