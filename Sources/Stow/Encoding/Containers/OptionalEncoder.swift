/// The encoder of an optional that encodes itself, and its container: what it holds is one level further in.
struct OptionalEncoder: Encoder, SingleValueEncodingContainer {
  let session: EncodingSession
  let key: UInt64
  let parent: Int
  let level: Int

  var codingPath: [any CodingKey] { session.path(parent: parent, key: key, start: session.tape.count) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  private static let otherContainer = "An optional is encoded as a single value."

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    preconditionFailure(Self.otherContainer)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { preconditionFailure(Self.otherContainer) }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { session.recordNil(level: level, key: key) }

  func encode<Value: Encodable>(_ value: Value) throws {
    let entry = session.plans.entry(for: Value.self)
    try session.encodeKnown(value, entry, key: key, parent: parent, level: level + 1)
  }
}
