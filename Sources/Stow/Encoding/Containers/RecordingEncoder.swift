import Synchronization

/// The encoder that a value receives: the place on the tape where the value goes.
///
/// Three trivial words, so that it fits inside its existential and nothing is counted. It may escape from the
/// `encode(to:)` it was made for; once the message is over, what is encoded to it is discarded, and it has no path.
struct RecordingEncoder: Encoder, StowValueCoder {
  /// The token of the place.
  private let position: TapePosition
  private let container: UInt32
  let key: TokenKey

  @inline(__always)
  init(builder: TapeBuilder, place: Int, parent: Int, key: TokenKey) {
    position = TapePosition(builder, place)
    container = UInt32(truncatingIfNeeded: parent)
    self.key = key
  }

  /// Makes the encoder of a value that is discarded, because the message is over.
  init(over position: TapePosition) {
    self.position = position
    (container, key) = (0, TokenKey())
  }

  var place: Int { position.number }
  var parent: Int { Int(container) }

  /// The builder; nil when the message is over.
  var builder: BuilderReference? { position.builder }

  var codingPath: [any CodingKey] { builder?.lend { $0.recorded.path(key, at: place, in: parent) } ?? [] }

  var userInfo: [CodingUserInfoKey: Any] { builder.map { $0.lend { $0.userInfo.shown } } ?? .init() }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    // Not an optional container, whose metadata would be looked up.
    guard let builder else { return TapeBuilder.discarding(type) }
    return builder.lend { $0.keyedContainer(type, at: self) }
  }

  @inline(__always)
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    builder?.lend { $0.unkeyedContainer(at: self) } ?? UnkeyedEncoder(over: position)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

// The container of one value is the encoder itself.
extension RecordingEncoder: SingleValueEncodingContainer {
  @inline(__always)
  private func put<Value: RecordableScalar>(_ value: Value) {
    builder?.lend { $0.fill(self, with: value.token(in: &$0.recorded)) }
  }

  func encodeNil() { builder?.lend { $0.fill(self, with: LooseToken(.null)) } }
  func encode<Value: RecordableScalar>(_ value: Value) { put(value) }
  // The standard library's default implementations of these throw, here and below.
  func encode(_ value: Int128) { put(value) }
  func encode(_ value: UInt128) { put(value) }

  func encode<Value: Encodable>(_ value: Value) throws { try builder?.lend { try $0.encode(value, at: self) } }
}

/// An array that is being recorded.
///
/// Three trivial words, like a `RecordingEncoder`. Once the message is over, its elements are discarded.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
  private let position: TapePosition
  /// How many elements the array had when this container was last written to.
  private var lastCount = 0

  init(builder: TapeBuilder, array: Int) { position = TapePosition(builder, array) }

  /// Makes the container of an array that is discarded, because the message is over.
  init(over position: TapePosition) { self.position = position }

  private var array: Int { position.number }

  var count: Int { position.builder?.lend { Int($0.recorded.tape.container(array).count) } ?? lastCount }

  var codingPath: [any CodingKey] { position.builder?.lend { $0.recorded.path(of: array) } ?? [] }

  /// Makes this the container that is written to, and lets `body` record the next element, whose index it receives.
  /// Returns nil when the message is over.
  @inline(__always)
  @discardableResult
  private mutating func append<Result>(
    _ body: (TapeBuilder, _ index: Int, _ array: Int) throws -> Result
  ) rethrows -> Result? {
    var index = lastCount
    let result = try position.builder?.lend { builder in
      if !builder.isCurrent(array) { builder.go(to: array) }
      index = Int(builder.recorded.tape.container(array).count)
      return try body(builder, index, array)
    }
    lastCount = index &+ 1
    return result
  }

  @inline(__always)
  private mutating func append<Value: RecordableScalar>(_ value: Value) {
    append(position.builder?.lend { value.token(in: &$0.recorded) } ?? LooseToken(.null))
  }

  /// Not inlined, so that not every type contains all of it.
  @inline(never)
  private mutating func append(_ token: LooseToken) {
    append { builder, _, array in builder.recorded.tape.append(token, key: TokenKey(), to: array) }
  }

  mutating func encodeNil() { append(LooseToken(.null)) }
  mutating func encode<Value: RecordableScalar>(_ value: Value) { append(value) }
  mutating func encode(_ value: Int128) { append(value) }
  mutating func encode(_ value: UInt128) { append(value) }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    try append { try $0.encode(value, key: $0.recorded.tape.key($1), in: $2) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    append { $0.nestedKeyedContainer(keyType, $0.recorded.tape.key($1), in: $2) } ?? TapeBuilder.discarding(keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    append { $0.nestedUnkeyedContainer($0.recorded.tape.key($1), in: $2) } ?? UnkeyedEncoder(over: position)
  }

  mutating func superEncoder() -> any Encoder {
    append { $0.appendPlace(key: $0.recorded.tape.key($1), parent: $2) } ?? RecordingEncoder(over: position)
  }
}

struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: ObjectWriter

  var codingPath: [any CodingKey] { writer.codingPath }

  mutating func encodeNil(forKey key: Key) { writer.record(key) { builder, key, _ in builder.putNil(key: key) } }
  @inline(__always)
  mutating func encode<Value: RecordableScalar>(_ value: Value, forKey key: Key) { writer.put(value, key) }
  mutating func encode(_ value: Int128, forKey key: Key) { writer.put(value, key) }
  mutating func encode(_ value: UInt128, forKey key: Key) { writer.put(value, key) }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try writer.encode(value, key) }

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
    writer.record(key) { $0.nestedKeyedContainer(keyType, $1, in: $2) }
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    writer.record(key) { $0.nestedUnkeyedContainer($1, in: $2) }
  }

  mutating func superEncoder() -> any Encoder { writer.encoderForSuper() }
  mutating func superEncoder(forKey key: Key) -> any Encoder {
    writer.record(key) { $0.appendPlace(key: $1, parent: $2) }
  }
}

/// The object that a keyed container writes to, and how far it has come.
///
/// A container refers to this through the standard library's own object, so that both can be reused for other
/// objects with the same keys.
final class ObjectWriter {
  // Both outlive every use: the builder owns the keys, and outlives every container (`SessionPool`).
  private let builder: BuilderReference
  private let keys: KeyTable.Reference
  /// `keys.pointee.table`, at hand.
  private let table: UnsafeMutablePointer<UInt16>
  // Unchecked, because each access is a load or a store, or a call that does not come back here.
  @exclusivity(unchecked) private var turn = Turn()
  /// The builder, if the pool does not keep it for this container.
  private let owner: TapeBuilder?

  private struct Turn {
    var object = 0
    /// The slot that the next key most likely has; negative if keys are written as strings.
    var expected = 0

    /// The slots of strings: none, or those that the keys have in other objects.
    static let none = -1, elsewhere = -2
  }

  init(builder: TapeBuilder, keys: KeyTable.Reference, isOwner: Bool = false) {
    owner = isOwner ? builder : nil
    self.builder = BuilderReference(builder)
    self.keys = keys
    table = keys.pointee.table
  }

  /// - Parameter isNested: Whether another nested container made the object, for the same key. This one has slots like
  ///   that.
  func start(_ object: Int, isNested: Bool) {
    // In an object that began with other keys, these are strings.
    let hasBytes = builder.lend { Int($0.recorded.tape.container(object).keys) == keys.pointee.index }
    turn = Turn(object: object, expected: hasBytes ? 0 : isNested ? Turn.elsewhere : Turn.none)
  }

  var codingPath: [any CodingKey] { builder.lend { $0.isOver ? [] : $0.recorded.path(of: turn.object) } }

  /// Takes the turn of a key that comes where it came before, as nearly all keys do. Returns false if it comes elsewhere,
  /// or if another container is written to.
  @inline(__always)
  private func takeTurn(ofByte byte: Int) -> Bool {
    guard builder.lend({ $0.isCurrent(turn.object) }) else { return false }
    let slot = Int(table[byte])
    if slot == turn.expected {
      turn.expected = slot &+ 1
    } else if slot == KeyTable.fresh, turn.expected >= 0 {
      turn.expected = takeSlot(byte, isPresent: true) &+ 1
    } else {
      return false
    }
    return true
  }

  /// Returns a slot for a key that the message uses for the first time, which comes after all others.
  @inline(__always)
  private func takeSlot(_ byte: Int, isPresent: Bool) -> Int {
    builder.lend { $0.recorded.keyTables.takeSlot(keys, ofByte: byte, isPresent: isPresent) }
  }

  @inline(never)
  private func announceOutOfTurn<Key: CodingKey>(_ key: Key, byte: Int) -> TokenKey {
    builder.lend { builder in
      goOn(builder)
      findSlot(key, byte, builder, isPresent: true)
      return turn.expected < 0
        ? builder.recorded.key(free: key.stringValue, key.intValue)
        : TokenKey(byte: keys.pointee.firstOfSameName(byte))
    }
  }

  /// Makes this the container that is written to. Once the message is over, values are discarded.
  private func goOn(_ builder: TapeBuilder) {
    if builder.isOver { turn = Turn(object: 0, expected: Turn.none) }
    if !builder.isCurrent(turn.object) { builder.go(to: turn.object) }
  }

  /// Finds the slot of a key that is not the next one. A key that is written as a string has one, too.
  private func findSlot<Key: CodingKey>(_ key: Key, _ byte: Int, _ builder: TapeBuilder, isPresent: Bool) {
    guard keys.pointee.hasSlots, turn.expected != Turn.none else { return }
    if !keys.pointee.isLearnt(byte) { keys.pointee.learn(key, named: key.stringValue, byte: byte) }
    if turn.expected == Turn.elsewhere {
      _ = builder.recorded.keyTables.slot(keys, ofByte: byte, isPresent: isPresent)
    } else {
      builder.recorded.findSlot(keys, ofByte: byte, &turn.expected, isPresent: isPresent)
    }
  }

  /// Notes that `key` was used without a value: it keeps its place among the others.
  @inline(__always)
  private func skip<Key: CodingKey>(_ key: Key) {
    let byte = keyByte(key)
    let slot = table[byte]
    if Int(slot & ~KeyTable.absent) == turn.expected {
      turn.expected &+= 1
    } else if slot == KeyTable.fresh, turn.expected >= 0 {
      turn.expected = takeSlot(byte, isPresent: false) &+ 1
    } else {
      skipOutOfLine(key, byte: byte)
    }
  }

  @inline(never)
  private func skipOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) {
    builder.lend { findSlot(key, byte, $0, isPresent: false) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: Value, _ key: Key) {
    record(key) { builder, key, _ in builder.put(value, key: key) }
  }

  @inline(__always)
  func put<Value: RecordableScalar, Key: CodingKey>(_ value: borrowing Value?, _ key: Key) {
    if !borrowingSome(value, { put(copy $0, key) }) { skip(key) }
  }

  @inline(__always)
  func encode<Value: Encodable, Key: CodingKey>(_ value: Value, _ key: Key) throws {
    try record(key) { try $0.encode(value, key: $1, in: $2) }
  }

  @inline(__always)
  func encodeIfPresent<Value: Encodable, Key: CodingKey>(_ value: Value?, _ key: Key) throws {
    let isPresent = try borrowingSome(value) { value in
      try record(key) { try $0.encode(value, key: $1, in: $2, level: 1) }
    }
    if !isPresent { skip(key) }
  }

  /// Lets `body` record the value for `key`, which may be a container; it receives the key and the object.
  @inline(__always)
  func record<Key: CodingKey, Result>(
    _ key: Key, _ body: (TapeBuilder, TokenKey, _ object: Int) throws -> Result
  ) rethrows -> Result {
    let byte = keyByte(key)
    let key = takeTurn(ofByte: byte) ? TokenKey(byte: byte) : announceOutOfTurn(key, byte: byte)
    return try builder.lend { try body($0, key, turn.object) }
  }

  func encoderForSuper() -> any Encoder {
    builder.lend { builder in
      goOn(builder)
      if turn.expected >= 0 { builder.recorded.isInOrder = false }
      return builder.appendPlace(key: builder.recorded.key(PathKey.super.stringValue), parent: turn.object)
    }
  }
}

// MARK: how encoders and containers refer to their builder, without reference counting

/// A token or a container on the tape of a builder, for as long as its message is being recorded.
///
/// Encoders and containers have it instead of a reference to their builder: two trivial words.
struct TapePosition: BitwiseCopyable {
  private let cell: BuilderCell
  private let generation: UInt32
  private let bits: UInt32

  init(_ builder: TapeBuilder, _ number: Int) {
    cell = builder.cell
    generation = builder.generation
    bits = UInt32(truncatingIfNeeded: number)
  }

  var number: Int { Int(bits) }

  /// The builder; nil when the message is over.
  var builder: BuilderReference? { cell.builder(generation) }
}

/// A builder that somebody else keeps alive, without reference counting.
struct BuilderReference: BitwiseCopyable {
  private let reference: Unmanaged<TapeBuilder>

  init(_ builder: TapeBuilder) { reference = .passUnretained(builder) }

  @inline(__always)
  func lend<Result>(_ body: (TapeBuilder) throws -> Result) rethrows -> Result {
    try reference._withUnsafeGuaranteedRef { try body($0) }
  }
}

/// Where encoders and containers find their builder, for as long as its message is being recorded.
///
/// Counting references to the builder would cost more than what they record. Instead they keep the
/// generation that the cell had when they were made. It changes when the message is over, so that those that
/// escaped find no builder, and anything written to them is discarded. A cell is never freed, and is reused
/// for other builders until its generations have run out.
struct BuilderCell: BitwiseCopyable, @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>

  private struct State: ~Copyable {
    let generation = Atomic<UInt32>(BuilderCell.none + 1)
    var builder: BuilderReference?
  }

  /// The generation of builders and encoders that are over.
  static let none: UInt32 = 0

  /// The free list: cells that were given back.
  private static let free = Mutex<[BuilderCell]>([])

  private init(_ state: UnsafeMutablePointer<State>) { self.state = state }

  /// Takes a cell for a builder: one that was given back, or a new one.
  static func take() -> BuilderCell {
    if let cell = free.withLock({ $0.popLast() }) { return cell }
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State())
    return BuilderCell(state)
  }

  /// Gives back the cell of a builder that no longer exists.
  func giveBack() {
    guard advance() else { return }
    state.pointee.builder = nil
    Self.free.withLock { $0.append(self) }
  }

  func assign(_ builder: TapeBuilder) { state.pointee.builder = BuilderReference(builder) }

  var generation: UInt32 { state.pointee.generation.load(ordering: .relaxed) }

  /// Advances to the next generation. Returns false if they have run out, so that the cell cannot be reused.
  func advance() -> Bool {
    let next = generation &+ 1
    state.pointee.generation.store(next, ordering: .relaxed)
    if next != Self.none { return true }
    state.pointee.builder = nil
    return false
  }

  @inline(__always)
  func builder(_ generation: UInt32) -> BuilderReference? {
    self.generation == generation ? state.pointee.builder : nil
  }
}
