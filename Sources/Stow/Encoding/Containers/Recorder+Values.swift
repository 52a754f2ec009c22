// Recording values of any type.

extension Recorder {
  /// Records the whole message.
  func record<Value: Encodable>(_ value: Value) throws {
    let key = TokenKey()
    if types.encoders.entry(for: Value.self).isPlain {
      let outside = Surroundings()
      enter(key: key, outside)
      try call(value, key: key, parent: -1, outside)
    } else {
      try encode(value, key: key)
    }
    try checkNesting(of: value)
    let first = recording.tape[0]
    if first.isContainer { return }
    let hasNothing = recording.tape.count == 1 && first.kind == .empty && !first.has(Token.Flags.nested)
    guard hasNothing || recording.isUnfilled(0) else { return }
    let description = "Top-level \(Value.self) did not encode any values."
    throw EncodingError.invalidValue(
      value, EncodingError.Context(codingPath: [], debugDescription: description))
  }

  /// Lets `value` encode itself to the place that begins with the next token.
  @inline(__always)
  func encodePlain<Value: Encodable>(_ value: borrowing Value, key: TokenKey, parent: Int) throws {
    let outside = try beginCall(of: value, key: key, parent: parent)
    try call(value, key: key, parent: parent, outside)
  }

  @inline(__always)
  private func call<Value: Encodable>(
    _ value: borrowing Value, key: TokenKey, parent: Int, _ outside: Surroundings
  ) throws {
    do {
      try value.encode(
        to: RecordingEncoder(recorder: self, start: outside.start, parent: parent, key: key))
    } catch {
      failCall(key: key, outside)
      throw error
    }
    endCall(key: key, outside)
  }

  /// Records a value in the current container.
  @inline(__always)
  func encode<Value: Encodable>(_ value: Value, key: TokenKey) throws {
    let entry = types.encoders.entry(for: Value.self)
    if entry.isPlain {
      try encodePlain(value, key: key, parent: current)
    } else {
      try entry.withPlan(as: TypeEncoder<Value>.self) {
        try $0.encode(value, into: self, key: key, parent: current, level: 0)
      }
    }
  }

  /// Records a value that an optional held, so that a nil in it is told from the optional's own.
  @inline(__always)
  func encodePresent<Value: Encodable>(_ value: borrowing Value, key: TokenKey) throws {
    let entry = types.encoders.entry(for: Value.self)
    if entry.isPlain {
      try encodePlain(value, key: key, parent: current)
    } else {
      try encodeKnown(copy value, entry, key: key, parent: current, level: 1)
    }
  }

  /// Records the value of a single-value container in the place of `encoder`.
  func encode<Value: Encodable>(
    _ value: Value, inPlaceOf encoder: RecordingEncoder, _ key: () -> TokenKey
  ) throws {
    let entry = types.encoders.entry(for: Value.self)
    if entry.isPlain {
      try nestCall(of: value, key: encoder.key, parent: encoder.parent, start: encoder.start) {
        try value.encode(to: encoder)
      }
    } else {
      try encodeKnown(value, entry, key: key(), parent: encoder.parent, level: 0)
    }
  }

  /// Records a value whose type is known here.
  @inline(never)
  func encodeKnown<Value: Encodable>(
    _ value: Value, _ entry: TypeEncoders.Entry, key: TokenKey, parent: Int, level: Int
  ) throws {
    if entry.isPlain { return try encodePlain(value, key: key, parent: parent) }
    try entry.withPlan(as: TypeEncoder<Value>.self) {
      try $0.encode(value, into: self, key: key, parent: parent, level: level)
    }
  }
}
