/// The container of an object that is being recorded.
struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: ObjectWriter

  var codingPath: [any CodingKey] { writer.codingPath }

  mutating func encodeNil(forKey key: Key) { writer.putNil(key) }
  @inline(__always)
  mutating func encode<Value: RecordableScalar>(_ value: Value, forKey key: Key) { writer.put(value, key) }
  // The standard library has defaults for these, which throw.
  mutating func encode(_ value: Int128, forKey key: Key) { writer.put(value, key) }
  mutating func encode(_ value: UInt128, forKey key: Key) { writer.put(value, key) }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try writer.encode(value, key)
  }

  // Absent values are seen, too: without these, the standard library would not call for them.

  mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: String?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Double?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Float?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: Int128?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) { writer.put(value, key) }
  mutating func encodeIfPresent(_ value: UInt128?, forKey key: Key) { writer.put(value, key) }

  mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    try writer.encodeIfPresent(value, key)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    writer.nestedContainer(keyType, key)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    writer.nestedUnkeyedContainer(key)
  }

  mutating func superEncoder() -> any Encoder { writer.encoderForSuper() }
  mutating func superEncoder(forKey key: Key) -> any Encoder { writer.encoderForSuper(key) }
}

/// Which object a keyed container writes to, and how far it got.
///
/// A container refers to this by way of the standard library's own object, so that both can be used again for other
/// objects with the same keys.
final class ObjectWriter {
  // Both outlive every use: the recorder owns the keys, and outlives every container (`SessionPool`).
  private let recorder: RecorderReference
  private let keys: KeyTable.Reference
  /// The table of the keys, at hand.
  private let table: UnsafeMutablePointer<UInt16>
  private var position = Position()
  /// The recorder, if the pool does not keep it for this container.
  private let owner: Recorder?

  struct Position {
    /// The token where the object begins.
    var begin = 0
    /// The slot that the next key most likely has; −1 where keys are written as strings.
    var expected = 0
  }

  init(recorder: Recorder, keys: KeyTable.Reference, isOwner: Bool = false) {
    owner = isOwner ? recorder : nil
    self.recorder = RecorderReference(recorder)
    self.keys = keys
    table = keys.pointee.table
  }

  func start(at begin: Int, hasSlots: Bool) {
    position = Position(begin: begin, expected: hasSlots ? 0 : -1)
  }

  @inline(__always)
  private func withRecorder<Result>(_ body: (Recorder) throws -> Result) rethrows -> Result {
    try recorder.lend(body)
  }

  var codingPath: [any CodingKey] { withRecorder { $0.recording.path(ofContainer: position.begin) } }

  /// Makes this the container that is written to, and returns the slot for `key`.
  ///
  /// Keys nearly always come in the order in which they came before.
  @inline(__always)
  private func place<Key: CodingKey>(_ key: Key) -> TokenKey {
    let byte = keyByte(key)
    return placeInLine(byte) ?? placeOutOfLine(key, byte: byte)
  }

  /// The slot for a key that comes when it is expected, or for the first time; nil if this must be looked into.
  @inline(__always)
  private func placeInLine(_ byte: Int) -> TokenKey? {
    let slot = Int(table[byte])
    guard slot == position.expected || slot == KeyTable.fresh && position.expected >= 0, isCurrent else {
      return nil
    }
    if slot == KeyTable.fresh { return TokenKey(slot: takeSlot(byte, isPresent: true)) }
    position.expected = slot &+ 1
    return TokenKey(slot: slot)
  }

  private var isCurrent: Bool { withRecorder { $0.isCurrent(position.begin) } }

  @inline(never)
  private func placeOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) -> TokenKey {
    withRecorder { recorder in
      if !recorder.isCurrent(position.begin) { recorder.resume(position.begin) }
      if position.expected < 0 {
        recorder.recording.recordFreeKey(key.stringValue, key.intValue)
        return TokenKey()
      }
      learn(key, byte)
      let slot = recorder.recording.slot(keys, ofByte: byte, &position.expected, isPresent: true)
      return TokenKey(slot: slot)
    }
  }

  private func learn<Key: CodingKey>(_ key: Key, _ byte: Int) {
    if keys.pointee.isLearnt(byte) { return }
    let name = key.stringValue
    keys.pointee.learn(key, named: name, byte: byte)
  }

  /// The slot of a key that the message asks for the first time: it comes after all others.
  @inline(__always)
  private func takeSlot(_ byte: Int, isPresent: Bool) -> Int {
    let slot = withRecorder {
      $0.recording.keyTables.takeSlot(keys, ofByte: byte, isPresent: isPresent)
    }
    position.expected = slot &+ 1
    return slot
  }

  /// Notes that `key` was asked for and has no value: it keeps its place among the others.
  @inline(__always)
  private func skip<Key: CodingKey>(_ key: Key) {
    let byte = keyByte(key)
    let slot = table[byte]
    if Int(slot & ~KeyTable.absent) == position.expected {
      position.expected &+= 1
    } else if slot == KeyTable.fresh, position.expected >= 0, isCurrent {
      _ = takeSlot(byte, isPresent: false)
    } else {
      skipOutOfLine(key, byte: byte)
    }
  }

  @inline(never)
  private func skipOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) {
    guard position.expected >= 0 else { return }
    learn(key, byte)
    withRecorder { _ = $0.recording.slot(keys, ofByte: byte, &position.expected, isPresent: false) }
  }

  func putNil<Key: CodingKey>(_ key: Key) {
    let slot = place(key)
    withRecorder { $0.recording.recordNil(level: 0, key: slot) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value, _ key: Key) {
    guard let slot = placeInLine(keyByte(key)) else { return putOutOfLine(value, key) }
    withRecorder { $0.recording.record(value, key: slot) }
  }

  /// What is rare is a call at the end: one in the middle would have every call save registers.
  @inline(never)
  private func putOutOfLine<Value: RecordableScalar, Key: CodingKey>(_ value: Value, _ key: Key) {
    let slot = placeOutOfLine(key, byte: keyByte(key))
    withRecorder { $0.recording.record(value, key: slot) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  @inline(__always)
  func encode<Value: Encodable, Key: CodingKey>(_ value: Value, _ key: Key) throws {
    let slot = place(key)
    try announced { try $0.encode(value, key: slot) }
  }

  @inline(__always)
  func encodeIfPresent<Value: Encodable, Key: CodingKey>(_ value: Value?, _ key: Key) throws {
    let isPresent = try borrowingSome(value) { value in
      let slot = place(key)
      try announced { try $0.encode(value, key: slot, level: 1) }
    }
    if !isPresent { skip(key) }
  }

  /// Encodes the value whose key has been recorded; the key goes if the value throws.
  @inline(__always)
  private func announced(_ body: (Recorder) throws -> Void) throws {
    try withRecorder { recorder in
      do {
        try body(recorder)
      } catch {
        recorder.recording.isOutOfOrder = true
        recorder.recording.dropKey()
        throw error
      }
    }
  }

  func nestedContainer<NestedKey: CodingKey, Key: CodingKey>(
    _ keyType: NestedKey.Type, _ key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    let slot = place(key)
    return withRecorder { $0.nestedKeyedContainer(keyType, key: slot, parent: position.begin) }
  }

  func nestedUnkeyedContainer<Key: CodingKey>(_ key: Key) -> any UnkeyedEncodingContainer {
    let slot = place(key)
    return withRecorder { $0.nestedUnkeyedContainer(forKey: slot, parent: position.begin) }
  }

  func encoderForSuper() -> any Encoder {
    withRecorder { recorder in
      if !recorder.isCurrent(position.begin) { recorder.resume(position.begin) }
      recorder.recording.recordKey(PathKey.super.stringValue)
      return recorder.deferValue(key: TokenKey(), parent: position.begin)
    }
  }

  func encoderForSuper<Key: CodingKey>(_ key: Key) -> any Encoder {
    let slot = place(key)
    return withRecorder { $0.deferValue(key: slot, parent: position.begin) }
  }
}
