/// The container of one value, which takes the place that the encoder stands for.
struct SingleValueEncoder: SingleValueEncodingContainer {
  let encoder: PlaceEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  private var session: EncodingSession { encoder.session }

  /// Makes sure that the next token is the value's, and returns its key.
  @inline(__always)
  private func key() -> UInt64 {
    session.awaits(encoder.start) ? encoder.key : lateKey()
  }

  @inline(never)
  private func lateKey() -> UInt64 {
    // The message is written; this goes nowhere.
    if session.isOver { return 0 }
    session.reopenEmpty(encoder.start, isKeyed: false)
    precondition(
      session.isUnfilled(encoder.start),
      "Attempt to encode a value through a single-value container when one was encoded already.")
    session.fill(encoder.start)
    return 0
  }

  @inline(__always)
  private func put<Value: RecordableScalar>(_ value: Value) { session.record(value, key: key()) }

  mutating func encodeNil() { session.recordNil(level: 0, key: key()) }
  mutating func encode(_ value: Bool) { put(value) }
  mutating func encode(_ value: Double) { put(value) }
  mutating func encode(_ value: Float) { put(value) }
  mutating func encode(_ value: Int) { put(value) }
  mutating func encode(_ value: Int8) { put(value) }
  mutating func encode(_ value: Int16) { put(value) }
  mutating func encode(_ value: Int32) { put(value) }
  mutating func encode(_ value: Int64) { put(value) }
  mutating func encode(_ value: UInt) { put(value) }
  mutating func encode(_ value: UInt8) { put(value) }
  mutating func encode(_ value: UInt16) { put(value) }
  mutating func encode(_ value: UInt32) { put(value) }
  mutating func encode(_ value: UInt64) { put(value) }
  mutating func encode(_ value: Int128) { session.record(value, key: key()) }
  mutating func encode(_ value: UInt128) { session.record(value, key: key()) }
  mutating func encode(_ value: String) { session.record(value, key: key()) }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    try session.attempt(encoder.start) { try session.encode(value, inPlaceOf: encoder) { key() } }
  }
}
