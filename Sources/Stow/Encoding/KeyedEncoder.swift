/// Which object a keyed container writes to, and how far it got.
///
/// The container itself is one reference to this, so that it and the box that the standard library puts
/// around it can be used again for other objects with the same keys.
final class KeyedCursor {
  // Both outlive every use: they belong to the session, which outlives every container (`SessionPool`).
  private let sessionReference: Unmanaged<EncodingSession>
  private let schemaReference: Unmanaged<Schema>
  private let table: UnsafeMutablePointer<UInt16>
  /// The token where the object begins.
  @exclusivity(unchecked) private(set) var begin = 0
  /// The slot that the next key most likely has. Negative where keys are written as strings: `noKey`, and after a key
  /// its string, counted from one and inverted.
  @exclusivity(unchecked) private var expected = 0
  /// The session, if the pool does not keep it for this container.
  private let owner: EncodingSession?

  private static let noKey = ~0

  init(session: EncodingSession, schema: Schema, isOwner: Bool = false) {
    owner = isOwner ? session : nil
    sessionReference = Unmanaged.passUnretained(session)
    schemaReference = Unmanaged.passUnretained(schema)
    table = schema.table
  }

  func start(at begin: Int, hasSlots: Bool) {
    self.begin = begin
    expected = hasSlots ? 0 : Self.noKey
  }

  /// Expects the slots that are predicted.
  @inline(__always)
  func adoptPrediction() { expected = Int(Schema.predicted) }

  /// Whether all of them were asked for.
  var isPredictionRight: Bool {
    schemaReference._withUnsafeGuaranteedRef { expected == $0.slotCount | Int(Schema.predicted) }
  }

  /// Expects no predicted slots any more. Those that were asked for are the message's now: their schema and count.
  func settle() -> (schema: Int, count: Int) {
    expected &= ~Int(Schema.predicted)
    return schemaReference._withUnsafeGuaranteedRef { schema in
      schema.settle(expected)
      return (schema.index, expected)
    }
  }

  private var hasSlots: Bool { expected >= 0 }

  @inline(__always)
  func withSession<Result>(_ body: (EncodingSession) throws -> Result) rethrows -> Result {
    try sessionReference._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Makes this the container that is written to, and returns the slot for `key` as tokens hold it.
  ///
  /// Keys nearly always come in the order in which they came before. The mark of a predicted slot stays where tokens
  /// mask it away.
  @inline(__always)
  func place<Key: CodingKey>(_ key: Key) -> UInt64 {
    let byte = keyByte(key)
    let slot = Int(table[byte])
    guard slot == expected, withSession({ $0.current == begin }) else {
      return placeOutOfLine(key, byte: byte)
    }
    expected = slot &+ 1
    return UInt64(truncatingIfNeeded: slot) << 8
  }

  /// The same for a value that may record others: it settles what was predicted.
  @inline(__always)
  func placeOuter<Key: CodingKey>(_ key: Key) -> UInt64 {
    let byte = keyByte(key)
    let slot = Int(table[byte] & ~Schema.predicted)
    guard slot == expected, withSession({ $0.current == begin }) else {
      return placeOutOfLine(key, byte: byte)
    }
    expected = slot &+ 1
    return UInt64(truncatingIfNeeded: slot) << 8
  }

  @inline(never)
  private func placeOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) -> UInt64 {
    guard hasSlots else {
      placeFreely(key)
      return 0
    }
    withSession { $0.settleSlots() }
    let slot = firstSlot(byte, isPresent: true)
    return slot >= 0 ? UInt64(truncatingIfNeeded: slot) << 8 : placeRarely(key, byte: byte)
  }

  /// Records a key that is written as a string.
  @inline(__always)
  private func placeFreely<Key: CodingKey>(_ key: Key) {
    withSession { session in
      if session.current != begin { session.resume(begin) }
      expected = ~(session.recordFreeKey(key, after: ~expected &- 1) &+ 1)
    }
  }

  @inline(never)
  private func placeRarely<Key: CodingKey>(_ key: Key, byte: Int) -> UInt64 {
    withSession { session in
      if session.current != begin { session.resume(begin) }
      let slot = schemaReference._withUnsafeGuaranteedRef { session.slot(of: key, byte, $0, isPresent: true) }
      if slot < expected { session.needsNormalizing = true }
      expected = slot + 1
      return UInt64(truncatingIfNeeded: slot) << 8
    }
  }

  /// The slot of a key that the message asks for the first time, in the container that is written to; −1 if that is
  /// not so, or what the key is called is not known.
  @inline(never)
  private func firstSlot(_ byte: Int, isPresent: Bool) -> Int {
    sessionReference._withUnsafeGuaranteedRef { session in
      guard session.current == begin else { return -1 }
      return schemaReference._withUnsafeGuaranteedRef { schema in
        let slot = schema.firstSlot(ofByte: byte, isPresent: isPresent)
        guard slot >= 0 else { return -1 }
        session.newSlots.append(schema.index)
        // It comes behind all others.
        expected = slot &+ 1
        return slot
      }
    }
  }

  /// Notes that `key` was asked for and has no value: it keeps its place among the others.
  @inline(__always)
  func skip<Key: CodingKey>(_ key: Key) {
    let byte = keyByte(key)
    if Int(table[byte] & ~Schema.absent) == expected {
      if expected >= Int(Schema.predicted) { skipPredicted() }
      expected &+= 1
    } else {
      skipOutOfLine(key, byte: byte)
    }
  }

  @inline(__always)
  private func skipPredicted() {
    schemaReference._withUnsafeGuaranteedRef { $0.skip(predicted: expected) }
  }

  @inline(never)
  private func skipOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) {
    guard hasSlots else { return }
    withSession { $0.settleSlots() }
    guard firstSlot(byte, isPresent: false) < 0 else { return }
    let slot = withSession { session in
      schemaReference._withUnsafeGuaranteedRef { session.slot(of: key, byte, $0, isPresent: false) }
    }
    expected = max(expected, slot + 1)
  }
}

/// An object that is being recorded.
struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let cursor: KeyedCursor

  var codingPath: [any CodingKey] { cursor.withSession { $0.path(ofContainer: cursor.begin) } }

  /// Lets `body` record the value of a key, whose slot it is handed.
  @inline(__always)
  private func put(_ key: Key, _ body: (EncodingSession, _ slot: UInt64) -> Void) {
    let slot = cursor.place(key)
    cursor.withSession { body($0, slot) }
  }

  @inline(__always)
  private func put<Value: RecordableScalar>(_ key: Key, _ value: Value) {
    put(key) { $0.record(value, key: $1) }
  }

  @inline(__always)
  private func put<Value: RecordableScalar>(_ key: Key, _ value: Value?) {
    if let value { put(key, value) } else { cursor.skip(key) }
  }

  mutating func encodeNil(forKey key: Key) { put(key) { $0.recordNil(level: 0, key: $1) } }
  mutating func encode(_ value: Bool, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: Double, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: Float, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: Int, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: Int8, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: Int16, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: Int32, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: Int64, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: UInt, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: UInt8, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: UInt16, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: UInt32, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: UInt64, forKey key: Key) { put(key, value) }
  mutating func encode(_ value: String, forKey key: Key) { put(key) { $0.record(value, key: $1) } }
  mutating func encode(_ value: Int128, forKey key: Key) { put(key) { $0.record(value, key: $1) } }
  mutating func encode(_ value: UInt128, forKey key: Key) { put(key) { $0.record(value, key: $1) } }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    let slot = cursor.placeOuter(key)
    try announced { try $0.encode(value, key: slot) }
  }

  /// Encodes the value whose key has been recorded; the key goes if the value throws.
  @inline(__always)
  private func announced(_ body: (EncodingSession) throws -> Void) throws {
    try cursor.withSession { session in
      do {
        try body(session)
      } catch {
        session.needsNormalizing = true
        session.dropAnnouncement()
        throw error
      }
    }
  }

  // Absent values are seen, too: without these, the standard library would not call for them.

  mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: Double?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: Float?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: Int?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) { put(key, value) }
  mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) { put(key, value) }

  mutating func encodeIfPresent(_ value: String?, forKey key: Key) {
    if let value { encode(value, forKey: key) } else { cursor.skip(key) }
  }

  mutating func encodeIfPresent(_ value: Int128?, forKey key: Key) {
    if let value { encode(value, forKey: key) } else { cursor.skip(key) }
  }

  mutating func encodeIfPresent(_ value: UInt128?, forKey key: Key) {
    if let value { encode(value, forKey: key) } else { cursor.skip(key) }
  }

  mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    let isPresent = try borrowingSome(value) { value in
      let slot = cursor.placeOuter(key)
      try announced { try $0.encodePresent(value, key: slot) }
    }
    if !isPresent { cursor.skip(key) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    let slot = cursor.placeOuter(key)
    return cursor.withSession { $0.nestedKeyedContainer(keyType, key: slot, parent: cursor.begin) }
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    let slot = cursor.placeOuter(key)
    return cursor.withSession { $0.nestedUnkeyedContainer(forKey: slot, parent: cursor.begin) }
  }

  mutating func superEncoder() -> any Encoder {
    cursor.withSession { session in
      if session.current != cursor.begin { session.resume(cursor.begin) }
      session.recordKey(PathKey.super.stringValue)
      return session.deferValue(key: 0, parent: cursor.begin)
    }
  }

  mutating func superEncoder(forKey key: Key) -> any Encoder {
    let slot = cursor.placeOuter(key)
    return cursor.withSession { $0.deferValue(key: slot, parent: cursor.begin) }
  }
}

extension EncodingSession {
  /// The slot of a key, which is new to the message or out of turn.
  fileprivate func slot<Key: CodingKey>(of key: Key, _ byte: Int, _ schema: Schema, isPresent: Bool) -> Int {
    let known = schema.slotCount
    let slot = schema.slot(of: key, byte: byte, isPresent: isPresent)
    if schema.slotCount > known { newSlots.append(schema.index) }
    return slot
  }

  /// What is known of a key type.
  @inline(__always)
  func schema<Key: CodingKey>(of keyType: Key.Type) -> Unmanaged<Schema> {
    schemaTable[TypeTable<Unmanaged<Schema>>.identity(keyType)] ?? addSchema(keyType)
  }

  @inline(never)
  private func addSchema<Key: CodingKey>(_ keyType: Key.Type) -> Unmanaged<Schema> {
    let schema = Schema(keyType, index: schemas.count)
    add(schema)
    let reference = Unmanaged.passUnretained(schema)
    schemaTable.insert(reference, for: TypeTable<Unmanaged<Schema>>.identity(keyType))
    return reference
  }

  @inline(__always)
  func keyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, at place: PlaceEncoder
  ) -> KeyedEncodingContainer<Key> {
    schema(of: keyType)._withUnsafeGuaranteedRef { schema in
      guard awaits(place.start) else { return continuedContainer(keyType, at: place, schema: schema) }
      occupy(beginObject(schema, key: place.key, parent: place.parent, flags: 0))
      return container(schema, begin: place.start, hasSlots: schema.hasSlots)
    }
  }

  /// A container for the object that begins at `begin`, new or used before.
  @inline(__always)
  private func container<Key: CodingKey>(
    _ schema: Schema, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    if schema.lastMessage != message { noteUse(schema) }
    guard let boxTaker else { return newContainer(schema, begin: begin, hasSlots: hasSlots) }
    let number = schema.pool.take { newBox(Key.self, schema) }
    let cursor = schema.pool.cursor(number)
    cursor._withUnsafeGuaranteedRef { $0.start(at: begin, hasSlots: hasSlots) }
    if begin == 0, hasSlots { predict(schema, cursor) }
    return boxTaker.take(schema.pool.address(number), as: KeyedEncodingContainer<Key>.self)
  }

  /// A container for the pool. Here its metadata is needed, so this must not be part of what is called often.
  @inline(never)
  private func newBox<Key: CodingKey>(
    _ keyType: Key.Type, _ schema: Schema
  ) -> (box: AnyObject, cursor: KeyedCursor) {
    let cursor = KeyedCursor(session: self, schema: schema)
    let container = KeyedEncodingContainer(KeyedEncoder<Key>(cursor: cursor))
    return (unsafeBitCast(container, to: AnyObject.self), cursor)
  }

  /// The plain path of `container`.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    _ schema: Schema, begin: Int, hasSlots: Bool
  ) -> KeyedEncodingContainer<Key> {
    let cursor = KeyedCursor(session: self, schema: schema, isOwner: true)
    cursor.start(at: begin, hasSlots: hasSlots)
    return KeyedEncodingContainer(KeyedEncoder<Key>(cursor: cursor))
  }

  @inline(never)
  private func noteUse(_ schema: Schema) {
    schema.lastMessage = message
    usedSchemas.append(schema)
  }

  /// The beginning of an object, which counts as a use of its schema.
  @inline(__always)
  private func beginObject(_ schema: Schema, key: UInt64, parent: Int, flags: UInt64) -> ContainerStart {
    guard schema.hasSlots else {
      noteMap(at: tape.count)
      hasFreeKeys = true
      return ContainerStart(.map, key: key, parent: parent, flags: flags, index: schema.index)
    }
    if schema.uses == 0 { activate(schema, firstUse: tape.count) }
    schema.uses &+= 1
    return ContainerStart(.object, key: key, parent: parent, flags: flags, index: schema.index)
  }

  @inline(never)
  private func activate(_ schema: Schema, firstUse: Int) {
    schema.firstUse = firstUse
    activeSchemas.append(schema)
    if firstUse > 0 || boxTaker == nil { schema.dropPrediction() }
  }

  /// An object that exists already: with the keys it has, or with others as strings.
  @inline(never)
  private func continuedContainer<Key: CodingKey>(
    _ keyType: Key.Type, at place: PlaceEncoder, schema: Schema
  ) -> KeyedEncodingContainer<Key> {
    reopenEmpty(place.start, isKeyed: true)
    let isNew = isUnfilled(place.start)
    let object =
      isNew
      ? beginObject(schema, key: place.key, parent: place.parent, flags: 0)
      : ContainerStart(.map, key: place.key, parent: place.parent)
    let begin = containerOutOfLine(at: place, object)
    let hasSlots = tape[begin].kind == .object && tape[begin].index == schema.index
    return container(schema, begin: begin, hasSlots: hasSlots)
  }

  @inline(__always)
  func nestedKeyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, key: UInt64, parent: Int
  ) -> KeyedEncodingContainer<Key> {
    schema(of: keyType)._withUnsafeGuaranteedRef { schema in
      let begin = openNested(beginObject(schema, key: key, parent: parent, flags: Token.Flags.nested))
      return container(schema, begin: begin, hasSlots: schema.hasSlots)
    }
  }
}
