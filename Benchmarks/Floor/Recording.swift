import Foundation

/// An object that is watched. The standard library's `decodeIfPresent` makes the calls that are noted.
struct RecordingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let base: KeyedDecodingContainer<Key>
  let recorder: ReplayRecorder
  var codingPath: [any CodingKey] { base.codingPath }

  var allKeys: [Key] {
    let keys = base.allKeys
    recorder.keys(keys.map(\.stringValue))
    return keys
  }

  func contains(_ key: Key) -> Bool { recorder.flag(base.contains(key)) }

  func decodeNil(forKey key: Key) throws -> Bool { try recorder.call { try base.decodeNil(forKey: key) } }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(type, key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(type, key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(type, key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try scalar(type, key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try scalar(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try scalar(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try scalar(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try scalar(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try scalar(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try scalar(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try scalar(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try scalar(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try scalar(type, key) }

  /// Any of the types above.
  private func scalar<Scalar: Decodable>(_ type: Scalar.Type, _ key: Key) throws -> Scalar {
    try recorder.value { try base.decode(type, forKey: key) }
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    if isWhole(type) {
      return try recorder.value { try base.decode(type, forKey: key) }
    }
    return try recorder.nested { try base.decode(Recorded<Value>.self, forKey: key) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try recorder.call { try base.nestedContainer(keyedBy: type, forKey: key) }
    return KeyedDecodingContainer(RecordingKeyedContainer<NestedKey>(base: container, recorder: recorder))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    let container = try recorder.call { try base.nestedUnkeyedContainer(forKey: key) }
    return RecordingUnkeyedContainer(base: container, recorder: recorder)
  }

  func superDecoder() throws -> any Decoder {
    RecordingDecoder(base: try recorder.call { try base.superDecoder() }, recorder: recorder)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    RecordingDecoder(base: try recorder.call { try base.superDecoder(forKey: key) }, recorder: recorder)
  }
}

/// An array that is watched.
struct RecordingUnkeyedContainer: UnkeyedDecodingContainer {
  var base: any UnkeyedDecodingContainer
  let recorder: ReplayRecorder
  var codingPath: [any CodingKey] { base.codingPath }
  var count: Int? { base.count }
  var isAtEnd: Bool { base.isAtEnd }
  var currentIndex: Int { base.currentIndex }

  /// Notes how many elements there are.
  init(base: any UnkeyedDecodingContainer, recorder: ReplayRecorder) {
    self.base = base
    self.recorder = recorder
    recorder.count(base.count ?? 0)
  }

  mutating func decodeNil() throws -> Bool { try recorder.call { try base.decodeNil() } }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
  mutating func decode(_ type: String.Type) throws -> String { try scalar(type) }
  mutating func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
  mutating func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
  mutating func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }

  /// Any of the types above.
  private mutating func scalar<Scalar: Decodable>(_ type: Scalar.Type) throws -> Scalar {
    try recorder.value { try base.decode(type) }
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if isWhole(type) {
      return try recorder.value { try base.decode(type) }
    }
    return try recorder.nested { try base.decode(Recorded<Value>.self) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try recorder.call { try base.nestedContainer(keyedBy: type) }
    return KeyedDecodingContainer(RecordingKeyedContainer<NestedKey>(base: container, recorder: recorder))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try recorder.call { try base.nestedUnkeyedContainer() }
    return RecordingUnkeyedContainer(base: container, recorder: recorder)
  }

  mutating func superDecoder() throws -> any Decoder {
    RecordingDecoder(base: try recorder.call { try base.superDecoder() }, recorder: recorder)
  }
}

/// A single value that is watched.
struct RecordingSingleValueContainer: SingleValueDecodingContainer {
  let base: any SingleValueDecodingContainer
  let recorder: ReplayRecorder
  var codingPath: [any CodingKey] { base.codingPath }

  func decodeNil() -> Bool { recorder.flag(base.decodeNil()) }

  func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
  func decode(_ type: String.Type) throws -> String { try scalar(type) }
  func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
  func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
  func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }

  /// Any of the types above.
  private func scalar<Scalar: Decodable>(_ type: Scalar.Type) throws -> Scalar {
    try recorder.value { try base.decode(type) }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if isWhole(type) {
      return try recorder.value { try base.decode(type) }
    }
    return try recorder.nested { try base.decode(Recorded<Value>.self) }
  }
}

/// Collects what a decoder hands out, for a `Replay`.
final class ReplayRecorder: @unchecked Sendable {
  private(set) var outcomes: [UInt8] = []
  private(set) var words: [UInt64] = []
  private(set) var strings: [String] = []
  private(set) var data: [Data] = []
  private(set) var urls: [URL] = []
  /// Whether the nested value that was asked for last has begun to ask in its turn.
  var hasEntered = false

  static let key = CodingUserInfoKey(rawValue: "recorder")!

  /// Decodes `type` from a JSON message and keeps all it asked for.
  ///
  /// JSON is what is recorded from, so that the floor does not depend on the coder it is there to judge.
  func record<Value: Decodable>(_ type: Value.Type, from message: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.userInfo[Self.key] = self
    if isWhole(type) { return try value { try decoder.decode(type, from: message) } }
    return try decoder.decode(Recorded<Value>.self, from: message).value
  }

  /// A question that cannot fail.
  func flag(_ answer: Bool) -> Bool {
    outcomes.append(answer ? Replay.Outcome.yes : Replay.Outcome.value)
    return answer
  }

  /// A number of elements.
  func count(_ count: Int) { words.append(count.word) }

  /// The keys of an object.
  func keys(_ keys: [String]) {
    count(keys.count)
    strings += keys
  }

  /// A call and how it ended.
  func call<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      let result = try body()
      outcomes.append(result as? Bool == true ? Replay.Outcome.yes : Replay.Outcome.value)
      return result
    } catch {
      outcomes.append(Replay.Outcome.failure)
      throw error
    }
  }

  /// A value the decoder hands out itself.
  func value<Value>(_ body: () throws -> Value) throws -> Value {
    let value = try call(body)
    keep(value)
    return value
  }

  /// A nested value: `body` decodes it as a `Recorded`.
  func nested<Value>(_ body: () throws -> Recorded<Value>) throws -> Value {
    let outcome = outcomes.count
    outcomes.append(Replay.Outcome.value)
    hasEntered = false
    do {
      return try body().value
    } catch {
      if !hasEntered, outcomes.count == outcome + 1 { outcomes[outcome] = Replay.Outcome.failure }
      throw error
    }
  }

  /// Puts a value where the replay looks for its type.
  private func keep<Value>(_ value: Value) {
    switch value {
    case let value as String: strings.append(value)
    case let value as any ReplayScalar: words.append(value.word)
    case let value as Data: data.append(value)
    case let value as Date: words.append(value.timeIntervalSinceReferenceDate.word)
    case let value as UUID: words += withUnsafeBytes(of: value.uuid) { Array($0.bindMemory(to: UInt64.self)) }
    case let value as URL: urls.append(value)
    default: preconditionFailure("\(Value.self) cannot be recorded")
    }
  }
}

/// A value decoded through a recorder.
struct Recorded<Value: Decodable>: Decodable {
  let value: Value

  init(from decoder: any Decoder) throws {
    guard let recorder = decoder.userInfo[ReplayRecorder.key] as? ReplayRecorder else {
      preconditionFailure("the recorder was lost")
    }
    recorder.hasEntered = true
    value = try Value(from: RecordingDecoder(base: decoder, recorder: recorder))
  }
}

/// A decoder in front of another, which notes all that is asked and answered.
struct RecordingDecoder: Decoder {
  let base: any Decoder
  let recorder: ReplayRecorder
  var codingPath: [any CodingKey] { base.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let container = try recorder.call { try base.container(keyedBy: type) }
    return KeyedDecodingContainer(RecordingKeyedContainer(base: container, recorder: recorder))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try recorder.call { try base.unkeyedContainer() }
    return RecordingUnkeyedContainer(base: container, recorder: recorder)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    let container = try recorder.call { try base.singleValueContainer() }
    return RecordingSingleValueContainer(base: container, recorder: recorder)
  }
}
