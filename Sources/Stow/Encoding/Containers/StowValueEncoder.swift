#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values of any kind, recorded without a call of `Codable` for any of them.
final class StowValueEncoder: TypeEncoder<StowValue> {
  override func encode(
    _ value: borrowing StowValue, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    var known = KnownKeys()
    try recorder.record(value, key: key, parent: parent, level: level, &known)
  }
}

/// Arrays of them, which share what is known of keys.
final class StowValueArrayEncoder: ArrayTypeEncoder<StowValue> {
  override func record(
    _ elements: UnsafeBufferPointer<StowValue>, _ recorder: Recorder, _ begin: Int
  ) throws {
    var known = KnownKeys()
    try recorder.record(elements, in: begin, &known)
  }
}

// By the recorder, which nobody counts references to meanwhile. Values are passed where they are.

extension Recorder {
  /// - Parameter level: How many optionals stand around the value that a nil would be taken for.
  @inline(__always)
  fileprivate func record(
    _ value: borrowing StowValue, key: TokenKey, parent: Int, level: Int = 0, _ known: inout KnownKeys
  ) throws {
    switch value {
    case .string(let value): recording.record(value, key: key)
    case .integer(let value): recording.record(value, key: key)
    case .double(let value): recording.record(value, key: key)
    case .bool(let value): recording.record(value, key: key)
    case .null: recording.recordNil(level: level, key: key)
    case .array(let elements):
      let container = ContainerStart(.array, key: key, parent: parent, index: elements.count)
      try recordNest(of: value, container) { begin in
        try borrowingElements(of: elements) { try record($0, in: begin, &known) }
      }
    case .object(let object):
      try recordNest(of: value, ContainerStart(.map, key: key, parent: parent)) { begin in
        recording.noteMap(at: begin)
        try object.lendPairs { try record($0, $1, in: begin, &known) }
      }
    default: recordRare(copy value, key: key, level: level)
    }
  }

  @inline(never)
  private func recordRare(_ value: StowValue, key: TokenKey, level: Int) {
    switch value {
    case .nestedNull(let inner): recording.recordNil(level: level + min(max(inner, 0), 255), key: key)
    case .unsignedInteger(let value): recording.record(value, key: key)
    case .float(let value): recording.record(value, key: key)
    case .data(let value): recording.retain(.data(value), as: .data, key: key)
    case .date(let value): recording.record(value, key: key)
    case .uuid(let value): recording.record(value, key: key)
    case .url(let value): recording.record(url: value, key: key)
    case .decimal(let value): recording.record(value, key: key)
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      let parts = DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
      recording.record(Decimals.form(parts.decimal.map { DecimalParts($0) } ?? parts), key: key)
    default: preconditionFailure("recorded where it is met")
    }
  }

  @inline(never)
  fileprivate func record(
    _ elements: UnsafeBufferPointer<StowValue>, in begin: Int, _ known: inout KnownKeys
  ) throws {
    guard let first = elements.baseAddress else { return }
    for index in 0..<elements.count {
      try borrowing(first + index) {
        try record($0, key: TokenKey(index: index), parent: begin, &known)
      }
    }
  }

  @inline(never)
  private func record(
    _ names: UnsafeBufferPointer<String>, _ values: UnsafeBufferPointer<StowValue>, in begin: Int,
    _ known: inout KnownKeys
  ) throws {
    guard let name = names.baseAddress, let value = values.baseAddress else { return }
    let strings = known.strings(of: names, &recording.strings)
    for index in 0..<names.count {
      if let strings {
        recording.recordKey(Int(strings[index]))
      } else {
        recording.recordKey((name + index).pointee)
      }
      try borrowing(value + index) { try record($0, key: TokenKey(), parent: begin, &known) }
    }
    if strings == nil { known.note(name) }
  }
}

/// The keys of the objects that were recorded last, as strings of the pool: many objects share theirs.
///
/// Keys are the same if they stand at the same address, where they stay while the value lives that holds them. The pool
/// has to meet strings in the order of the message, so that keys are known only when the first object is complete.
private struct KnownKeys {
  private struct Entry {
    var address: UnsafePointer<String>?
    /// Filled when the keys are met again.
    var strings: [UInt32] = []
  }

  private var entries: [Entry] = []
  private var hasNoted = false

  private static let size = 16

  private static func place(of address: UnsafePointer<String>) -> Int {
    let bits = UInt(bitPattern: address) >> 5
    return Int(truncatingIfNeeded: (bits ^ bits >> 4 ^ bits >> 8) & UInt(size - 1))
  }

  /// The strings of keys that an object had which is complete; nil if they are not known.
  mutating func strings(of names: UnsafeBufferPointer<String>, _ pool: inout StringPool) -> [UInt32]? {
    guard !entries.isEmpty, let address = names.baseAddress else { return nil }
    let place = Self.place(of: address)
    guard entries[place].address == address else { return nil }
    if entries[place].strings.isEmpty {
      for name in names { entries[place].strings.append(UInt32(truncatingIfNeeded: pool.intern(name))) }
    }
    return entries[place].strings
  }

  /// Notes the keys of an object that is complete; but not of the first, which many values have alone.
  mutating func note(_ address: UnsafePointer<String>) {
    guard hasNoted else {
      hasNoted = true
      return
    }
    if entries.isEmpty { entries = Array(repeating: Entry(), count: Self.size) }
    let place = Self.place(of: address)
    entries[place].address = address
    if !entries[place].strings.isEmpty { entries[place].strings = [] }
  }
}
