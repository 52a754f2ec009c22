import Foundation

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
