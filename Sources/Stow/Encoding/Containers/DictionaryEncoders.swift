// Dictionaries, recorded without their own `encode(to:)`.

extension Dictionary: WholeEncodable where Key: Encodable, Value: Encodable {
  static func makeTypeEncoder() -> AnyTypeEncoder {
    guard Key.self == String.self else { return PlainTypeEncoder<Self>() }
    return RecordableTypes.scalar(Value.self)?.makeDictionaryEncoder() ?? DictionaryTypeEncoder<Value>()
  }
}

extension RecordableScalar {
  static func makeDictionaryEncoder() -> AnyTypeEncoder { DictionaryTypeEncoder<Self>() }
}

extension Int {
  static func makeDictionaryEncoder() -> AnyTypeEncoder { ScalarDictionaryTypeEncoder<Int>() }
}

extension String {
  static func makeDictionaryEncoder() -> AnyTypeEncoder { ScalarDictionaryTypeEncoder<String>() }
}

/// A dictionary whose keys are strings: a map.
private class DictionaryTypeEncoder<Value: Encodable>: TypeEncoder<[String: Value]> {
  final override func encode(
    _ dictionary: borrowing [String: Value], into recorder: Recorder, key: TokenKey, parent: Int,
    level: Int
  ) throws {
    try recorder.recordContainer(of: dictionary, ContainerStart(.map, key: key, parent: parent)) { begin in
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

/// Dictionaries of scalars, compiled for their type where it is known.
private final class ScalarDictionaryTypeEncoder<Value: RecordableScalar>: DictionaryTypeEncoder<Value> {
  private let append: ([String: Value], Recorder) -> Void

  @inline(__always)
  override init() {
    append = { dictionary, recorder in
      // Where no string came before, none of the keys did, unless the values are strings.
      let areNew = Value.self != String.self && recorder.recording.strings.count == 0
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

  override func record(_ dictionary: [String: Value], _ recorder: Recorder, _ begin: Int) {
    append(dictionary, recorder)
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
