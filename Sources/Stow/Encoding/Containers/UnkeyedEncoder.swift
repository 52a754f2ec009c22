/// An array that is being recorded.
///
/// Three trivial words, as of a `RecordingEncoder`. Once the message is over, its elements go nowhere.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
  /// The token where the array begins.
  private let position: TapePosition
  /// The elements that this container knows of; another may have added to the same array.
  private var ownCount: Int

  @inline(__always)
  init(recorder: Recorder, begin: Int, count: Int) {
    position = TapePosition(recorder, token: begin)
    ownCount = count
  }

  /// The container of an array that goes nowhere.
  init() {
    position = TapePosition()
    ownCount = 0
  }

  @inline(__always)
  private var begin: Int { position.token }

  @inline(__always)
  private var recorder: Unmanaged<Recorder>? { position.recorder }

  var count: Int {
    recorder?._withUnsafeGuaranteedRef {
      $0.recording.needsNormalizing ? $0.elementCount(ofArray: begin) : ownCount
    } ?? ownCount
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
    let (index, begin) = (ownCount, begin)
    ownCount &+= 1
    return try recorder?._withUnsafeGuaranteedRef { recorder in
      if !recorder.isCurrent(begin) { recorder.resume(begin) }
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
    let before = ownCount
    do {
      try append { try $0.encode(value, key: $1) }
    } catch {
      ownCount = before
      throw error
    }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    let begin = begin
    return append { $0.nestedKeyedContainer(keyType, key: $1, parent: begin) }
      ?? Recorder.nowhere(keyType)
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
