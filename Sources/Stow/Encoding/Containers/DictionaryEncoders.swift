// Dictionaries, recorded without their own `encode(to:)`.

extension Dictionary: WholeEncodable where Key: Encodable, Value: Encodable {
  static func makeTypeEncoder() -> AnyTypeEncoder {
    guard Key.self == String.self else { return PlainTypeEncoder<Self>() }
    switch ValueKind(Value.self) {
    case .string: return StringDictionaryTypeEncoder()
    case .int: return IntDictionaryTypeEncoder()
    default: return DictionaryTypeEncoder<Value>()
    }
  }
}

/// A dictionary whose keys are strings: a map.
private class DictionaryTypeEncoder<Value: Encodable>: TypeEncoder<[String: Value]> {
  final override func encode(
    _ dictionary: borrowing [String: Value], into recorder: Recorder, key: TokenKey, parent: Int,
    level: Int
  ) throws {
    try recorder.recordContainer(ContainerStart(.map, key: key, parent: parent)) { begin in
      recorder.recording.noteMap(at: begin)
      try record(copy dictionary, recorder, begin)
    }
  }

  /// Records the entries.
  func record(_ dictionary: [String: Value], _ recorder: Recorder, _ begin: Int) throws {
    let entry = recorder.types.encoders.entry(for: Value.self)
    for (key, value) in dictionary {
      recorder.recording.recordKey(key)
      try recorder.encodeKnown(value, entry, key: TokenKey(), parent: begin, level: 0)
    }
  }
}

/// Dictionaries of strings, compiled for them.
private final class StringDictionaryTypeEncoder: DictionaryTypeEncoder<String> {
  override func record(_ dictionary: [String: String], _ recorder: Recorder, _ begin: Int) {
    for (key, value) in dictionary {
      recorder.recording.recordKey(key)
      recorder.recording.record(value, key: TokenKey())
    }
  }
}

/// Dictionaries of integers, compiled for them.
private final class IntDictionaryTypeEncoder: DictionaryTypeEncoder<Int> {
  override func record(_ dictionary: [String: Int], _ recorder: Recorder, _ begin: Int) {
    // Where no string came before, none of the keys did.
    let areNew = recorder.recording.strings.count == 0
    for (key, value) in dictionary {
      if areNew {
        recorder.recording.recordKey(recorder.recording.strings.add(new: key))
      } else {
        recorder.recording.recordKey(key)
      }
      recorder.recording.record(value, key: TokenKey())
    }
  }
}

/// A dictionary whose keys are not strings, by its own `encode(to:)`.
private final class PlainTypeEncoder<Value: Encodable>: TypeEncoder<Value> {
  override func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    try recorder.encodePlain(value, key: key, parent: parent)
  }
}
