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
    _ dictionary: borrowing [String: Value], into session: EncodingSession, key: UInt64, parent: Int,
    level: Int
  ) throws {
    try session.recordContainer(ContainerStart(.map, key: key, parent: parent)) { begin in
      session.noteMap(at: begin)
      try record(copy dictionary, session, begin)
    }
  }

  /// Records the entries.
  func record(_ dictionary: [String: Value], _ session: EncodingSession, _ begin: Int) throws {
    let entry = session.plans.entry(for: Value.self)
    for (key, value) in dictionary {
      session.recordKey(key)
      try session.encodeKnown(value, entry, key: 0, parent: begin, level: 0)
    }
  }
}

/// Dictionaries of strings, compiled for them.
private final class StringDictionaryTypeEncoder: DictionaryTypeEncoder<String> {
  override func record(_ dictionary: [String: String], _ session: EncodingSession, _ begin: Int) {
    for (key, value) in dictionary {
      session.recordKey(key)
      session.record(value, key: 0)
    }
  }
}

/// Dictionaries of integers, compiled for them.
private final class IntDictionaryTypeEncoder: DictionaryTypeEncoder<Int> {
  override func record(_ dictionary: [String: Int], _ session: EncodingSession, _ begin: Int) {
    // Where no string came before, none of the keys did.
    let areNew = session.strings.count == 0
    for (key, value) in dictionary {
      if areNew { session.recordKey(session.strings.add(new: key)) } else { session.recordKey(key) }
      session.record(value, key: 0)
    }
  }
}

/// A dictionary whose keys are not strings, by its own `encode(to:)`.
private final class PlainTypeEncoder<Value: Encodable>: TypeEncoder<Value> {
  override func encode(
    _ value: borrowing Value, into session: EncodingSession, key: UInt64, parent: Int, level: Int
  ) throws {
    try session.encodePlain(value, key: key, parent: parent)
  }
}
