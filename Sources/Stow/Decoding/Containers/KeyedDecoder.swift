/// The container of an object that is being read.
///
/// A trivial value: the object that the standard library puts around it copies it for every call, and would count a
/// reference each time. The session keeps the cursor, and whoever runs the decoding keeps the session for as long as
/// somebody holds a container (`SessionPool`).
struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let reference: Unmanaged<ObjectReader>

  init(_ cursor: ObjectReader) { reference = .passUnretained(cursor) }

  @inline(__always)
  private func on<Result>(_ body: (ObjectReader) throws -> Result) rethrows -> Result {
    try reference._withUnsafeGuaranteedRef { try body($0) }
  }

  var codingPath: [any CodingKey] { on { $0.path } }
  var allKeys: [Key] { on { $0.presentKeys(Key.self) } }

  func contains(_ key: Key) -> Bool { on { $0.has(key) } }

  func decodeNil(forKey key: Key) throws -> Bool { try on { try $0.readNil(key) } }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try on { try $0.readDouble(key) } }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try on { try $0.read(type, key) } }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try on { try $0.read(type, key) } }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try on { try $0.read(type, key) } }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try on { try $0.read(type, key) } }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try on { try $0.read(type, key) } }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try on { try $0.read(type, key) } }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try on { try $0.read(type, key) } }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try on { try $0.read(type, key) } }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try on { try $0.read(type, key) } }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try on { try $0.read(type, key) } }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try on { try $0.read(type, key) } }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try on { try $0.read(type, key) } }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try on { try $0.read(type, key) } }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try on { try $0.read(type, key) } }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try on { try $0.read(type, key) } }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try on { try $0.readIfPresent(type, key) }
  }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try on { try $0.readIfPresent(type, key) }
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try on { try $0.decode(type, key) }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try on { try $0.decodeIfPresent(type, key) }
  }

  // MARK: nested containers

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try on { try $0.nestedDecoder(key).container(keyedBy: type) }
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try on { try $0.nestedDecoder(key).unkeyedContainer() }
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try on { try $0.decoderForSuper(key) } }
  func superDecoder() throws -> any Decoder { try on { try $0.decoderForSuper() } }
}
