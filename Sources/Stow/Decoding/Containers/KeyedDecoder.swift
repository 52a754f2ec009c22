// The way to a value by its key: a container of the key type is taken from its pool or made, and its reader is opened
// at the object, where it finds each key that is requested.

extension DecodingSession {
  /// Returns the container of an object, whose reader `open` opens.
  @inline(__always)
  func container<Key: CodingKey, Failure: Error>(
    _ keyType: Key.Type, _ open: (ObjectReader) throws(Failure) -> Void
  ) throws(Failure) -> KeyedDecodingContainer<Key> {
    let pool = state.pools[keyType] ?? addPool(keyType)
    guard state.pools.reusesContainers else { return try newContainer(keyType, pool.pointee.keys, open) }
    state.pools.noteUse(pool)
    return try pool.pointee.take(KeyedDecodingContainer<Key>.self, { makeContainer(keyType, pool.pointee.keys) }, open)
  }

  @inline(never)
  private func addPool<Key: CodingKey>(_ keyType: Key.Type) -> DecoderPools.Reference {
    state.pools.add(DecodingKeyTable(keyType, isObserved: observer != nil), for: keyType) {
      KeyedDecodingContainer(KeyedDecoder<Key, Void>(nil, ()))
    }
  }

  /// Returns a container that holds the session, for when containers are not reused.
  @inline(never)
  private func newContainer<Key: CodingKey, Failure: Error>(
    _ keyType: Key.Type, _ keyTable: DecodingKeyTable, _ open: (ObjectReader) throws(Failure) -> Void
  ) throws(Failure) -> KeyedDecodingContainer<Key> {
    let reader = ObjectReader(self, keyTable)
    try open(reader)
    observer?.note(keyType, at: codingPath(reader.node, at: reader.offset))
    return KeyedDecodingContainer(KeyedDecoder<Key, Held>(reader, Held(session: self, reader: reader)))
  }

  /// Makes a container for the pool, which needs the container's metadata.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ keyTable: DecodingKeyTable
  ) -> (container: AnyObject, object: ObjectReader) {
    let reader = ObjectReader(self, keyTable)
    let container = KeyedDecodingContainer(KeyedDecoder<Key, Void>(reader, ()))
    return (ContainerReuse.reference(of: container), reader)
  }

  /// What a container keeps alive itself if containers are not reused.
  struct Held {
    let session: DecodingSession
    let reader: ObjectReader
  }
}

extension ObjectReader {
  convenience init(_ session: DecodingSession, _ keyTable: DecodingKeyTable) {
    self.init(session.message, keyTable, owner: Unmanaged.passUnretained(session).toOpaque())
  }
}

/// The keyed containers of a session, and the tables of their keys.
typealias DecoderPools = ContainerPools<ObjectReader, DecodingKeyTable>

/// The container of an object that is being read.
///
/// A trivial word if containers are reused, because the standard library copies it for every call. Then the session
/// keeps the reader, and `SessionPool` keeps the session while somebody holds a container. Otherwise `hold` keeps both.
struct KeyedDecoder<Key: CodingKey, Hold>: KeyedDecodingContainerProtocol {
  /// The reference to the reader: a word that may have any bits is copied without a call.
  private let readerBits: UInt
  private let hold: Hold

  /// - Parameter reader: Nil for a container that is never asked for anything.
  init(_ reader: ObjectReader?, _ hold: Hold) {
    readerBits = UInt(bitPattern: reader.map { Unmanaged.passUnretained($0).toOpaque() })
    self.hold = hold
  }

  @inline(__always)
  private func withReader<Result>(_ body: (ObjectReader) throws -> Result) rethrows -> Result {
    guard let address = UnsafeRawPointer(bitPattern: readerBits) else { preconditionFailure("no reader") }
    return try Unmanaged<ObjectReader>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
  }

  @inline(__always)
  private func withSession<Result>(_ body: (DecodingSession, ObjectReader) throws -> Result) rethrows -> Result {
    try withReader { reader in
      try Unmanaged<DecodingSession>.fromOpaque(reader.owner)._withUnsafeGuaranteedRef { session in
        try body(session, reader)
      }
    }
  }

  var codingPath: [any CodingKey] {
    withSession { session, reader in session.codingPath(reader.node, at: reader.offset) }
  }

  var allKeys: [Key] {
    withSession { session, reader in
      let names: [String]
      do { names = try self.names(session, reader) } catch {
        session.note(error)
        return []
      }
      // Made by hand, because `compactMap` is not specialized for a key type that is known only here.
      return [Key].filled(count: names.count) { buffer, count in
        for name in names {
          guard let key = Key(stringValue: name) else { continue }
          (buffer + count).initialize(to: key)
          count &+= 1
        }
      }
    }
  }

  /// Returns the names of the keys that have values, with those of today in place of former ones.
  private func names(_ session: DecodingSession, _ reader: ObjectReader) throws -> [String] {
    let names: [String]
    do throws(FormatError) { names = try reader.names() } catch {
      throw session.error(error, path: codingPath, expected: nil)
    }
    return try formerNames(reader)?.present(names) ?? names
  }

  func contains(_ key: Key) -> Bool {
    withSession { session, reader in
      do { return try search(key, reader) != nil } catch {
        session.note(error)
        return false
      }
    }
  }

  // MARK: finding

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

  @inline(__always)
  private func find(_ key: Key, _ reader: ObjectReader) throws -> ObjectReader.Found? {
    try attempt(key, nil) { () throws(FormatError) in try reader.find(key) }
  }

  @inline(__always)
  private func existing(_ key: Key, _ reader: ObjectReader) throws -> ObjectReader.Found {
    guard let found = try find(key, reader) else { return try searchExisting(key, reader) }
    return found
  }

  /// The same, by a call.
  @inline(never)
  private func searchExisting(_ key: Key, _ reader: ObjectReader) throws -> ObjectReader.Found {
    guard let found = try search(key, reader) else { throw DecodingError.noValue(for: key, path: codingPath) }
    return found
  }

  /// Returns where the value for a missing key is under a former name; nil if there is none.
  @inline(__always)
  private func formerly(_ key: Key, _ reader: ObjectReader) throws -> ObjectReader.Found? {
    guard reader.keyTable.mayHaveFormerNames else { return nil }
    return try former(key, reader)
  }

  @inline(never)
  private func former(_ key: Key, _ reader: ObjectReader) throws -> ObjectReader.Found? {
    withSession { session, _ in session.observer?.noteMissing(codingPath + [key]) }
    guard let names = try formerNames(reader)?.names(of: key.stringValue) else { return nil }
    return try attempt(key, nil) { () throws(FormatError) in try reader.find(anyOf: names) }
  }

  private func formerNames(_ reader: ObjectReader) throws -> FormerNames? {
    let names = reader.keyTable.formerNames
    if let conflict = names?.conflict { throw DecodingError.unreadable(conflict, path: codingPath) }
    return names
  }

  // MARK: scalars

  func decodeNil(forKey key: Key) throws -> Bool {
    try withReader { reader in
      let found = try searchExisting(key, reader)
      return try attempt(key, nil) { () throws(FormatError) in try reader.passNil(found) }
    }
  }

  @inline(__always)
  private func read<Value: ReadableScalar>(_ type: Value.Type, _ key: Key) throws -> Value {
    try withReader { reader in
      let found = try existing(key, reader)
      return try attempt(key, type) { () throws(FormatError) in try reader.read(type, found) }
    }
  }

  /// The same for types that are less frequent, with less code: keys that come out of order are found by a call.
  @inline(__always)
  private func readRare<Value: ReadableScalar>(_ type: Value.Type, _ key: Key) throws -> Value {
    try withReader { reader in
      let found = try reader.expected(ofByte: keyByte(key)) ?? searchExisting(key, reader)
      return try attempt(key, type) { () throws(FormatError) in try reader.read(type, found) }
    }
  }

  @inline(__always)
  private func optional<Value: ReadableScalar>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try withReader { reader in
      guard let found = try search(key, reader),
        try !attempt(key, nil, { () throws(FormatError) in try reader.passNil(found) })
      else { return nil }
      return try attempt(key, type) { () throws(FormatError) in try reader.readOutOfLine(type, found) }
    }
  }

  /// Not inlined, so that not every optional type contains all of it.
  @inline(never)
  private func search(_ key: Key, _ reader: ObjectReader) throws -> ObjectReader.Found? {
    try find(key, reader) ?? formerly(key, reader)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try withReader { reader in
      // Straight from the column, without a `Cell` in between.
      do throws(FormatError) { if let value = try reader.wholeDouble(key) { return value } } catch {
        throw failure(error, key, type)
      }
      return try read(type, key)
    }
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(type, key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try read(type, key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(type, key) }

  // The requirement of the protocol for each other scalar type.
  @inline(__always)
  func decode<Value: ReadableScalar>(_ type: Value.Type, forKey key: Key) throws -> Value { try readRare(type, key) }
  // The standard library's default implementations of these throw.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try readRare(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try readRare(type, key) }

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
      try value(type, existing(key, reader), key, session, reader)
    }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try withSession { session, reader in
      guard let found = try find(key, reader) ?? formerly(key, reader) else { return nil }
      guard let level = reader.place(found).levelOfNil(session.message) else {
        return try value(type, found, key, session, reader)
      }
      try pass(found, key, reader)
      // The nil of an optional within this one is a value here.
      return session.none(type, level: level - 1)
    }
  }

  @inline(__always)
  private func value<Value: Decodable>(
    _ type: Value.Type, _ found: ObjectReader.Found, _ key: Key, _ session: DecodingSession,
    _ reader: ObjectReader
  ) throws -> Value {
    try pass(found, key, reader)
    return try session.decode(type, at: reader.place(found), step(to: key, reader, session))
  }

  @inline(__always)
  private func pass(_ found: ObjectReader.Found, _ key: Key, _ reader: ObjectReader) throws {
    try attempt(key, nil) { () throws(FormatError) in try reader.pass(found) }
  }

  @inline(__always)
  private func step(to key: Key, _ reader: ObjectReader, _ session: DecodingSession) -> PathStep {
    let node = session.path.renew(reader.node, at: reader.offset)
    return reader.keyTable.hasBytes
      ? PathStep(.byte, parent: node, value: keyByte(key), keyTable: .passUnretained(reader.keyTable))
      : session.path.step(to: key, from: node)
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

  func superDecoder(forKey key: Key) throws -> any Decoder { try nestedDecoder(key, mayBeAbsent: true) }

  func superDecoder() throws -> any Decoder {
    try withSession { session, reader in
      session.leaveKeptPlaces()
      let parent = session.path.renew(reader.node, at: reader.offset)
      let node = session.path.push(PathStep(.super, parent: parent))
      let name = PathKey.super.stringValue
      let names = try [name] + (formerNames(reader)?.names(of: name) ?? [])
      return try session.attempt(at: node, expected: nil) { () throws(FormatError) in
        let found = try reader.find(anyOf: names)
        return ValueDecoder(session, found.map(reader.place) ?? .absent, node)
      }
    }
  }

  /// Returns a decoder of the value for `key`, whose step stays until the object itself is left.
  private func nestedDecoder(_ key: Key, mayBeAbsent: Bool = false) throws -> any Decoder {
    try withSession { session, reader in
      let found = try mayBeAbsent ? search(key, reader) : searchExisting(key, reader)
      session.leaveKeptPlaces()
      let node = session.path.push(step(to: key, reader, session))
      guard let found else { return ValueDecoder(session, .absent, node) }
      try pass(found, key, reader)
      return ValueDecoder(session, reader.place(found), node)
    }
  }
}
