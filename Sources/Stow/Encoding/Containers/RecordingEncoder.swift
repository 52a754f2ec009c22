import Synchronization

/// The encoder that a value receives: the place on the tape where the value goes.
///
/// Three trivial words, so that it fits inside its existential and nothing is counted. It may escape from the
/// `encode(to:)` it was made for; once the message is over, what is encoded to it is discarded, and it has no
/// path.
struct RecordingEncoder: Encoder, StowValueCoder {
  /// The token where the value begins, or the place that it comes to later.
  private let position: TapePosition
  /// The container of the value; −1 at the top.
  private let container: Int32
  let key: TokenKey

  @inline(__always)
  init(recorder: Recorder, start: Int, parent: Int, key: TokenKey) {
    position = TapePosition(recorder, token: start)
    container = Int32(truncatingIfNeeded: parent)
    self.key = key
  }

  /// Makes the encoder of a value that is discarded, because the message is over.
  init(over position: TapePosition) {
    self.position = position
    (container, key) = (0, TokenKey())
  }

  var start: Int { position.token }
  var parent: Int { Int(container) }

  /// The recorder; nil when the message is over.
  var recorder: RecorderReference? { position.recorder }

  var codingPath: [any CodingKey] {
    recorder?.lend { $0.recording.path(parent: parent, key: key, start: start) } ?? []
  }

  var userInfo: [CodingUserInfoKey: Any] { recorder.map { $0.lend { $0.userInfo.shown } } ?? [:] }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    // Not an optional container, whose metadata would be looked up.
    guard let recorder else { return Recorder.discarding(type) }
    return recorder.lend { $0.keyedContainer(type, start: start, key: key, parent: parent) }
  }

  @inline(__always)
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    recorder?.lend { $0.unkeyedContainer(start: start, key: key, parent: parent) }
      ?? UnkeyedEncoder(over: position)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

// The container of one value is the encoder itself.
extension RecordingEncoder: SingleValueEncodingContainer {
  @inline(__always)
  private func put<Value: RecordableScalar>(_ value: Value) {
    recorder?.lend { value.record(in: &$0.recording, key: ownKey($0)) }
  }

  /// Makes sure that the next token is the value's, and returns its key.
  private func ownKey(_ recorder: Recorder) -> TokenKey {
    recorder.awaits(start) ? key : lateKey(recorder)
  }

  @inline(never)
  private func lateKey(_ recorder: Recorder) -> TokenKey {
    precondition(
      recorder.recording.isUnfilled(start, unsettled: true),
      "Attempt to encode a value through a single-value container when one was encoded already.")
    recorder.fill(start, parent: parent)
    return key
  }

  func encodeNil() { recorder?.lend { $0.recording.recordNil(level: 0, key: ownKey($0)) } }
  func encode<Value: RecordableScalar>(_ value: Value) { put(value) }
  // The standard library's default implementations of these throw, here and below.
  func encode(_ value: Int128) { put(value) }
  func encode(_ value: UInt128) { put(value) }

  func encode<Value: Encodable>(_ value: Value) throws {
    try recorder?.lend { recorder in
      try recorder.attempt(self) {
        try recorder.encode(value, inPlaceOf: self) { ownKey(recorder) }
      }
    }
  }
}

/// An array that is being recorded.
///
/// Three trivial words, like a `RecordingEncoder`. Once the message is over, its elements are discarded.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
  /// The token where the array begins.
  private let position: TapePosition
  /// How many elements the array had when this container was last written to.
  private var lastCount = 0

  init(recorder: Recorder, begin: Int) { position = TapePosition(recorder, token: begin) }

  /// Makes the container of an array that is discarded, because the message is over.
  init(over position: TapePosition) { self.position = position }

  private var begin: Int { position.token }

  var count: Int { position.recorder?.lend { $0.recording.elementCount(ofArray: begin) } ?? lastCount }

  var codingPath: [any CodingKey] {
    position.recorder?.lend { $0.recording.path(ofContainer: begin) } ?? []
  }

  /// Makes this the container that is written to, and lets `body` record the next element with its key.
  /// Returns nil when the message is over.
  @inline(__always)
  @discardableResult
  private mutating func append<Result>(
    _ body: (Recorder, _ key: TokenKey) throws -> Result
  ) rethrows -> Result? {
    let begin = begin
    var index = lastCount
    defer { lastCount = index &+ 1 }
    return try position.recorder?.lend { recorder in
      if !recorder.isCurrent(begin) { recorder.resume(begin) }
      index = recorder.recording.addElement(toArray: begin)
      return try body(recorder, TokenKey(index))
    }
  }

  @inline(__always)
  private mutating func append<Value: RecordableScalar>(_ value: Value) {
    append { recorder, _ in value.record(in: &recorder.recording, key: TokenKey()) }
  }

  mutating func encodeNil() {
    append { recorder, _ in recorder.recording.recordNil(level: 0, key: TokenKey()) }
  }
  mutating func encode<Value: RecordableScalar>(_ value: Value) { append(value) }
  mutating func encode(_ value: Int128) { append(value) }
  mutating func encode(_ value: UInt128) { append(value) }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    do {
      try append { try $0.encode(value, key: $1) }
    } catch {
      position.recorder?.lend { $0.recording.removeElement(ofArray: begin) }
      lastCount &-= 1
      throw error
    }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    let begin = begin
    return append { $0.nestedKeyedContainer(keyType, key: $1, parent: begin) }
      ?? Recorder.discarding(keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let begin = begin
    return append { $0.nestedUnkeyedContainer(key: $1, parent: begin) } ?? UnkeyedEncoder(over: position)
  }

  mutating func superEncoder() -> any Encoder {
    let begin = begin
    return append { $0.deferValue(key: $1, parent: begin) } ?? RecordingEncoder(over: position)
  }
}

/// The container of an object that is being recorded.
struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: ObjectWriter

  var codingPath: [any CodingKey] { writer.codingPath }

  mutating func encodeNil(forKey key: Key) {
    writer.record(key) { recorder, slot, _ in recorder.recording.recordNil(level: 0, key: slot) }
  }
  @inline(__always)
  mutating func encode<Value: RecordableScalar>(_ value: Value, forKey key: Key) { writer.put(value, key) }
  mutating func encode(_ value: Int128, forKey key: Key) { writer.put(value, key) }
  mutating func encode(_ value: UInt128, forKey key: Key) { writer.put(value, key) }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try writer.encode(value, key)
  }

  // Absent values are noted, too: without these, the standard library would make no call for them.

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
    writer.record(key) { $0.nestedKeyedContainer(keyType, key: $1, parent: $2) }
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    writer.record(key) { $0.nestedUnkeyedContainer(forKey: $1, parent: $2) }
  }

  mutating func superEncoder() -> any Encoder { writer.encoderForSuper() }
  mutating func superEncoder(forKey key: Key) -> any Encoder {
    writer.record(key) { $0.deferValue(key: $1, parent: $2) }
  }
}

/// The object that a keyed container writes to, and how far it has come.
///
/// A container refers to this through the standard library's own object, so that both can be reused for other
/// objects with the same keys.
final class ObjectWriter {
  // Both outlive every use: the recorder owns the keys, and outlives every container (`SessionPool`).
  private let recorder: RecorderReference
  private let keys: KeyTable.Reference
  /// `keys.pointee.table`, at hand.
  private let table: UnsafeMutablePointer<UInt16>
  /// The token where the object begins.
  // Unchecked, like `expected`, because each access is a load or a store, or a call that does not come back here.
  @exclusivity(unchecked) private var begin = 0
  /// The slot that the next key most likely has; −1 if keys are written as strings.
  @exclusivity(unchecked) private var expected = 0
  /// The recorder, if the pool does not keep it for this container.
  private let owner: Recorder?

  init(recorder: Recorder, keys: KeyTable.Reference, isOwner: Bool = false) {
    owner = isOwner ? recorder : nil
    self.recorder = RecorderReference(recorder)
    self.keys = keys
    table = keys.pointee.table
  }

  func start(at begin: Int, hasSlots: Bool) {
    self.begin = begin
    expected = hasSlots ? 0 : -1
  }

  var codingPath: [any CodingKey] { recorder.lend { $0.recording.path(ofContainer: begin) } }

  /// Makes this the container that is written to, and returns the slot for `key`.
  ///
  /// Keys nearly always come in the same order as before.
  @inline(__always)
  private func slot<Key: CodingKey>(_ key: Key) -> TokenKey {
    let byte = keyByte(key)
    var slot = Int(table[byte])
    guard slot == expected || slot == KeyTable.fresh && expected >= 0, isCurrent else {
      return slotOutOfLine(key, byte: byte)
    }
    if slot == KeyTable.fresh { slot = takeSlot(byte, isPresent: true) }
    expected = slot &+ 1
    return TokenKey(slot)
  }

  /// Returns a slot for a key that the message uses for the first time, which comes after all others.
  @inline(__always)
  private func takeSlot(_ byte: Int, isPresent: Bool) -> Int {
    recorder.lend { $0.recording.keyTables.takeSlot(keys, ofByte: byte, isPresent: isPresent) }
  }

  private var isCurrent: Bool { recorder.lend { $0.isCurrent(begin) } }

  @inline(never)
  private func slotOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) -> TokenKey {
    recorder.lend { recorder in
      if !recorder.isCurrent(begin) { recorder.resume(begin) }
      if expected < 0 {
        recorder.recording.recordFreeKey(key.stringValue, key.intValue)
        return TokenKey()
      }
      learn(key, byte)
      let slot = recorder.recording.slot(keys, ofByte: byte, &expected, isPresent: true)
      return TokenKey(slot)
    }
  }

  private func learn<Key: CodingKey>(_ key: Key, _ byte: Int) {
    if keys.pointee.isLearnt(byte) { return }
    let name = key.stringValue
    keys.pointee.learn(key, named: name, byte: byte)
  }

  /// Notes that `key` was used without a value: it keeps its place among the others.
  @inline(__always)
  private func skip<Key: CodingKey>(_ key: Key) {
    let byte = keyByte(key)
    let slot = table[byte]
    if Int(slot & ~KeyTable.absent) == expected {
      expected &+= 1
    } else if slot == KeyTable.fresh, expected >= 0 {
      expected = takeSlot(byte, isPresent: false) &+ 1
    } else {
      skipOutOfLine(key, byte: byte)
    }
  }

  @inline(never)
  private func skipOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) {
    guard expected >= 0 else { return }
    learn(key, byte)
    recorder.lend { _ = $0.recording.slot(keys, ofByte: byte, &expected, isPresent: false) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value, _ key: Key) {
    let slot = slot(key)
    recorder.lend { value.record(in: &$0.recording, key: slot) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value?, _ key: Key) {
    if let value { put(value, key) } else { skip(key) }
  }

  @inline(__always)
  func encode<Value: Encodable, Key: CodingKey>(_ value: Value, _ key: Key) throws {
    let slot = slot(key)
    try announced { try $0.encode(value, key: slot) }
  }

  @inline(__always)
  func encodeIfPresent<Value: Encodable, Key: CodingKey>(_ value: Value?, _ key: Key) throws {
    let isPresent = try borrowingSome(value) { value in
      let slot = slot(key)
      try announced { try $0.encode(value, key: slot, level: 1) }
    }
    if !isPresent { skip(key) }
  }

  /// Encodes the value whose key has been recorded; drops the key if the value throws.
  @inline(__always)
  private func announced(_ body: (Recorder) throws -> Void) throws {
    try recorder.lend { recorder in
      do {
        try body(recorder)
      } catch {
        recorder.recording.isOutOfOrder = true
        recorder.recording.dropKey()
        throw error
      }
    }
  }

  /// Lets `body` record the value for `key`, which may be a container; it receives the slot and the object's token.
  @inline(__always)
  func record<Key: CodingKey, Result>(
    _ key: Key, _ body: (Recorder, _ slot: TokenKey, _ parent: Int) -> Result
  ) -> Result {
    let slot = slot(key)
    return recorder.lend { body($0, slot, begin) }
  }

  func encoderForSuper() -> any Encoder {
    recorder.lend { recorder in
      if !recorder.isCurrent(begin) { recorder.resume(begin) }
      recorder.recording.recordKey(PathKey.super.stringValue)
      return recorder.deferValue(key: TokenKey(), parent: begin)
    }
  }
}

// MARK: how encoders and containers refer to their recorder, without reference counting

/// A token on the tape of a recorder, for as long as its message is being recorded.
///
/// Encoders and containers have it instead of a reference to their recorder: two trivial words.
struct TapePosition: BitwiseCopyable {
  private let cell: RecorderCell
  private let generation: UInt32
  private let number: UInt32

  init(_ recorder: Recorder, token: Int) {
    cell = recorder.cell
    generation = recorder.generation
    number = UInt32(truncatingIfNeeded: token)
  }

  var token: Int { Int(number) }

  /// The recorder; nil when the message is over.
  var recorder: RecorderReference? { cell.recorder(generation) }
}

/// A recorder that somebody else keeps alive, without reference counting.
struct RecorderReference: BitwiseCopyable {
  private let reference: Unmanaged<Recorder>

  init(_ recorder: Recorder) { reference = .passUnretained(recorder) }

  @inline(__always)
  func lend<Result>(_ body: (Recorder) throws -> Result) rethrows -> Result {
    try reference._withUnsafeGuaranteedRef { try body($0) }
  }
}

/// Where encoders and containers find their recorder, for as long as its message is being recorded.
///
/// Counting references to the recorder would cost more than what they record. Instead they keep the
/// generation that the cell had when they were made. It changes when the message is over, so that those that
/// escaped find no recorder, and anything written to them is discarded. A cell is never freed, and is reused
/// for other recorders until its generations have run out.
struct RecorderCell: BitwiseCopyable, @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>

  private struct State: ~Copyable {
    let generation = Atomic<UInt32>(RecorderCell.none + 1)
    var recorder: RecorderReference?
  }

  /// The generation of recorders and encoders that are over.
  static let none: UInt32 = 0

  /// The free list: cells that were given back.
  private static let free = Mutex<[RecorderCell]>([])

  private init(_ state: UnsafeMutablePointer<State>) { self.state = state }

  /// Takes a cell for a recorder: one that was given back, or a new one.
  static func take() -> RecorderCell {
    if let cell = free.withLock({ $0.popLast() }) { return cell }
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State())
    return RecorderCell(state)
  }

  /// Gives back the cell of a recorder that no longer exists.
  func giveBack() {
    guard advance() else { return }
    state.pointee.recorder = nil
    Self.free.withLock { $0.append(self) }
  }

  func assign(_ recorder: Recorder) { state.pointee.recorder = RecorderReference(recorder) }

  var generation: UInt32 { state.pointee.generation.load(ordering: .relaxed) }

  /// Advances to the next generation. Returns false if they have run out, so that the cell cannot be reused.
  func advance() -> Bool {
    let next = generation &+ 1
    state.pointee.generation.store(next, ordering: .relaxed)
    if next != Self.none { return true }
    state.pointee.recorder = nil
    return false
  }

  /// Returns the recorder, if the generation is still the same.
  @inline(__always)
  func recorder(_ generation: UInt32) -> RecorderReference? {
    self.generation == generation ? state.pointee.recorder : nil
  }
}
