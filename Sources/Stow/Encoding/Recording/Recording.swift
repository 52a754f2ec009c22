#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The recording of one message: all that planning and emitting know about it.
struct Recording: ~Copyable {
  var tape = Tape()
  var strings = StringPool()
  var keyTables = KeyTables()
  /// Whole arrays and data, which the tape refers to by their index.
  var retained: [RetainedValue] = []
  /// Scalars of more than 64 bits, which the tape refers to by their index.
  private(set) var wideForms = GrowableBuffer<WideForm>(capacity: 4)
  /// The tokens where maps begin, whose keys precede values. Incomplete if the tape is out of order.
  var maps = GrowableBuffer<UInt32>(capacity: 16)
  /// Whether the keys of a map could repeat.
  var hasFreeKeys = false
  /// Whether the tape must be put in order before it is planned.
  var isOutOfOrder = false
  /// The contents of the tape as a tree, as far as they were needed.
  var tree = ValueTree()
  /// The integers of keys, by their tokens, if they are not those that the strings stand for.
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

  mutating func noteMap(at begin: Int) { maps.append(UInt32(truncatingIfNeeded: begin)) }

  /// Returns the beginning of the object to record next, which counts as a use of its keys.
  @inline(__always)
  mutating func beginObject(
    _ table: KeyTable.Reference, key: TokenKey, parent: Int, flags: Token.Flags = []
  ) -> ContainerStart {
    let index = table.pointee.index
    guard table.pointee.hasSlots else {
      noteMap(at: tape.count)
      hasFreeKeys = true
      return ContainerStart(.map, key: key, parent: parent, flags: flags, index: index)
    }
    keyTables.countUse(table, at: tape.count)
    return ContainerStart(.object, key: key, parent: parent, flags: flags, index: index)
  }

  /// Returns the slot of a key that comes out of order.
  ///
  /// - Parameters:
  ///   - expected: The slot after that of the previous key; afterwards the slot after this one.
  ///   - isPresent: Whether the key has a value. A key without one keeps its place among the others.
  @inline(never)
  mutating func slot(
    _ table: KeyTable.Reference, ofByte byte: Int, _ expected: inout Int, isPresent: Bool
  ) -> Int {
    let slot = keyTables.slot(table, ofByte: byte, isPresent: isPresent)
    if isPresent, slot < expected { isOutOfOrder = true }
    expected = isPresent ? slot + 1 : max(expected, slot + 1)
    return slot
  }

  /// Returns whether the place at `start` has no value yet.
  ///
  /// - Parameter unsettled: Whether it must also not be settled as an empty object.
  @inline(__always)
  func isUnfilled(_ start: Int, unsettled: Bool = false) -> Bool {
    guard start < tape.count else { return false }
    let token = tape[start]
    return token.kind == .place && token.index == Token.unfilled
      && !(unsettled && token.has(.settled))
  }

  /// Records a scalar of more than 64 bits as it will be written.
  mutating func record(_ form: WideForm, key: TokenKey) {
    tape.append(Token(.wide, key: key, index: wideForms.count))
    wideForms.append(form)
  }
}

// How URLs, data, nils and the keys of maps get onto the tape.

extension Recording {
  /// Records a URL by its absolute string.
  mutating func record(url text: String, key: TokenKey) {
    let index = strings.intern(text)
    strings[index].valueUses &+= 1
    tape.append(Token(.url, key: key, index: index))
  }

  mutating func retain(_ value: RetainedValue, key: TokenKey) {
    tape.append(Token(value.kind, key: key, index: retained.count))
    retained.append(value)
  }

  /// Retains a whole array. It may be continued, as any container.
  mutating func retain(_ array: RetainedValue, _ container: ContainerStart) {
    tape.noteLocation(of: container, at: tape.count)
    retain(array, key: container.key)
  }

  /// Records a nil that is `level` optionals deep.
  mutating func recordNil(level: Int, key: TokenKey) {
    tape.append(level == 0 ? Token(.null, key: key) : Token(.nestedNil, key: key, index: level))
  }

  // MARK: keys that are strings, where no key table knows them

  @inline(never)
  mutating func recordKey(_ name: String) { recordKey(strings.intern(name)) }

  /// Records the key of the next value, which differs from all keys recorded before it.
  @inline(never)
  mutating func recordKey(new name: String) { recordKey(strings.add(new: name)) }

  /// Records the key of the next value, a string of the pool.
  @inline(__always)
  mutating func recordKey(_ string: Int) {
    strings[string].keyUses &+= 1
    tape.append(Token(.key, index: string))
  }

  /// Records a key that may have occurred before, and has this integer.
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

/// Values that the tape refers to by index and the recording keeps alive, because copying them would cost
/// more.
enum RetainedValue {
  case data(Data)
  case ints([Int])
  case integers([Int64])
  case doubles([Double])
  case bools([Bool])

  /// The kind of its token.
  var kind: Token.Kind { if case .data = self { .data } else { .packed } }
}

// Coding paths and depths, read off the tape when they are requested: it has the parent of every container
// and its slot or index there; a key without a slot precedes it.
extension Recording {
  func path(ofContainer begin: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var start = begin
    // The outermost container has no location. A container that escaped from a large, finished message has no
    // path.
    while let location = tape.location(ofContainer: start) {
      path.append(pathKey(parent: Int(location.parent), key: location.key, start: start))
      start = Int(location.parent)
    }
    return path.reversed()
  }

  /// Returns how many containers there are around the one that begins at `begin`, including itself, up to
  /// `limit`.
  func depth(ofContainer begin: Int, atMost limit: Int) -> Int {
    var (depth, start) = (1, begin)
    while depth < limit, let location = tape.location(ofContainer: start) {
      depth += 1
      start = Int(location.parent)
    }
    return depth
  }

  /// Returns whether the container that begins at `begin` is the one at `other`, or in it.
  func isContainer(_ begin: Int, within other: Int) -> Bool {
    var container = begin
    while container > other, let location = tape.location(ofContainer: container) {
      container = Int(location.parent)
    }
    return container == other
  }

  /// Returns the path of a value in the container that begins at `parent`, which is negative at the top.
  func path(parent: Int, key: TokenKey, start: Int) -> [any CodingKey] {
    guard parent >= 0, parent < tape.count else { return [] }
    return path(ofContainer: parent) + [pathKey(parent: parent, key: key, start: start)]
  }

  private func pathKey(parent: Int, key: TokenKey, start: Int) -> any CodingKey {
    let container = beginning(ofContainer: parent)
    if container.kind == .array { return PathKey.index(key.position) }
    if start > 0, start <= tape.count, tape[start - 1].kind == .key {
      let name = strings.string(tape[start - 1].index)
      if let integer = integerKeys[start - 1] { return PathKey(name: name, integer: integer) }
      return PathKey(stringValue: name)
    }
    if let former = tree.formerKeys[parent], start < former.end, key.position < former.keys.count {
      return former.keys[key.position]
    }
    guard container.kind == .object else { return PathKey(stringValue: "") }
    return keyTables[container.index].pointee.codingKey(atSlot: key.position) ?? PathKey(stringValue: "")
  }
}

// MARK: - The tape

/// The values of one message in the order in which they came: a token for every value, and beside the tokens
/// whatever does not fit in one.
///
///     {"id": 5000000000, "tags": ["a", "b"], "ok": true}
///
///     tokens     object longInteger array string string end  true end
///       slot       -       0          1     -      -     -    2    -
///       index   key table  0 ──┐      2     0      1     2    -    0
///                              │      ↑
///     words      5000000000 ←──┘      │
///     locations  ─────────────────────┘  token 2 stands in token 0
///     strings    "a" "b"                 (StringPool)
///
/// An `end` refers to the token that began its container. The index of a string is that of its entry in the
/// pool, the index of an object that of its key table, and the index of an array the number of its elements,
/// if that is known. Values that came out of order are also in a `ValueTree`.
struct Tape: TokenTape, ~Copyable {
  private var entries = GrowableBuffer<Token>(capacity: 64)
  /// The numbers that are longer than 32 bits.
  private var words = GrowableBuffer<UInt64>(capacity: 32)
  /// Where each container inside another is, in the order of their tokens. Used for coding paths and depths.
  private var locations = GrowableBuffer<ContainerLocation>(capacity: 32)

  var count: Int { entries.count }

  mutating func append(_ token: Token) { entries.append(token) }

  @inline(__always)
  mutating func append(_ kind: Token.Kind, key: TokenKey, word: UInt64) {
    entries.append(Token(kind, key: key, index: words.count))
    words.append(word)
  }

  @inline(__always)
  mutating func append(_ container: ContainerStart) {
    noteLocation(of: container, at: count)
    entries.append(container.token)
  }

  fileprivate mutating func noteLocation(of container: ContainerStart, at begin: Int) {
    guard container.isInner else { return }
    locations.append(
      ContainerLocation(
        begin: UInt32(truncatingIfNeeded: begin), parent: container.parent, key: container.key))
  }

  /// Returns room for `count` tokens, and as many words, until anything else is appended; `take` takes in
  /// what was written there.
  mutating func room(_ count: Int) -> TapeRoom {
    entries.reserve(count)
    words.reserve(count)
    return TapeRoom(tokens: entries.base, count: entries.count, words: words.base, wordCount: words.count)
  }

  mutating func take(_ room: TapeRoom) {
    entries.extend(to: room.count)
    words.extend(to: room.wordCount)
  }

  /// Appends the beginning of a container to a room, and notes its location.
  mutating func append(_ container: ContainerStart, to room: inout TapeRoom) {
    noteLocation(of: container, at: room.count)
    room.append(container.token)
  }

  /// Drops the last token, which has no word and no location.
  mutating func removeLast() {
    precondition(count > 0 && !self[count - 1].hasWord && !self[count - 1].isContainer)
    entries.truncate(to: count - 1)
  }

  mutating func removeAll() {
    entries.removeAll()
    words.removeAll()
    locations.removeAll()
  }

  subscript(index: Int) -> Token {
    get { entries[index] }
    set { entries[index] = newValue }
  }

  /// Returns where the container that begins at `begin` is; nil if it is in no other. Takes logarithmic time.
  func location(ofContainer begin: Int) -> ContainerLocation? {
    var range = 0..<locations.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      if locations[middle].begin < begin {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    guard range.lowerBound < locations.count, locations[range.lowerBound].begin == begin else { return nil }
    return locations[range.lowerBound]
  }

  /// The tokens and words, for a walk over them.
  var view: TapeView { TapeView(tokens: UnsafeBufferPointer(entries.buffer), words: words.base) }
}

/// What tokens and words are appended to.
protocol TokenTape: ~Copyable {
  mutating func append(_ token: Token)
  mutating func append(_ kind: Token.Kind, key: TokenKey, word: UInt64)
}

/// Room on a tape: tokens are written there one after the other, without checking how much is left.
struct TapeRoom: TokenTape, BitwiseCopyable {
  fileprivate let tokens: UnsafeMutablePointer<Token>
  /// How many tokens the tape will have.
  fileprivate(set) var count: Int
  fileprivate let words: UnsafeMutablePointer<UInt64>
  fileprivate var wordCount: Int

  mutating func append(_ token: Token) {
    tokens[count] = token
    count &+= 1
  }

  mutating func append(_ kind: Token.Kind, key: TokenKey, word: UInt64) {
    append(Token(kind, key: key, index: wordCount))
    words[wordCount] = word
    wordCount &+= 1
  }
}

/// The tokens and words of a tape that nobody writes to.
struct TapeView {
  let tokens: UnsafeBufferPointer<Token>
  fileprivate let words: UnsafePointer<UInt64>

  subscript(index: Int) -> Token { tokens[index] }

  func word(_ token: Token) -> UInt64 { words[token.index] }

  /// Returns the bits of a number: an integer of any size, a floating-point number, a date. For another
  /// token, returns its index.
  func number(_ token: Token) -> UInt64 {
    token.hasWord ? words[token.index] : UInt64(bitPattern: token.integer)
  }
}

struct ContainerLocation: BitwiseCopyable {
  let begin: UInt32
  /// The token of its parent.
  let parent: UInt32
  let key: TokenKey
}

/// The beginning of a container that is to be recorded.
struct ContainerStart: BitwiseCopyable {
  let token: Token
  let key: TokenKey
  fileprivate let parent: UInt32

  private static let noParent = UInt32.max

  /// - Parameter parent: The token of the parent of the container; −1 at the top.
  @inline(__always)
  init(_ kind: Token.Kind, key: TokenKey, parent: Int, flags: Token.Flags = [], index: Int = 0) {
    token = Token(kind, key: key, flags: flags, index: index)
    self.key = key
    self.parent = UInt32(truncatingIfNeeded: parent)
  }

  fileprivate var isInner: Bool { parent != Self.noParent }
  /// The token of its parent; −1 at the top.
  var parentToken: Int { isInner ? Int(parent) : -1 }
}

/// One entry of the tape: a value, or the beginning or end of a container.
///
/// Eight bytes. The last four are an index: a small integer itself, or where the value is: which string, which word or
/// place of the tape, which token, which key table or list of keys.
struct Token: BitwiseCopyable {
  let kind: Kind
  /// The slot of the value's key in its key table, if the value is in an object.
  private let slotByte: UInt8
  private(set) var flags: Flags
  private var indexBits: UInt32

  enum Kind: UInt8 {
    case null, `false`, `true`
    case integer
    /// Scalars whose value is a word of the tape.
    case longInteger, unsigned, double, float, date
    case string, url
    /// A scalar that does not fit in a word, in the form in which it is written.
    case wide
    case data
    case nestedNil
    /// A whole array of numbers or Bools, which is packed when it is written.
    case packed
    /// A container whose keys are slots of a key table.
    case object
    /// A container whose keys are tokens before its values.
    case map
    /// While it is recorded, the index is the number of its elements.
    case array
    case end
    case key
    /// A place whose value comes later, as the token that the index names, or never: then it is an empty object.
    case place
  }

  struct Flags: OptionSet, BitwiseCopyable {
    let rawValue: UInt16

    /// The value's encoding threw and the error was swallowed: as if never written.
    static let dead = Flags(rawValue: 1)
    /// A container that was made by `nestedContainer`, and continues one under the same key.
    static let nested = Flags(rawValue: 2)
    /// A place whose single-value container got a value that encoded nothing: it is an empty object. The same bit, because
    /// only containers are nested, and only places settled.
    static let settled = nested
    /// A container that would have to continue one of another kind.
    static let mismatched = Flags(rawValue: 4)
    /// A value that is still being encoded, although the tape continued elsewhere.
    static let unfinished = Flags(rawValue: 8)
  }

  @inline(__always)
  init(_ kind: Kind, key: TokenKey = TokenKey(), flags: Flags = [], index: Int = 0) {
    self.kind = kind
    slotByte = UInt8(truncatingIfNeeded: key.position)
    self.flags = flags
    indexBits = UInt32(truncatingIfNeeded: index)
  }

  var slot: Int { Int(slotByte) }

  var index: Int {
    get { Int(truncatingIfNeeded: indexBits) }
    set { indexBits = UInt32(truncatingIfNeeded: newValue) }
  }

  var integer: Int64 { Int64(Int32(bitPattern: indexBits)) }

  func has(_ flags: Flags) -> Bool { !self.flags.isDisjoint(with: flags) }
  mutating func set(_ flag: Flags) { flags.insert(flag) }
  mutating func clear(_ flags: Flags) { self.flags.subtract(flags) }

  var key: TokenKey { TokenKey(slot) }

  /// Whether the tokens of a container follow, up to its end.
  var isContainer: Bool { kind == .object || kind == .map || kind == .array }

  /// Whether this is an array or the beginning of one.
  var isArray: Bool { kind == .array || kind == .packed }

  var isInteger: Bool { kind == .integer || kind == .longInteger }

  /// Whether the value is a word of the tape.
  var hasWord: Bool {
    switch kind {
    case .longInteger, .unsigned, .double, .float, .date: true
    default: false
    }
  }

  /// The index of a place without a value, as `index` reads it.
  static let unfilled = Int(truncatingIfNeeded: UInt32.max)
}

/// Where a value is in its container: the slot of its key in an object, or its index in an array. 0 in a map, where the
/// key is a token before the value, and for the whole message.
struct TokenKey: BitwiseCopyable {
  private let number: UInt32

  init(_ position: Int = 0) { number = UInt32(truncatingIfNeeded: position) }

  var position: Int { Int(number) }
}
