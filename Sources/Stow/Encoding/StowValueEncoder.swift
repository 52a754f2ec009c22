/// Records values of any kind, without a call of `Codable` for any of them.
final class StowValueEncoder: TypeEncoder<StowValue> {
  override func append(
    _ value: borrowing StowValue, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    var known = KnownKeys()
    try builder.append(value, key: key, parent: parent, level: level, &known)
  }

  override func encode(
    _ elements: UnsafeBufferPointer<StowValue>, to builder: TapeBuilder, in array: Int
  ) throws {
    var known = KnownKeys()
    try builder.encode(elements, in: array, &known)
  }
}

// Methods of the builder, so that loops need not retain it. Values are lent in place.

extension TapeBuilder {
  @inline(__always)
  fileprivate func append(
    _ value: borrowing StowValue, key: TokenKey, parent: Int, level: Int = 0, _ known: inout KnownKeys
  ) throws {
    switch value {
    case .string(let value): value.record(in: &recorded, key: key)
    case .integer(let value): value.record(in: &recorded, key: key)
    case .double(let value): value.record(in: &recorded, key: key)
    case .bool(let value): value.record(in: &recorded, key: key)
    case .null: recorded.recordNil(level: level, key: key)
    case .array(let elements):
      try recordNest(of: value, isMap: false, key: key, parent: parent) { array in
        try elements.withUnsafeBufferPointer { try encode($0, in: array, &known) }
      }
    case .object(let object):
      try recordNest(of: value, isMap: true, key: key, parent: parent) { map in
        try object.keys.withUnsafeBufferPointer { keys in
          try object.values.withUnsafeBufferPointer { try encode(keys, $0, in: map, &known) }
        }
      }
    default: appendRare(copy value, key: key, level: level)
    }
  }

  @inline(never)
  private func appendRare(_ value: StowValue, key: TokenKey, level: Int) {
    switch value {
    case .nestedNull(let inner): recorded.recordNil(level: level + min(max(inner, 0), 255), key: key)
    case .unsignedInteger(let value): value.record(in: &recorded, key: key)
    case .float(let value): value.record(in: &recorded, key: key)
    case .data(let value): recorded.retain(.data(value), key: key)
    case .date(let value): value.record(in: &recorded, key: key)
    case .uuid(let value): value.record(in: &recorded, key: key)
    case .url(let value): recorded.record(url: value, key: key)
    case .decimal(let value): value.record(in: &recorded, key: key)
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      let parts = DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
      recorded.record(Decimals.form(parts.decimal.map { DecimalParts($0) } ?? parts), key: key)
    default: preconditionFailure("recorded by the caller")
    }
  }

  @inline(never)
  fileprivate func encode(
    _ elements: UnsafeBufferPointer<StowValue>, in array: Int, _ known: inout KnownKeys
  ) throws {
    try borrowingEach(of: elements) {
      let index = recorded.tape.count
      try append($0, key: recorded.tape.key($1), parent: array, &known)
      recorded.tape.link(index, in: array)
    }
  }

  @inline(never)
  private func encode(
    _ names: UnsafeBufferPointer<String>, _ values: UnsafeBufferPointer<StowValue>, in map: Int,
    _ known: inout KnownKeys
  ) throws {
    let strings = known.strings(of: names, &recorded.strings)
    try borrowingEach(of: values) { value, number in
      let index = recorded.tape.count
      let key = strings.map { recorded.key(ofString: Int($0[number])) } ?? recorded.key(names[number])
      try append(value, key: key, parent: map, &known)
      recorded.tape.link(index, in: map)
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
