/// A decoder of what is no container, and the container of that.
protocol ScalarDecoder: Decoder, StowValueCoder, SingleValueDecodingContainer {
  /// Returns the error of somebody who asked for a value of another type.
  func mismatch(_ type: Any.Type) -> any Error
}

extension ScalarDecoder {
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch([String: Any].self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

/// A single-value container that reads every scalar in one way.
protocol ScalarContainer: SingleValueDecodingContainer {
  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value
}

extension ScalarContainer {
  @inline(__always)
  func decode<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { try read(type) }
  // The standard library has defaults for these, which throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }
}
