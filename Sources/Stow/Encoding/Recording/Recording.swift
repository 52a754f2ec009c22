#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What one message recorded: all that planning and emitting know of it.
struct Recording: ~Copyable {
  var tape = Tape()
  var strings = StringPool()
  var keyTables = KeyTables()
  /// Whole arrays and data, which the tape names by their index.
  var retained: [RetainedValue] = []
  /// Scalars of more than 64 bits, which the tape names by their index.
  private(set) var wideForms = GrowableBuffer<WideForm>(capacity: 4)
  /// The tokens where maps begin, which have keys before their values. A tape that is not in line may have others.
  var maps = GrowableBuffer<UInt32>(capacity: 16)
  /// Whether the keys of a map could repeat.
  var hasFreeKeys = false
  /// Whether the tape must be put in order before it is planned.
  var isOutOfOrder = false
  /// What the tape says, as far as somebody had to know.
  var tree = ValueTree()
  /// By the token of a key: its integer, where that is not what its string says.
  var integerKeys: [Int: Int?] = [:]

  @inline(__always)
  mutating func removeAll() {
    tape.removeAll()
    strings.removeAll()
    keyTables.removeAll()
    if !retained.isEmpty { retained.removeAll() }
    wideForms.removeAll()
    maps.removeAll()
    hasFreeKeys = false
    isOutOfOrder = false
    if !tree.isEmpty { tree = ValueTree() }
    if !integerKeys.isEmpty { integerKeys = [:] }
  }

  /// Notes a map that begins at `begin`.
  ///
  /// - Parameter hasFreeKeys: Whether its keys could repeat.
  mutating func noteMap(at begin: Int, hasFreeKeys: Bool = false) {
    maps.append(UInt32(truncatingIfNeeded: begin))
    if hasFreeKeys { self.hasFreeKeys = true }
  }

  /// The beginning of the object that is to be recorded next, which counts as a use of its keys.
  @inline(__always)
  mutating func beginObject(
    _ table: KeyTable.Reference, key: TokenKey, parent: Int, flags: UInt64
  ) -> ContainerStart {
    let index = table.pointee.index
    guard table.pointee.hasSlots else {
      noteMap(at: tape.count, hasFreeKeys: true)
      return ContainerStart(.map, key: key, parent: parent, flags: flags, index: index)
    }
    keyTables.countUse(table, at: tape.count)
    return ContainerStart(.object, key: key, parent: parent, flags: flags, index: index)
  }

  /// The slot of a key that comes out of turn.
  ///
  /// - Parameters:
  ///   - expected: The slot after that of the key before; afterwards the slot after this one.
  ///   - isPresent: Whether the key has a value. One that has none keeps its place among the others.
  @inline(never)
  mutating func slot(
    _ table: KeyTable.Reference, ofByte byte: Int, _ expected: inout Int, isPresent: Bool
  ) -> Int {
    let slot = keyTables.slot(table, ofByte: byte, isPresent: isPresent)
    if isPresent, slot < expected { isOutOfOrder = true }
    expected = isPresent ? slot + 1 : max(expected, slot + 1)
    return slot
  }

  /// Records a scalar of more than 64 bits as it will be written.
  mutating func record(_ form: WideForm, key: TokenKey) {
    tape.append(Token(.wide, key: key, index: wideForms.count))
    wideForms.append(form)
  }
}

// How scalars, and the keys of maps, get onto the tape.

extension Recording {
  @inline(__always)
  mutating func record<Value: RecordableScalar>(_ value: Value, key: TokenKey) {
    value.record(in: &self, key: key)
  }

  /// Records a URL, whose absolute string this is.
  mutating func record(url text: String, key: TokenKey) {
    let index = strings.intern(text)
    strings.countValueUse(index)
    tape.append(Token(.url, key: key, index: index))
  }

  mutating func retain(_ value: RetainedValue, key: TokenKey) {
    tape.append(Token(value.kind, key: key, index: retained.count))
    retained.append(value)
  }

  /// A nil that stands `level` optionals deep.
  mutating func recordNil(level: Int, key: TokenKey) {
    tape.append(level == 0 ? Token(.null, key: key) : Token(.nestedNil, key: key, index: level))
  }

  // MARK: keys that are strings, where no key table knows them

  /// Records the key of the next value.
  mutating func recordKey(_ name: String) { recordKey(strings.intern(name)) }

  /// The same for a string of the pool.
  @inline(__always)
  mutating func recordKey(_ string: Int) {
    strings.countKeyUses(string)
    tape.append(Token(.key, index: string))
  }

  /// Records a key that may have come before, and has this integer.
  mutating func recordFreeKey(_ name: String, _ integer: Int?) {
    if integer != nil || PathKey.startsInteger(name), integer != Int(name) {
      integerKeys[tape.count] = integer
    }
    recordKey(name)
  }

  /// Whether the last token is a key, whose value is to come.
  var endsWithKey: Bool { tape.count > 0 && tape[tape.count - 1].kind == .key }

  /// Takes back the key of a value that did not come, if one was recorded.
  mutating func dropKey() {
    guard endsWithKey else { return }
    if !integerKeys.isEmpty { integerKeys[tape.count - 1] = nil }
    tape.removeLast()
  }
}

/// What the tape names by index and the recording keeps alive: copying it would cost more.
enum RetainedValue {
  case data(Data)
  case ints([Int])
  case integers([Int64])
  case doubles([Double])
  case bools([Bool])

  /// The kind of its token.
  var kind: Token.Kind {
    switch self {
    case .data: .data
    case .ints, .integers: .integers
    case .doubles: .doubles
    case .bools: .bools
    }
  }
}

// Coding paths and depths, read off the tape when somebody asks: it knows the parent of every container and its slot or
// index there; a key without a slot stands before it.
extension Recording {
  func path(ofContainer begin: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var start = begin
    // The outermost container has no location. A container that escaped from a large message that is over has no path.
    while let location = tape.location(ofContainer: start) {
      let key = TokenKey(slotBits: tape[start].bits, index: location.position)
      path.append(pathKey(parent: Int(location.parent), key: key, start: start))
      start = Int(location.parent)
    }
    return path.reversed()
  }

  /// How many containers the one that begins at `begin` is in, with itself, but no more than `limit`.
  func depth(ofContainer begin: Int, atMost limit: Int) -> Int {
    var (depth, start) = (1, begin)
    while depth < limit, let location = tape.location(ofContainer: start) {
      depth += 1
      start = Int(location.parent)
    }
    return depth
  }

  /// The path of a value in the container that begins at `parent`, which is negative at the top.
  func path(parent: Int, key: TokenKey, start: Int) -> [any CodingKey] {
    guard parent >= 0, parent < tape.count else { return [] }
    return path(ofContainer: parent) + [pathKey(parent: parent, key: key, start: start)]
  }

  private func pathKey(parent: Int, key: TokenKey, start: Int) -> any CodingKey {
    let container = tape[parent]
    if container.kind == .array { return PathKey.index(Int(key.index)) }
    if start > 0, start <= tape.count, tape[start - 1].kind == .key {
      let name = strings.string(tape[start - 1].index)
      if let integer = integerKeys[start - 1] { return PathKey(name: name, integer: integer) }
      return PathKey(stringValue: name)
    }
    guard container.kind == .object else { return PathKey(stringValue: "") }
    return keyTables[container.index].pointee.codingKey(atSlot: key.slot) ?? PathKey(stringValue: "")
  }
}
