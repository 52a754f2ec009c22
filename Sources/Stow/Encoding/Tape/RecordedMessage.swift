#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One message as it was recorded: the tape, and the strings, keys and long values that its tokens name.
struct RecordedMessage: ~Copyable {
  var tape = Tape()
  var strings = StringPool()
  var keyTables = KeyTables()
  /// Whole arrays and data.
  private(set) var retained: [RetainedValue] = []
  /// Scalars of more than 64 bits.
  private(set) var wideForms = GrowableBuffer<WideForm>(capacity: 4)
  /// The containers that are maps. Their keys could repeat, if `hasFreeKeys` says so.
  private(set) var maps = GrowableBuffer<UInt32>(capacity: 16)
  var hasFreeKeys = false
  /// Whether the tokens are in the order of the document, all of them are part of it, what was counted is right, and no
  /// object has a key twice, or keys that are not in the order of their slots.
  var isInOrder = true
  /// Whether a place was linked before it had a value. Slots are then numbered again if keys are sorted.
  var hasLatePlaces = false
  /// The integers of keys, by the tokens of their values, if they are not those that the strings stand for.
  private var integerKeys = [Int: Int?]()
  /// The containers that were searched for keys: how many values each had then, and the last one of each key.
  private var searched = [Int: (count: Int, values: [Int: Int])]()
  /// Containers that would have to continue one of another kind.
  private(set) var conflicts: Set<Int> = []

  @inline(__always)
  mutating func removeAll() {
    tape.removeAll()
    strings.removeAll()
    keyTables.removeAll()
    if !retained.isEmpty { retained.removeAll() }
    wideForms.removeAll()
    maps.removeAll()
    hasFreeKeys = false
    isInOrder = true
    hasLatePlaces = false
    if !integerKeys.isEmpty { integerKeys = .init() }
    if !searched.isEmpty { searched = .init() }
    if !conflicts.isEmpty { conflicts = [] }
  }

  // MARK: containers

  /// Returns the form of the next container, an object with the keys of `table`, and counts it as a use of them.
  @inline(__always)
  mutating func form(of table: KeyTable.Reference) -> ContainerForm {
    guard table.pointee.hasSlots else {
      hasFreeKeys = true
      return mapForm()
    }
    keyTables.countUses(table, 1, from: tape.nextContainer)
    return .object(table.pointee.index)
  }

  @inline(__always)
  mutating func mapForm() -> ContainerForm {
    noteMap(tape.nextContainer)
    return .map
  }

  mutating func noteMap(_ container: Int) { maps.append(UInt32(truncatingIfNeeded: container)) }

  /// Forgets what was counted of containers, before they are counted again (`KeyTables.beginCount`).
  mutating func beginCount(forgetsSlots: Bool) -> [(KeyTable.Reference, keys: [UInt8])] {
    maps.removeAll()
    hasFreeKeys = false
    return keyTables.beginCount(forgetsSlots: forgetsSlots)
  }

  /// Finds the slot of a key, which most likely is the expected one, and returns the byte that represents the key.
  @inline(__always)
  mutating func find(_ byte: Int, of table: KeyTable.Reference, _ expected: inout Int, isPresent: Bool) -> Int {
    let entry = table.pointee.table[byte]
    let slot = Int(isPresent ? entry : entry & ~KeyTable.absent)
    if slot == expected {
      expected &+= 1
    } else if slot == KeyTable.fresh, isPresent {
      // The message needs the key for the first time: it comes after all others.
      expected = keyTables.takeSlot(table, ofByte: byte, isPresent: true) &+ 1
    } else {
      findSlot(table, ofByte: byte, &expected, isPresent: isPresent)
      return table.pointee.firstOfSameName(byte)
    }
    return byte
  }

  /// Returns the slot of a key that is not the next one, and forgets the order if it comes too late.
  ///
  /// - Parameters:
  ///   - expected: The slot after that of the previous key; afterwards the slot after this one.
  ///   - isPresent: Whether the key has a value. A key without one keeps its place among the others.
  @inline(never)
  mutating func findSlot(_ table: KeyTable.Reference, ofByte byte: Int, _ expected: inout Int, isPresent: Bool) {
    let slot = keyTables.slot(table, ofByte: byte, isPresent: isPresent)
    if isPresent, slot < expected { isInOrder = false }
    expected = isPresent ? slot + 1 : max(expected, slot + 1)
  }

  /// Returns whether the message is one object without maps, in which no key and no string occurs twice, and settles it.
  @inline(__always)
  mutating func isPlain() -> Bool {
    guard keyTables.active.count == 1, maps.count == 0, !strings.hasRepeats else { return false }
    let keys = keyTables.active[0]
    return keys.pointee.uses == 1 && keys.pointee.settle(apartFrom: &strings)
  }

  // MARK: values

  /// Returns the token of a scalar of more than 64 bits, which is kept as it will be written.
  mutating func token(of form: WideForm) -> LooseToken {
    wideForms.append(form)
    return LooseToken(.wide, UInt64(wideForms.count &- 1))
  }

  /// Returns the token of a string, or of a URL by its absolute string.
  @inline(__always)
  mutating func token(of text: borrowing String, as kind: Token.Kind = .string) -> LooseToken {
    LooseToken(kind, UInt64(use(text)))
  }

  /// Returns the string of the pool that a value is, and counts the use.
  @inline(never)
  mutating func use(_ text: borrowing String) -> Int { use(strings.intern(text)) }

  @inline(__always)
  mutating func use(_ text: UnsafeRawBufferPointer) -> Int { use(strings.intern(text)) }

  @inline(__always)
  private mutating func use(_ string: Int) -> Int {
    strings[string].valueUses &+= 1
    return string
  }

  /// Keeps a value, and returns its token.
  mutating func retain(_ value: RetainedValue) -> LooseToken {
    retained.append(value)
    return LooseToken(value.kind, UInt64(retained.count &- 1))
  }

  /// Records the elements of an array to it.
  private mutating func record<Value: RecordableScalar>(_ values: [Value], to array: Int) {
    for value in values { tape.append(value.token(in: &self), key: TokenKey(), to: array) }
  }

  /// Records a nil that is `level` optionals deep.
  mutating func recordNil(level: Int, key: TokenKey) {
    tape.append(LooseToken(level == 0 ? .null : .nestedNil, UInt64(level)), key: key)
  }

  // MARK: keys that are strings

  /// Returns the key of the next value, and counts its use.
  @inline(__always)
  mutating func key(_ name: String) -> TokenKey { key(name, at: tape.count) }

  @inline(never)
  mutating func key(_ name: String, at index: Int) -> TokenKey {
    let string = strings.intern(name)
    strings[string].keyUses &+= 1
    return tape.key(string &+ TokenKey.firstString, at: index)
  }

  /// The same for a key that may have occurred before, and has this integer.
  mutating func key(free name: String, _ integer: Int?) -> TokenKey {
    if integer != nil || PathKey.startsInteger(name), integer != Int(name) {
      integerKeys[tape.count] = integer
    } else if !integerKeys.isEmpty {
      integerKeys[tape.count] = nil
    }
    return key(name)
  }

  /// Returns the name of a key that a value in an object has. Inlined, because the message would be copied for a call.
  @inline(__always)
  private func name(_ key: TokenKey, at index: Int, in container: Int) -> UnsafeRawBufferPointer {
    if key.isString { return strings.utf8(tape.number(of: key, at: index) - TokenKey.firstString) }
    return table(of: key, in: container)?.pointee.utf8(ofKey: key.byte)
      ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// Returns the key table that knows a key by its byte; nil once the message is over, when containers that were kept
  /// write to any other.
  @inline(__always)
  private func table(of key: TokenKey, in container: Int) -> KeyTable.Reference? {
    let keys = tape.container(container).keys
    guard keys < TapeContainer.map else { return nil }
    let table = keyTables[Int(keys)]
    return table.pointee.isLearnt(key.byte) ? table : nil
  }

  /// Returns the string that a key is, which joins the pool if the key is a byte.
  mutating func string(_ key: TokenKey, at index: Int, in container: Int) -> Int {
    key.isString
      ? tape.number(of: key, at: index) - TokenKey.firstString
      : strings.intern(name(key, at: index, in: container))
  }

  /// Returns the names and the tokens of the values in the outermost object, the last one first.
  var valuesOfTop: [(name: String, token: Int)] {
    guard tape.top > 0, let object = tape.container(at: tape.top) else { return [] }
    var values: [(String, Int)] = []
    tape.forEachBackwards(in: object) {
      values.append((String(decoding: name(tape[$0].key, at: $0, in: object), as: UTF8.self), $0))
    }
    return values
  }

  /// Returns whether two tokens are the same scalar.
  func areSame(_ index: Int, _ other: Int) -> Bool {
    let (token, other) = (tape[index], tape[other])
    guard token.kind == other.kind else { return false }
    switch token.kind {
    case .wide: return wideForms[token.value] == wideForms[other.value]
    case .data:
      let values = (retained[token.value], retained[other.value])
      if case (.data(let data), .data(let other)) = values { return data == other } else { return false }
    default: return tape.number(token) == tape.number(other)
    }
  }

  // MARK: containers that are continued

  /// Returns the container that a nested one for a key is to continue, if the key, which is that of the next token, has
  /// a container.
  mutating func container(forKey key: TokenKey, in parent: Int, isArray: Bool) -> Int? {
    let keys = tape.container(parent).keys
    if keys == TapeContainer.array { return nil }
    // A key that is new to the message, or in its turn, cannot have occurred before. As a string, it may have been a
    // byte.
    let mayRepeat =
      key.isString
      ? strings[tape.number(of: key, at: tape.count) - TokenKey.firstString].keyUses > 1
        || keys != TapeContainer.map : !isInOrder
    guard mayRepeat else { return nil }
    let name = string(key, at: tape.count, in: parent)
    guard let last = value(forName: name, in: parent) else { return nil }
    expand(last, in: parent)
    guard let found = tape.container(at: last) else { return nil }
    isInOrder = false
    if isArray == (tape.container(found).keys == TapeContainer.array) { return found }
    // A programming error, unless it happens in a value that threw: that is known when the tape is put in order.
    conflicts.insert(tape.nextContainer)
    return nil
  }

  /// Returns the last value for a key. Takes time in proportion to the values that are new to the container.
  private mutating func value(forName name: Int, in container: Int) -> Int? {
    var known = searched.removeValue(forKey: container) ?? (count: 0, values: [Int: Int]())
    var (fresh, token) = ([Int](), Int(tape.container(container).last))
    for _ in known.count..<Int(tape.container(container).count) {
      fresh.append(token)
      token = tape[token].previous
    }
    for token in fresh.reversed() { known.values[string(tape[token].key, at: token, in: container)] = token }
    known.count += fresh.count
    searched[container] = known
    return known.values[name]
  }

  /// Returns whether a value is an array of rows that was kept. Inlined like `name`.
  @inline(__always)
  func isKept(_ index: Int) -> Bool {
    if tape[index].kind == .packed, case .rows = retained[tape[index].value] { true } else { false }
  }

  /// Turns an array that was retained as a whole into one with its elements on the tape, because others follow.
  mutating func expand(_ index: Int, in parent: Int) {
    guard tape[index].kind == .packed else { return }
    isInOrder = false
    let values = retained[tape[index].value]
    let array = tape.put(.array, at: index, parent: parent)
    switch values {
    case .doubles(let values): record(values, to: array)
    case .bools(let values): record(values, to: array)
    case .ints(let values): record(values, to: array)
    case .integers(let values): record(values, to: array)
    case .rows(let rows): expand(rows, to: array)
    case .data: break
    }
  }

  // MARK: paths, which are read off the parents

  func path(of container: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var number = container
    while number != 0 {
      let (token, parent) = (Int(tape.container(number).token), Int(tape.container(number).parent))
      if parent != 0 { path.append(pathKey(tape[token].key, at: token, in: parent)) }
      number = parent
    }
    return path.reversed()
  }

  /// Returns the path of the value whose token is, or will be, at `index`.
  func path(_ key: TokenKey, at index: Int, in parent: Int) -> [any CodingKey] {
    parent == 0 ? [] : path(of: parent) + [pathKey(key, at: index, in: parent)]
  }

  /// Returns the path of the first container that is in more than `limit` of them, or of a place that never got a value
  /// and so becomes one, unless it is part of a value that threw.
  func path(beyondDepth limit: Int) -> [any CodingKey]? {
    var areLinked: [Bool] = []
    var (container, place): (Int?, (token: Int, parent: Int)?)
    for number in 0..<tape.nextContainer {
      let next = tape.container(number)
      areLinked.append(number == 0 || areLinked[Int(next.parent)] && tape.isLinked(number))
      guard areLinked[number], next.depth >= limit else { continue }
      if next.depth > limit, container == nil { container = number }
      tape.forEachBackwards(in: number) { if tape[$0].isPlace, $0 < place?.token ?? .max { place = ($0, number) } }
    }
    if let place, place.token < container.map({ Int(tape.container($0).token) }) ?? .max {
      return path(tape[place.token].key, at: place.token, in: place.parent)
    }
    return container.map { path(of: $0) }
  }

  private func pathKey(_ key: TokenKey, at index: Int, in parent: Int) -> any CodingKey {
    if tape.container(parent).keys == TapeContainer.array { return PathKey.index(tape.number(of: key, at: index)) }
    if key.isString {
      let name = String(decoding: name(key, at: index, in: parent), as: UTF8.self)
      if let integer = integerKeys[index] { return PathKey(name: name, integer: integer) }
      return PathKey(stringValue: name)
    }
    return table(of: key, in: parent)?.pointee.codingKey(ofKey: key.byte) ?? PathKey(stringValue: "")
  }
}

/// Values that the tape refers to by index and the message keeps alive, because copying them would cost more.
enum RetainedValue {
  case data(Data)
  case ints([Int])
  case integers([Int64])
  case doubles([Double])
  case bools([Bool])
  case rows(KeptRows)

  /// The shortest array that is retained; shorter ones are recorded element by element.
  static let fewestElements = 17

  var kind: Token.Kind { if case .data = self { .data } else { .packed } }
}
