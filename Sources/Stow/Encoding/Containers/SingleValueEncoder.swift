/// The container of one value, which takes the place that the encoder stands for.
struct SingleValueEncoder: SingleValueEncodingContainer {
  let encoder: RecordingEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  /// Lets `body` record the value, which is handed the key; unless the message is over.
  @inline(__always)
  private func put(_ body: (Recorder, _ key: TokenKey) throws -> Void) rethrows {
    try encoder.recorder?._withUnsafeGuaranteedRef { try body($0, key($0)) }
  }

  @inline(__always)
  private func put<Value: RecordableScalar>(_ value: Value) { put { $0.recording.record(value, key: $1) } }

  /// Makes sure that the next token is the value's, and returns its key.
  @inline(__always)
  private func key(_ recorder: Recorder) -> TokenKey {
    recorder.awaits(encoder.start) ? encoder.key : lateKey(recorder)
  }

  @inline(never)
  private func lateKey(_ recorder: Recorder) -> TokenKey {
    recorder.reopenEmpty(encoder.start, isKeyed: false)
    precondition(
      recorder.recording.isUnfilled(encoder.start),
      "Attempt to encode a value through a single-value container when one was encoded already.")
    recorder.fill(encoder.start)
    return encoder.key
  }

  mutating func encodeNil() { put { $0.recording.recordNil(level: 0, key: $1) } }
  @inline(__always)
  mutating func encode<Value: RecordableScalar>(_ value: Value) { put(value) }
  // The standard library has defaults for these, which throw.
  mutating func encode(_ value: Int128) { put(value) }
  mutating func encode(_ value: UInt128) { put(value) }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    try encoder.recorder?._withUnsafeGuaranteedRef { recorder in
      try recorder.attempt(encoder.start) {
        try recorder.encode(value, inPlaceOf: encoder) { key(recorder) }
      }
    }
  }
}
