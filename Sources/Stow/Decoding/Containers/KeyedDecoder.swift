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

  /// Returns the keys that have a value, of the type that they have.
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

  func decodeNil(forKey key: Key) throws -> Bool {
    try withReader { reader, message in
      try passNil(existing(key, reader), key, reader, message)
    }
  }

  // MARK: errors

  @inline(never)
  private func failure(_ error: FormatError, _ key: Key, _ type: Any.Type?) -> any Error {
    withSession { session, _ in session.error(error, path: codingPath + [key], expected: type) }
  }

  @inline(never)
  private func missing(_ key: Key) -> any Error { DecodingError.noValue(for: key, path: codingPath) }

  // MARK: scalars

  /// Returns where the value for `key` stands, or −1 if the object has none.
  @inline(__always)
  private func find(_ key: Key, _ reader: ObjectReader) throws -> Int {
    do throws(FormatError) { return try reader.find(key) } catch { throw failure(error, key, nil) }
  }

  /// Returns where the value for `key` stands.
  @inline(__always)
  private func existing(_ key: Key, _ reader: ObjectReader) throws -> Int {
    let offset = try find(key, reader)
    guard offset >= 0 else { throw missing(key) }
    return offset
  }

  @inline(__always)
  private func passNil(_ offset: Int, _ key: Key, _ reader: ObjectReader, _ message: Message) throws -> Bool {
    do throws(FormatError) { return try reader.passNil(offset, message) } catch {
      throw failure(error, key, nil)
    }
  }

  @inline(__always)
  private func pass(_ offset: Int, _ key: Key, _ reader: ObjectReader, _ message: Message) throws {
    do throws(FormatError) { try reader.pass(offset, message) } catch { throw failure(error, key, nil) }
  }

  @inline(__always)
  private func read<Value: ReadableScalar>(_ type: Value.Type, _ key: Key) throws -> Value {
    try withReader { reader, message in
      let offset = try existing(key, reader)
      do throws(FormatError) { return try reader.read(type, at: offset, message) } catch {
        throw failure(error, key, type)
      }
    }
  }

  @inline(__always)
  private func optional<Value: ReadableScalar>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try withReader { reader, message in
      let offset = try find(key, reader)
      guard offset >= 0, try !passNil(offset, key, reader, message) else { return nil }
      do throws(FormatError) { return try reader.read(type, at: offset, message) } catch {
        throw failure(error, key, type)
      }
    }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try withReader { reader, _ in
      // Straight from the column, without a `Cell` in between.
      do throws(FormatError) {
        if let value = try reader.wholeDouble(key) { return value }
      } catch {
        throw failure(error, key, Double.self)
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
      let offset = try existing(key, reader)
      let step = step(to: key, reader, session)
      if let source = reader.source { return try decodeCell(type, source, keyIndex: offset, key, step) }
      try pass(offset, key, reader, session.message)
      return try session.decode(type, at: offset, step)
    }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try withSession { session, reader in
      let offset = try find(key, reader)
      guard offset >= 0 else { return nil }
      let step = step(to: key, reader, session)
      if let source = reader.source {
        return try decodeCellIfPresent(type, source, keyIndex: offset, key, step)
      }
      try pass(offset, key, reader, session.message)
      if Nils.isNil(session.message.reader, at: offset) {
        // A nil of an optional within this one is a value here.
        return try session.decodeNil(type, at: offset)
      }
      return try session.decode(type, at: offset, step)
    }
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

  /// Returns the source of a row as what it is: a session opens no others.
  @inline(__always)
  private func elements(_ source: ElementSource) -> SessionElements {
    unsafeDowncast(source, to: SessionElements.self)
  }

  @inline(never)
  private func decodeCell<Value: Decodable>(
    _ type: Value.Type, _ source: ElementSource, keyIndex: Int, _ key: Key, _ step: PathStep
  ) throws -> Value {
    try withSession { session, reader in
      let element: ElementSource.Element
      do throws(FormatError) {
        element = try source.cell(row: reader.row, keyIndex: keyIndex, session.message.reader)
      } catch {
        throw failure(error, key, type)
      }
      return try session.decode(type, element, of: elements(source), step)
    }
  }

  @inline(never)
  private func decodeCellIfPresent<Value: Decodable>(
    _ type: Value.Type, _ source: ElementSource, keyIndex: Int, _ key: Key, _ step: PathStep
  ) throws -> Value? {
    try withSession { session, _ in
      guard let constant = source.constant(keyIndex: keyIndex),
        Nils.isNil(session.message.reader, at: constant)
      else {
        return try decodeCell(type, source, keyIndex: keyIndex, key, step)
      }
      return try session.decodeNil(type, at: constant)
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
        let step = PathStep(.super, parent: reader.node)
        return try decoder(offset, session.path.push(step), session, reader)
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
      if reader.source == nil { try pass(offset, key, reader, session.message) }
      do throws(FormatError) {
        return try decoder(offset, node, session, reader)
      } catch {
        throw failure(error, key, nil)
      }
    }
  }

  private func decoder(
    _ offset: Int, _ node: PathNode, _ session: DecodingSession, _ reader: ObjectReader
  ) throws(FormatError) -> any Decoder {
    guard let source = reader.source else {
      return ValueDecoder(session: session, offset: offset, node: node)
    }
    let element = try source.cell(row: reader.row, keyIndex: offset, session.message.reader)
    return session.decoder(element, of: elements(source), node)
  }
}
