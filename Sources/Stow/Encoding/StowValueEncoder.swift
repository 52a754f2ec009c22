/// Records values of any kind, without a call of `Codable` for any of them.
final class StowValueEncoder: TypeEncoder<StowValue> {
  override func encode(
    _ value: borrowing StowValue, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    var known = KnownKeys()
    try recorder.record(value, key: key, parent: parent, level: level, &known)
  }

  override func encode(
    _ elements: UnsafeBufferPointer<StowValue>, into recorder: Recorder, parent: Int
  ) throws {
    var known = KnownKeys()
    try recorder.record(elements, in: parent, &known)
  }
}

// Methods of the recorder, so that loops need not retain it. Values are lent in place.

extension Recorder {
  @inline(__always)
  fileprivate func record(
    _ value: borrowing StowValue, key: TokenKey, parent: Int, level: Int = 0, _ known: inout KnownKeys
  ) throws {
    switch value {
    case .string(let value): value.record(in: &recording, key: key)
    case .integer(let value): value.record(in: &recording, key: key)
    case .double(let value): value.record(in: &recording, key: key)
    case .bool(let value): value.record(in: &recording, key: key)
    case .null: recording.recordNil(level: level, key: key)
    case .array(let elements):
      let container = ContainerStart(.array, key: key, parent: parent, index: elements.count)
      try recordNest(of: value, container) { begin in
        try elements.withUnsafeBufferPointer { try record($0, in: begin, &known) }
      }
    case .object(let object):
      try recordNest(of: value, ContainerStart(.map, key: key, parent: parent)) { begin in
        recording.noteMap(at: begin)
        try object.keys.withUnsafeBufferPointer { keys in
          try object.values.withUnsafeBufferPointer { try record(keys, $0, in: begin, &known) }
        }
      }
    default: recordRare(copy value, key: key, level: level)
    }
  }

  @inline(never)
  private func recordRare(_ value: StowValue, key: TokenKey, level: Int) {
    switch value {
    case .nestedNull(let inner): recording.recordNil(level: level + min(max(inner, 0), 255), key: key)
    case .unsignedInteger(let value): value.record(in: &recording, key: key)
    case .float(let value): value.record(in: &recording, key: key)
    case .data(let value): recording.retain(.data(value), key: key)
    case .date(let value): value.record(in: &recording, key: key)
    case .uuid(let value): value.record(in: &recording, key: key)
    case .url(let value): recording.record(url: value, key: key)
    case .decimal(let value): value.record(in: &recording, key: key)
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      let parts = DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
      recording.record(Decimals.form(parts.decimal.map { DecimalParts($0) } ?? parts), key: key)
    default: preconditionFailure("recorded by the caller")
    }
  }

  @inline(never)
  fileprivate func record(
    _ elements: UnsafeBufferPointer<StowValue>, in begin: Int, _ known: inout KnownKeys
  ) throws {
    try borrowingEach(of: elements) {
      try record($0, key: TokenKey($1), parent: begin, &known)
    }
  }

  @inline(never)
  private func record(
    _ names: UnsafeBufferPointer<String>, _ values: UnsafeBufferPointer<StowValue>, in begin: Int,
    _ known: inout KnownKeys
  ) throws {
    let strings = known.strings(of: names, &recording.strings)
    try borrowingEach(of: values) { value, index in
      if let strings {
        recording.recordKey(Int(strings[index]))
      } else {
        recording.recordKey(names[index])
      }
      try record(value, key: TokenKey(), parent: begin, &known)
    }
    if strings == nil { known.note(names) }
  }
}

/// The keys of the objects that were recorded last, as strings of the pool: many objects share their keys.
///
/// Keys are the same if they are at the same address, where they stay as long as the value that holds them
/// lives. The pool must meet strings in the order of the message, so keys are known only once the first
/// object is complete.
private struct KnownKeys {
  private struct Entry {
    let address: UnsafePointer<String>
    /// Filled when the keys are met again.
    var strings: [UInt32] = []
  }

  private var entries: [Entry] = []
  private var hasNoted = false

  private static let most = 16

  /// Returns the strings of the keys of an object that is complete; nil if they are not known.
  mutating func strings(of names: UnsafeBufferPointer<String>, _ pool: inout StringPool) -> [UInt32]? {
    guard let index = entries.firstIndex(where: { $0.address == names.baseAddress }) else { return nil }
    if entries[index].strings.isEmpty {
      for name in names { entries[index].strings.append(UInt32(truncatingIfNeeded: pool.intern(name))) }
    }
    return entries[index].strings
  }

  /// Notes the keys of an object that is complete, except the first object, which many values have alone.
  mutating func note(_ names: UnsafeBufferPointer<String>) {
    guard hasNoted, let address = names.baseAddress else {
      hasNoted = true
      return
    }
    if entries.count == Self.most { entries.removeAll(keepingCapacity: true) }
    entries.append(Entry(address: address))
  }
}
