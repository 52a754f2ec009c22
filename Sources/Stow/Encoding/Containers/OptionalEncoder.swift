/// The encoder of an optional that encodes itself, and its container: what it holds is one level further in.
struct OptionalEncoder: Encoder, StowValueCoder, SingleValueEncodingContainer {
  let recorder: Recorder
  let key: TokenKey
  let parent: Int
  let level: Int

  var codingPath: [any CodingKey] {
    recorder.recording.path(parent: parent, key: key, start: recorder.recording.tape.count)
  }
  var userInfo: [CodingUserInfoKey: Any] { recorder.userInfo.values }

  private static let otherContainer = "An optional is encoded as a single value."

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    preconditionFailure(Self.otherContainer)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { preconditionFailure(Self.otherContainer) }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { recorder.recording.recordNil(level: level, key: key) }

  func encode<Value: Encodable>(_ value: Value) throws {
    let entry = recorder.types.encoders.entry(for: Value.self)
    try recorder.encodeKnown(value, entry, key: key, parent: parent, level: level + 1)
  }
}
