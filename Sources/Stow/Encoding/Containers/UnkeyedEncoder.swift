/// An array that is being recorded.
///
/// Three trivial words, as of a `RecordingEncoder`. Once the message is over, its elements are discarded.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
  /// The token where the array begins.
  private let position: TapePosition
  /// How many elements the array had when this container was last written to.
  private var lastCount: Int

  @inline(__always)
  init(recorder: Recorder, begin: Int) {
    position = TapePosition(recorder, token: begin)
    lastCount = 0
  }

  /// The container of an array that is discarded.
  init() {
    position = TapePosition()
    lastCount = 0
  }

  @inline(__always)
  private var begin: Int { position.token }

  @inline(__always)
  private var recorder: Unmanaged<Recorder>? { position.recorder }

  var count: Int {
    recorder?._withUnsafeGuaranteedRef { $0.recording.elementCount(ofArray: begin) } ?? lastCount
  }

  var codingPath: [any CodingKey] {
    recorder?._withUnsafeGuaranteedRef { $0.recording.path(ofContainer: begin) } ?? []
  }

  /// Makes this the container that is written to, and lets `body` record the next element, whose key it is handed; nil
  /// when the message is over.
  @inline(__always)
  @discardableResult
  private mutating func append<Result>(
    _ body: (Recorder, _ key: TokenKey) throws -> Result
  ) rethrows -> Result? {
    let begin = begin
    guard let recorder else {
      lastCount &+= 1
      return nil
    }
    return try recorder._withUnsafeGuaranteedRef { recorder in
      if !recorder.isCurrent(begin) { recorder.resume(begin) }
      let index = recorder.recording.addElement(toArray: begin)
      lastCount = index &+ 1
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
  @inline(__always)
  mutating func encode<Value: RecordableScalar>(_ value: Value) { append(value) }
  // The standard library has defaults for these, which throw.
  mutating func encode(_ value: Int128) { append(value) }
  mutating func encode(_ value: UInt128) { append(value) }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    do {
      try append { try $0.encode(value, key: $1) }
    } catch {
      recorder?._withUnsafeGuaranteedRef { $0.recording.removeElement(ofArray: begin) }
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
