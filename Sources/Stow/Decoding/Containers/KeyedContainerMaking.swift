// Keyed containers, new or used before.

extension DecodingSession {
  /// Returns a container of an object.
  @inline(__always)
  func container<Key: CodingKey>(
    _ keyType: Key.Type, _ object: ObjectHeader, _ node: PathNode
  ) throws(FormatError) -> KeyedDecodingContainer<Key> {
    try container(keyType) { reader throws(FormatError) in try reader.open(object, message, node) }
  }

  /// Returns a container of a row of a table.
  func container<Key: CodingKey>(
    _ keyType: Key.Type, row: Int, of source: ElementSource, shape: Int, _ node: PathNode
  ) -> KeyedDecodingContainer<Key> {
    container(keyType) { $0.open(row: row, of: source, shape: shape, message, node) }
  }

  /// Returns a container whose reader is opened by `open`.
  @inline(__always)
  private func container<Key: CodingKey, Failure: Error>(
    _ keyType: Key.Type, _ open: (ObjectReader) throws(Failure) -> Void
  ) throws(Failure) -> KeyedDecodingContainer<Key> {
    let pool = types.pool(of: keyType)
    guard reusesContainers else {
      return try newContainer(keyType, pool.takeUnretainedValue(), open)
    }
    let number = take(keyType, pool)
    try pool._withUnsafeGuaranteedRef { $0.containers.object(number) }.borrow(open)
    return pool._withUnsafeGuaranteedRef { pool in
      pool.copier(of: KeyedDecodingContainer<Key>.self).copy(pool.containers.address(number))
    }
  }

  /// Returns a container that holds the session, where containers are not used again.
  @inline(never)
  private func newContainer<Key: CodingKey, Failure: Error>(
    _ keyType: Key.Type, _ pool: KeyedDecoderPool, _ open: (ObjectReader) throws(Failure) -> Void
  ) throws(Failure) -> KeyedDecodingContainer<Key> {
    let reader = ObjectReader(message, pool.keyTable)
    try open(reader)
    return KeyedDecodingContainer(HeldKeyedDecoder<Key>(session: self, reader: reader))
  }

  @inline(__always)
  private func take<Key: CodingKey>(_ keyType: Key.Type, _ pool: Unmanaged<KeyedDecoderPool>) -> Int {
    pool._withUnsafeGuaranteedRef { pool in
      types.noteUse(pool, message: message.number)
      return pool.containers.take { makeContainer(keyType, pool) }
    }
  }

  /// Makes a container for the pool. Here its metadata is needed, so this must not be part of what is called often.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ pool: KeyedDecoderPool
  ) -> (container: AnyObject, object: ObjectReader) {
    let reader = ObjectReader(message, pool.keyTable)
    let container = KeyedDecodingContainer(KeyedDecoder<Key>(reader, session: self))
    return (ContainerReuse.reference(of: container), reader)
  }
}
