import Synchronization

/// The encoder that a value is handed: the place on the tape where the value goes.
///
/// Three trivial words, so that it sits inside its existential and nothing is counted. It may escape from the `encode(to:)`
/// it was made for; once the message is over, what is encoded to it is discarded, and it has no path.
struct RecordingEncoder: Encoder, StowValueCoder {
  private let position: TapePosition
  /// The container of the value, and the key.
  private let location: UInt64

  /// Tells that a key is an index, not a slot.
  private static let isIndex: UInt32 = 1 << 31

  /// - Parameters:
  ///   - start: The token where the value begins, or the mark that it comes later.
  ///   - parent: The container of the value; negative at the top.
  ///   - key: The slot or the index of the value in its parent.
  @inline(__always)
  init(recorder: Recorder, start: Int, parent: Int, key: TokenKey) {
    let parent = UInt32(truncatingIfNeeded: max(parent, -1))
    let key = key.index == 0 ? UInt32(truncatingIfNeeded: key.bits) : key.index | Self.isIndex
    position = TapePosition(recorder, token: start)
    location = UInt64(parent) | UInt64(key) << 32
  }

  /// The encoder of a value that is discarded.
  init() {
    position = TapePosition()
    location = 0
  }

  var start: Int { position.token }
  var parent: Int { Int(Int32(truncatingIfNeeded: location)) }

  /// The slot or the index of the value in its parent.
  @inline(__always)
  var key: TokenKey {
    let key = UInt32(truncatingIfNeeded: location >> 32)
    return key & Self.isIndex == 0
      ? TokenKey(slotBits: UInt64(key), index: 0) : TokenKey(slotBits: 0, index: key & ~Self.isIndex)
  }

  /// Nil when the message is over.
  var recorder: RecorderReference? { position.recorder }

  var codingPath: [any CodingKey] {
    recorder?.lend { $0.recording.path(parent: parent, key: key, start: start) } ?? []
  }

  var userInfo: [CodingUserInfoKey: Any] { recorder.map { $0.lend { $0.userInfo.values } } ?? [:] }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    // An optional container would have its metadata looked up.
    guard let recorder else { return Recorder.discarding(type) }
    return recorder.lend { $0.keyedContainer(type, start: start, key: key, parent: parent) }
  }

  @inline(__always)
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    recorder?.lend { $0.unkeyedContainer(start: start, key: key, parent: parent) } ?? UnkeyedEncoder()
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValueEncoder(encoder: self) }
}

/// The container of one value, which takes the place that the encoder stands for.
struct SingleValueEncoder: SingleValueEncodingContainer {
  let encoder: RecordingEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  @inline(__always)
  private func put<Value: RecordableScalar>(_ value: Value) {
    encoder.recorder?.lend { $0.recording.record(value, key: key($0)) }
  }

  /// Makes sure that the next token is the value's, and returns its key.
  private func key(_ recorder: Recorder) -> TokenKey {
    recorder.awaits(encoder.start) ? encoder.key : lateKey(recorder)
  }

  @inline(never)
  private func lateKey(_ recorder: Recorder) -> TokenKey {
    precondition(
      recorder.recording.isUnfilled(encoder.start, unsettled: true),
      "Attempt to encode a value through a single-value container when one was encoded already.")
    recorder.fill(encoder.start, parent: encoder.parent)
    return encoder.key
  }

  mutating func encodeNil() { encoder.recorder?.lend { $0.recording.recordNil(level: 0, key: key($0)) } }
  mutating func encode<Value: RecordableScalar>(_ value: Value) { put(value) }
  // The standard library has defaults for these, which throw.
  mutating func encode(_ value: Int128) { put(value) }
  mutating func encode(_ value: UInt128) { put(value) }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    try encoder.recorder?.lend { recorder in
      try recorder.attempt(encoder.start) {
        try recorder.encode(value, inPlaceOf: encoder) { key(recorder) }
      }
    }
  }
}

/// An array that is being recorded.
///
/// Three trivial words, as of a `RecordingEncoder`. Once the message is over, its elements are discarded.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
  /// The token where the array begins.
  private let position: TapePosition
  /// How many elements the array had when this container was last written to.
  private var lastCount = 0

  init(recorder: Recorder, begin: Int) { position = TapePosition(recorder, token: begin) }

  /// The container of an array that is discarded.
  init() { position = TapePosition() }

  private var begin: Int { position.token }

  var count: Int { position.recorder?.lend { $0.recording.elementCount(ofArray: begin) } ?? lastCount }

  var codingPath: [any CodingKey] {
    position.recorder?.lend { $0.recording.path(ofContainer: begin) } ?? []
  }

  /// Makes this the container that is written to, and lets `body` record the next element, whose key it is handed; nil
  /// when the message is over.
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
      return try body(recorder, TokenKey(index: index))
    }
  }

  @inline(__always)
  private mutating func append<Value: RecordableScalar>(_ value: Value) {
    append { recorder, _ in recorder.recording.record(value, key: TokenKey()) }
  }

  mutating func encodeNil() {
    append { recorder, _ in recorder.recording.recordNil(level: 0, key: TokenKey()) }
  }
  mutating func encode<Value: RecordableScalar>(_ value: Value) { append(value) }
  // The standard library has defaults for these, which throw.
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
    return append { $0.nestedUnkeyedContainer(key: $1, parent: begin) } ?? UnkeyedEncoder()
  }

  mutating func superEncoder() -> any Encoder {
    let begin = begin
    return append { $0.deferValue(key: $1, parent: begin) } ?? RecordingEncoder()
  }
}

/// A token on the tape of a recorder, for as long as its message is being recorded.
///
/// What encoders and containers have instead of a reference to their recorder: two trivial words.
struct TapePosition: BitwiseCopyable {
  private let cell: RecorderCell
  /// The token, and the generation of the cell.
  private let bits: UInt64

  init(_ recorder: Recorder, token: Int) {
    cell = recorder.cell
    bits = UInt64(UInt32(truncatingIfNeeded: token)) | UInt64(recorder.generation) << 32
  }

  /// A position that no recorder has.
  init() {
    cell = .discarding
    bits = UInt64(RecorderCell.none) << 32
  }

  var token: Int { Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: bits)) }

  /// Nil when the message is over.
  var recorder: RecorderReference? { cell.recorder(UInt32(truncatingIfNeeded: bits >> 32)) }
}

/// A recorder that somebody else keeps: nobody counts this reference.
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
/// Counting references to the recorder would cost more than what they record. Instead they keep the generation that the
/// cell had when they were made. It changes when the message is over, so that what escaped from it finds no recorder, and
/// what is written to it is discarded. A cell is never freed, only used for another recorder, until its generations have
/// run out.
struct RecorderCell: BitwiseCopyable, @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>

  private struct State: ~Copyable {
    let generation = Atomic<UInt32>(RecorderCell.none + 1)
    var recorder: RecorderReference?
  }

  /// A generation that no recorder has: for encoders that discard from the beginning.
  static let none: UInt32 = 0

  /// Those that no recorder has.
  private static let free = Mutex<[RecorderCell]>([])

  /// One that no recorder ever has.
  static let discarding = RecorderCell.take()

  private init(_ state: UnsafeMutablePointer<State>) { self.state = state }

  /// A cell that no recorder has.
  static func take() -> RecorderCell {
    if let cell = free.withLock({ $0.popLast() }) { return cell }
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State())
    return RecorderCell(state)
  }

  /// Gives the cell of a recorder that is no more to another.
  func giveBack() {
    guard advance() else { return }
    state.pointee.recorder = nil
    Self.free.withLock { $0.append(self) }
  }

  func assign(_ recorder: Recorder) { state.pointee.recorder = RecorderReference(recorder) }

  var generation: UInt32 { state.pointee.generation.load(ordering: .relaxed) }

  /// Goes on to the next generation; false if they have run out, so that the cell cannot be used again.
  func advance() -> Bool {
    let next = generation &+ 1
    state.pointee.generation.store(next, ordering: .relaxed)
    if next != Self.none { return true }
    state.pointee.recorder = nil
    return false
  }

  /// The recorder, if the generation is still the same.
  @inline(__always)
  func recorder(_ generation: UInt32) -> RecorderReference? {
    self.generation == generation ? state.pointee.recorder : nil
  }
}
