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
    let type = containers.type(of: keyType)
    guard reusesContainers else {
      return try newContainer(keyType, type.takeUnretainedValue(), open)
    }
    let number = take(keyType, type)
    try type._withUnsafeGuaranteedRef { $0.pool.cursor(number) }.borrow(open)
    return type._withUnsafeGuaranteedRef { type in
      type.copier(of: KeyedDecodingContainer<Key>.self).copy(type.pool.address(number))
    }
  }

  /// Returns a container that holds the session, where containers are not used again.
  @inline(never)
  private func newContainer<Key: CodingKey, Failure: Error>(
    _ keyType: Key.Type, _ type: KeyedDecoderPool, _ open: (ObjectReader) throws(Failure) -> Void
  ) throws(Failure) -> KeyedDecodingContainer<Key> {
    let reader = ObjectReader(message, type.keyTable)
    try open(reader)
    return KeyedDecodingContainer(HeldKeyedDecoder<Key>(session: self, reader: reader))
  }

  @inline(__always)
  private func take<Key: CodingKey>(_ keyType: Key.Type, _ type: Unmanaged<KeyedDecoderPool>) -> Int {
    type._withUnsafeGuaranteedRef { type in
      containers.noteUse(type, message: message.number)
      return type.pool.take { makeContainer(keyType, type) }
    }
  }

  /// Makes a container for the pool. Here its metadata is needed, so this must not be part of what is called often.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ type: KeyedDecoderPool
  ) -> (container: AnyObject, cursor: ObjectReader) {
    let reader = ObjectReader(message, type.keyTable)
    let container = KeyedDecodingContainer(KeyedDecoder<Key>(reader, session: self))
    return (ContainerReuse.reference(of: container), reader)
  }
}
