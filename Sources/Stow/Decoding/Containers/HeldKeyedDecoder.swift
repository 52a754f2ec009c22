/// A keyed container that holds its session and its reader itself.
///
/// What containers are where they are not used again, and when the message is over.
final class HeldKeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let session: DecodingSession
  private let reader: ObjectReader
  private let container: KeyedDecoder<Key>

  init(session: DecodingSession, reader: ObjectReader) {
    self.session = session
    self.reader = reader
    container = KeyedDecoder(reader, session: session)
  }

  var codingPath: [any CodingKey] { container.codingPath }
  var allKeys: [Key] { container.allKeys }

  func contains(_ key: Key) -> Bool { container.contains(key) }
  func decodeNil(forKey key: Key) throws -> Bool { try container.decodeNil(forKey: key) }

  // The standard library's defaults for these throw.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try container.decode(type, forKey: key)
  }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try container.decode(type, forKey: key)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try container.decode(type, forKey: key)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try container.decodeIfPresent(type, forKey: key)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try container.nestedContainer(keyedBy: type, forKey: key)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try container.nestedUnkeyedContainer(forKey: key)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try container.superDecoder(forKey: key) }
  func superDecoder() throws -> any Decoder { try container.superDecoder() }
}
