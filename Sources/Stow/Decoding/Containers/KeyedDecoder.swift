// The way to a value by its key: a container is taken from the pool of its key type (or made anew), its reader is opened
// at the object, and finds each key that is asked for.

extension DecodingSession {
  @inline(__always)
  func container<Key: CodingKey>(
    _ keyType: Key.Type, _ object: ObjectHeader, _ node: PathNode
  ) throws(FormatError) -> KeyedDecodingContainer<Key> {
    try container(keyType) { reader throws(FormatError) in try reader.open(object, message, node) }
  }

  func container<Key: CodingKey>(
    _ keyType: Key.Type, row: Int, of table: Elements, shape: Int, _ node: PathNode
  ) -> KeyedDecodingContainer<Key> {
    container(keyType) { $0.open(row: row, of: table, shape: shape, message, node) }
  }

  @inline(__always)
  private func container<Key: CodingKey, Failure: Error>(
    _ keyType: Key.Type, _ open: (ObjectReader) throws(Failure) -> Void
  ) throws(Failure) -> KeyedDecodingContainer<Key> {
    let pool = types.pool(of: keyType)
    guard reusesContainers else {
      return try newContainer(keyType, pool.takeUnretainedValue(), open)
    }
    let number = pool._withUnsafeGuaranteedRef { pool in
      types.noteUse(pool, message: message.number)
      return pool.containers.take { makeContainer(keyType, pool) }
    }
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

/// The keyed containers of one key type.
final class KeyedDecoderPool {
  let keyTable: DecodingKeyTable
  // Used for every object, whose access calls nothing of the user's.
  @exclusivity(unchecked) var containers = ContainerPool<ObjectReader>()
  /// A `ContainerCopier` of the containers.
  private let copier: AnyObject
  var lastMessage = -1

  init<Key: CodingKey>(_ keyType: Key.Type) {
    keyTable = DecodingKeyTable(keyType)
    copier = ContainerCopier<KeyedDecodingContainer<Key>>()
  }

  /// Returns the copier as what it is; `type` must be that of the containers for the key type.
  @inline(__always)
  func copier<Container>(of type: Container.Type) -> ContainerCopier<Container> {
    unsafeDowncast(copier, to: ContainerCopier<Container>.self)
  }
}

/// The container of an object that is being read.
///
/// A trivial value: the object that the standard library puts around it copies it for every call, and would count
/// references each time. The session keeps the reader, and whoever runs the decoding keeps the session for as long as
/// somebody holds a container (`SessionPool`).
struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let readerReference: Unmanaged<ObjectReader>
  private let sessionReference: Unmanaged<DecodingSession>

  init(_ reader: ObjectReader, session: DecodingSession) {
    readerReference = .passUnretained(reader)
    sessionReference = .passUnretained(session)
  }

  @inline(__always)
  private func withReader<Result>(_ body: (ObjectReader, Message) throws -> Result) rethrows -> Result {
    try readerReference._withUnsafeGuaranteedRef { reader in
      try reader.messageReference._withUnsafeGuaranteedRef { message in try body(reader, message) }
    }
  }

  @inline(__always)
  private func withSession<Result>(
    _ body: (DecodingSession, ObjectReader) throws -> Result
  ) rethrows -> Result {
    try sessionReference._withUnsafeGuaranteedRef { session in
      try readerReference._withUnsafeGuaranteedRef { reader in try body(session, reader) }
    }
  }

  var codingPath: [any CodingKey] {
    withSession { session, reader in session.codingPath(reader.node, at: reader.offset) }
  }

  var allKeys: [Key] {
    withSession { session, reader in
      do throws(FormatError) {
        return unsafeDowncast(try reader.keys(session.message), to: KeyList<Key>.self).keys
      } catch {
        session.note(error, path: codingPath)
        return []
      }
    }
  }

  func contains(_ key: Key) -> Bool {
    withSession { session, reader in
      do throws(FormatError) { return try reader.find(key) >= 0 } catch {
        session.note(error, path: codingPath + [key])
        return false
      }
    }
  }

  // MARK: finding

  /// Returns what `body` returns; an error of the format is that of the value for `key`.
  @inline(__always)
  private func attempt<Result>(
    _ key: Key, _ type: Any.Type?, _ body: () throws(FormatError) -> Result
  ) throws -> Result {
    do throws(FormatError) { return try body() } catch { throw failure(error, key, type) }
  }

  @inline(never)
  private func failure(_ error: FormatError, _ key: Key, _ type: Any.Type?) -> any Error {
    withSession { session, _ in session.error(error, path: codingPath + [key], expected: type) }
  }

  /// Returns where the value for `key` stands, or −1 if the object has none.
  @inline(__always)
  private func find(_ key: Key, _ reader: ObjectReader) throws -> Int {
    try attempt(key, nil) { () throws(FormatError) in try reader.find(key) }
  }

  @inline(__always)
  private func existing(_ key: Key, _ reader: ObjectReader) throws -> Int {
    let offset = try find(key, reader)
    guard offset >= 0 else { throw missing(key) }
    return offset
  }

  @inline(never)
  private func missing(_ key: Key) -> any Error { DecodingError.noValue(for: key, path: codingPath) }

  // MARK: scalars

  func decodeNil(forKey key: Key) throws -> Bool {
    try withReader { reader, message in
      let offset = try existing(key, reader)
      return try attempt(key, nil) { () throws(FormatError) in try reader.passNil(offset, message) }
    }
  }

  @inline(__always)
  private func read<Value: ReadableScalar>(_ type: Value.Type, _ key: Key) throws -> Value {
    try withReader { reader, message in
      let offset = try existing(key, reader)
      return try attempt(key, type) { () throws(FormatError) in try reader.read(type, at: offset, message) }
    }
  }

  @inline(__always)
  private func optional<Value: ReadableScalar>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try withReader { reader, message in
      let offset = try find(key, reader)
      guard offset >= 0,
        try !attempt(key, nil, { () throws(FormatError) in try reader.passNil(offset, message) })
      else { return nil }
      return try attempt(key, type) { () throws(FormatError) in try reader.read(type, at: offset, message) }
    }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try withReader { reader, _ in
      // Straight from the column, without a `Cell` in between.
      do throws(FormatError) {
        if let value = try reader.wholeDouble(key) { return value }
      } catch {
        throw failure(error, key, type)
      }
      return try read(type, key)
    }
  }

  @inline(__always)
  func decode<Value: ReadableScalar>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try read(type, key)
  }
  // The standard library has defaults for these, which throw.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try read(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try read(type, key) }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try optional(type, key) }

  // MARK: other values

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try withSession { session, reader in
      try value(type, at: existing(key, reader), key, session, reader)
    }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try withSession { session, reader in
      let offset = try find(key, reader)
      guard offset >= 0 else { return nil }
      guard let place = reader.place(offset), Nils.isNil(session.message.reader, at: place) else {
        return try value(type, at: offset, key, session, reader)
      }
      if reader.table == nil { try pass(offset, key, reader, session.message) }
      // A nil of an optional within this one is a value here.
      return try session.decodeNil(type, at: place)
    }
  }

  @inline(__always)
  private func value<Value: Decodable>(
    _ type: Value.Type, at offset: Int, _ key: Key, _ session: DecodingSession, _ reader: ObjectReader
  ) throws -> Value {
    let step = step(to: key, reader, session)
    if let table = reader.table {
      return try session.decode(type, table.layout.cell(offset, ofRowAt: reader.row), of: table, step)
    }
    try pass(offset, key, reader, session.message)
    return try session.decode(type, at: offset, step)
  }

  @inline(__always)
  private func pass(_ offset: Int, _ key: Key, _ reader: ObjectReader, _ message: Message) throws {
    try attempt(key, nil) { () throws(FormatError) in try reader.pass(offset, message) }
  }

  /// Returns the step of the coding path to the value for `key`.
  @inline(__always)
  private func step(to key: Key, _ reader: ObjectReader, _ session: DecodingSession) -> PathStep {
    reader.keyTable._withUnsafeGuaranteedRef { keyTable in
      keyTable.hasBytes
        ? PathStep(.byte, parent: reader.node, value: keyByte(key), keyTable: reader.keyTable)
        : session.path.step(to: key, from: reader.node)
    }
  }

  // MARK: nested containers

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try nestedDecoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nestedDecoder(key).unkeyedContainer()
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try withSession { session, reader in
      if try find(key, reader) >= 0 { return try nestedDecoder(key) }
      return MissingDecoder(session: session, codingPath: session.codingPath(reader.node) + [key])
    }
  }

  func superDecoder() throws -> any Decoder {
    try withSession { session, reader in
      let path = { session.codingPath(reader.node) + [PathKey.super] }
      do throws(FormatError) {
        let offset = try reader.find(name: PathKey.super.stringValue, session.message)
        guard offset >= 0 else { return MissingDecoder(session: session, codingPath: path()) }
        return decoder(offset, session.path.push(PathStep(.super, parent: reader.node)), session, reader)
      } catch {
        throw session.error(error, path: path(), expected: nil)
      }
    }
  }

  /// Returns a decoder of the value for `key`, whose step stays until the object itself is left.
  private func nestedDecoder(_ key: Key) throws -> any Decoder {
    try withSession { session, reader in
      let offset = try existing(key, reader)
      let node = session.path.push(step(to: key, reader, session))
      if reader.table == nil { try pass(offset, key, reader, session.message) }
      return decoder(offset, node, session, reader)
    }
  }

  private func decoder(
    _ offset: Int, _ node: PathNode, _ session: DecodingSession, _ reader: ObjectReader
  ) -> any Decoder {
    guard let table = reader.table else { return ValueDecoder(session: session, offset: offset, node: node) }
    return session.decoder(table.layout.cell(offset, ofRowAt: reader.row), of: table, node)
  }
}

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
