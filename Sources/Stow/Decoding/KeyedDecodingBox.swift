/// What a `KeyedDecodingContainer` refers to, where that is the cursor itself.
///
/// The methods are those of the standard library's `_KeyedDecodingContainerBase`, in the order in which it declares them:
/// a call finds a method by its place (`BoxClass`). `@usableFromInline` keeps the optimizer from dropping what nothing
/// here calls.
@usableFromInline
class KeyedDecodingBox {
  @usableFromInline
  init() {}

  private final var cursor: DecodingCursor { unsafeDowncast(self, to: DecodingCursor.self) }

  @usableFromInline
  var codingPath: [any CodingKey] { cursor.path }
  @usableFromInline
  var allKeys: [any CodingKey] { cursor.presentKeys }
  @usableFromInline
  func contains<Key: CodingKey>(_ key: Key) -> Bool { cursor.has(key) }

  @usableFromInline
  func decodeNil<Key: CodingKey>(forKey key: Key) throws -> Bool { try cursor.readNil(key) }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: String.Type, forKey key: Key) throws -> String {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Double.Type, forKey key: Key) throws -> Double {
    try cursor.readDouble(key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Float.Type, forKey key: Key) throws -> Float {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Int.Type, forKey key: Key) throws -> Int {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Key: CodingKey>(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try cursor.read(type, key)
  }
  @usableFromInline
  func decode<Value: Decodable, Key: CodingKey>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try cursor.decode(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: String.Type, forKey key: Key) throws -> String? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Key: CodingKey>(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try cursor.readIfPresent(type, key)
  }
  @usableFromInline
  func decodeIfPresent<Value: Decodable, Key: CodingKey>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    try cursor.decodeIfPresent(type, key)
  }

  @usableFromInline
  func nestedContainer<NestedKey: CodingKey, Key: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try cursor.nestedDecoder(key).container(keyedBy: type)
  }
  @usableFromInline
  func nestedUnkeyedContainer<Key: CodingKey>(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try cursor.nestedDecoder(key).unkeyedContainer()
  }
  @usableFromInline
  func superDecoder() throws -> any Decoder { try cursor.decoderForSuper() }
  @usableFromInline
  func superDecoder<Key: CodingKey>(forKey key: Key) throws -> any Decoder { try cursor.decoderForSuper(key) }
}
