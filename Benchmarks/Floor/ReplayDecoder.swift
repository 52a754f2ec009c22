/// A decoder that replays a `Replay`: it looks nothing up and checks nothing, it hands out the next value.
/// What remains is the cost of `Codable`'s own calls, the floor of decoding.
struct ReplayDecoder: Decoder {
  let tape: Replay.Tape
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try tape.pointee.checkOutcome()
    return tape.pointee.cache.pointee.container(for: Key.self) {
      KeyedDecodingContainer(ReplayKeyedContainer(tape: tape))
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try tape.pointee.checkOutcome()
    return ReplayUnkeyedContainer(tape: tape)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try tape.pointee.checkOutcome()
    return ReplaySingleValueContainer(tape: tape)
  }
}

/// An object whose values come in the order they were once asked for.
struct ReplayKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let tape: Replay.Tape
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { tape.pointee.nextKeys().compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { tape.pointee.nextFlag() }

  func decodeNil(forKey key: Key) throws -> Bool { try tape.pointee.nextNil() }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try tape.pointee.nextString() }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try tape.pointee.nextScalar() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try tape.pointee.nextScalar() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try tape.pointee.nextScalar() }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try tape.pointee.nextScalar() }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try tape.pointee.nextScalar() }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try tape.pointee.nextScalar() }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try tape.pointee.nextScalar() }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try tape.pointee.nextScalar() }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try tape.pointee.nextScalar() }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try tape.pointee.nextStringIfPresent()
  }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try tape.pointee.nextScalarIfPresent()
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try tape.visit(type) }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard try tape.pointee.nextIsPresent() else { return nil }
    return try tape.visit(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try ReplayDecoder(tape: tape).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try ReplayDecoder(tape: tape).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    try tape.pointee.checkOutcome()
    return ReplayDecoder(tape: tape)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

/// An array, of which only the number of elements is known beforehand.
struct ReplayUnkeyedContainer: UnkeyedDecodingContainer {
  let tape: Replay.Tape
  private let elementCount: Int
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { [] }
  var count: Int? { elementCount }
  var isAtEnd: Bool { currentIndex >= elementCount }

  /// Starts at the first element.
  init(tape: Replay.Tape) {
    self.tape = tape
    elementCount = tape.pointee.nextCount()
  }

  mutating func decodeNil() throws -> Bool {
    let isNil = try tape.pointee.nextNil()
    if isNil { currentIndex += 1 }
    return isNil
  }

  mutating func decode(_ type: String.Type) throws -> String { advanced(past: try tape.pointee.nextString()) }
  mutating func decode(_ type: Bool.Type) throws -> Bool { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Double.Type) throws -> Double { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Float.Type) throws -> Float { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int.Type) throws -> Int { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { advanced(past: try tape.pointee.nextScalar()) }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    advanced(past: try tape.visit(type))
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    advanced(past: try ReplayDecoder(tape: tape).container(keyedBy: type))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    advanced(past: try ReplayDecoder(tape: tape).unkeyedContainer())
  }

  mutating func superDecoder() throws -> any Decoder {
    try tape.pointee.checkOutcome()
    return advanced(past: ReplayDecoder(tape: tape))
  }

  /// Moves on, once an element was read without an error.
  @inline(__always)
  private mutating func advanced<Value>(past value: Value) -> Value {
    currentIndex += 1
    return value
  }
}

/// A single value.
struct ReplaySingleValueContainer: SingleValueDecodingContainer {
  let tape: Replay.Tape
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { tape.pointee.nextFlag() }

  func decode(_ type: String.Type) throws -> String { try tape.pointee.nextString() }
  func decode(_ type: Bool.Type) throws -> Bool { try tape.pointee.nextScalar() }
  func decode(_ type: Double.Type) throws -> Double { try tape.pointee.nextScalar() }
  func decode(_ type: Float.Type) throws -> Float { try tape.pointee.nextScalar() }
  func decode(_ type: Int.Type) throws -> Int { try tape.pointee.nextScalar() }
  func decode(_ type: Int8.Type) throws -> Int8 { try tape.pointee.nextScalar() }
  func decode(_ type: Int16.Type) throws -> Int16 { try tape.pointee.nextScalar() }
  func decode(_ type: Int32.Type) throws -> Int32 { try tape.pointee.nextScalar() }
  func decode(_ type: Int64.Type) throws -> Int64 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt.Type) throws -> UInt { try tape.pointee.nextScalar() }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try tape.pointee.nextScalar() }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try tape.visit(type) }
}
