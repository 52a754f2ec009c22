/// The values of one message: a token for each, and a table of the containers. ARCHITECTURE.md draws one.
///
/// Token 0 is no value, and container 0 has the whole message as its only value. A value is appended, and once it is
/// complete it is linked: it becomes the last one of its container, and the one that was the last precedes it. The
/// first one is preceded by the container's own token. So a container can be written to at any time. A value that threw
/// is never linked. Its tokens stay, so that what escaped from it never means another value.
struct Tape: ~Copyable {
  // Doubles from 85 to just below the size from which buffers have large pages, of which the last one may be empty.
  private var tokens = GrowableBuffer<Token>(capacity: 85)
  private var containers = GrowableBuffer<TapeContainer>(capacity: 32)
  /// The numbers that are longer than 32 bits.
  private var words = GrowableBuffer<UInt64>(capacity: 32)
  /// The keys that do not fit in a token, by the tokens.
  private var longKeys = [Int: Int]()

  init() { removeAll() }

  @inline(__always)
  mutating func removeAll() {
    // Nobody reads token 0.
    tokens.removeAll(keeping: 1)
    containers.removeAll(keeping: 1)
    containers[0] = TapeContainer(.array, token: 0, parent: 0, depth: 0)
    words.removeAll()
    if !longKeys.isEmpty { longKeys = .init() }
  }

  /// The number of tokens, which is the index of the next one.
  var count: Int { tokens.count }
  /// The number that the next container will have.
  var nextContainer: Int { containers.count }

  subscript(index: Int) -> Token {
    get { tokens[index] }
    set { tokens[index] = newValue }
  }

  func container(_ number: Int) -> TapeContainer { containers[number] }

  @inline(__always)
  func container(_ token: Token) -> TapeContainer { containers.base[token.value] }

  func depth(of container: Int) -> Int { Int(containers[container].depth) }

  /// Returns the container that a token is; nil for another value.
  func container(at index: Int) -> Int? { tokens[index].isContainer ? tokens[index].value : nil }

  /// Returns whether a container is still the value of its token and was linked, as that of a value that threw is not.
  func isLinked(_ container: Int) -> Bool {
    let index = Int(containers[container].token)
    return self.container(at: index) == container && tokens[index].previous != Token.unlinked
  }

  /// Calls `body` with the values of a container, from the last to the first.
  @inline(__always)
  func forEachBackwards(in container: Int, _ body: (_ token: Int) throws -> Void) rethrows {
    var token = Int(containers[container].last)
    for _ in 0..<containers[container].count {
      try body(token)
      token = tokens[token].previous
    }
  }

  mutating func setKeys(_ keys: Int, of container: Int) {
    containers[container].keys = UInt32(truncatingIfNeeded: keys)
  }

  // MARK: appending

  /// Appends a scalar as the last value of a container, which was made.
  @inline(__always)
  mutating func append(_ token: LooseToken, key: TokenKey, to container: Int) {
    append(token, key: key, after: containers.base[container].append(tokens.count))
  }

  /// Appends a scalar. Until it is linked, it follows the token before it.
  @inline(__always)
  mutating func append(_ token: LooseToken, key: TokenKey) { append(token, key: key, after: tokens.count &- 1) }

  @inline(__always)
  private mutating func append(_ token: LooseToken, key: TokenKey, after previous: Int) {
    var value = token.value
    if token.kind.hasWord {
      value = words.count
      words.append(token.number)
    }
    tokens.append(Token(token.kind, key: key, value: value, previous: previous))
  }

  /// Appends a place, whose value comes later or never, and returns its token.
  @inline(__always)
  mutating func appendPlace(key: TokenKey) -> Int {
    tokens.append(Token(.place, key: key, value: 0, previous: Token.unlinked))
    return tokens.count &- 1
  }

  /// Appends a container, which is linked when it is complete, and returns its number.
  @inline(__always)
  mutating func append(_ form: ContainerForm, key: TokenKey, parent: Int) -> Int {
    put(form, at: appendPlace(key: key), parent: parent)
  }

  /// Makes a place a container, and returns the number of that.
  @inline(__always)
  mutating func put(_ form: ContainerForm, at place: Int, parent: Int) -> Int {
    tokens[place].become(form.kind, value: containers.count)
    containers.append(TapeContainer(form, token: place, parent: parent, depth: depth(of: parent) &+ 1))
    return containers.count &- 1
  }

  /// Makes a complete value the last one of a container.
  @inline(__always)
  mutating func link(_ index: Int, in container: Int) { tokens[index].previous = containers[container].append(index) }

  /// Makes the value at `start` that of a place, which keeps its key and where it is linked. Returns whether the tape
  /// is as if it had been there from the beginning.
  mutating func move(_ start: Int, to place: Int) -> Bool {
    let value = tokens[start]
    tokens[place].become(value.kind, value: value.value)
    if value.isContainer { containers[value.value].token = UInt32(truncatingIfNeeded: place) }
    guard start == tokens.count &- 1 else { return false }
    tokens.truncate(to: start)
    return start == place + 1
  }

  mutating func removeLast() { tokens.truncate(to: tokens.count &- 1) }

  // MARK: values that are written one after the other

  /// Returns room for at least `count` tokens, and as many words, until anything else is appended; `take` takes in what
  /// was written there. The first value follows the token `last` in a container.
  mutating func room(_ count: Int, after last: Int = Token.unlinked, in container: Int) -> TapeRoom {
    tokens.reserve(count)
    words.reserve(count)
    return TapeRoom(
      tokens: tokens.base, count: tokens.count, limit: tokens.count + min(tokens.room, words.room),
      words: words.base, wordCount: words.count, container: container, last: last)
  }

  mutating func take(_ room: TapeRoom) {
    tokens.extend(to: room.count)
    words.extend(to: room.wordCount)
  }

  /// Makes sure that a room has space for `count` tokens.
  @inline(__always)
  mutating func enlarge(_ room: inout TapeRoom, to count: Int) {
    guard room.count &+ count > room.limit else { return }
    take(room)
    room = self.room(count, after: room.last, in: room.container)
  }

  /// Links a value that was appended after a room was taken to the last one in it, and makes room after it.
  @inline(__always)
  mutating func link(_ index: Int, to room: inout TapeRoom, _ count: Int) {
    tokens[index].previous = room.last
    // As long as the buffers were not replaced, the limit holds: no value takes more words than tokens.
    if room.tokens == tokens.base, room.words == words.base, tokens.count &+ count <= room.limit {
      (room.count, room.wordCount, room.last) = (tokens.count, words.count, index)
    } else {
      room = self.room(count, after: index, in: room.container)
    }
  }

  /// Begins a container in a room. What is in the room joins the message when the outermost container there is linked.
  @inline(__always)
  mutating func begin(_ form: ContainerForm, key: TokenKey, in room: inout TapeRoom) {
    room.append(form.kind, key: key, value: containers.count)
    let parent = room.container
    room.container = containers.count
    containers.append(TapeContainer(form, token: room.last, parent: parent, depth: depth(of: parent) &+ 1))
  }

  /// Ends the innermost container of a room, which has the last `count` values there.
  @inline(__always)
  mutating func end(count: Int, in room: inout TapeRoom) {
    let container = containers.base + room.container
    container.pointee.extend(to: room.last, count: count)
    (room.container, room.last) = (Int(container.pointee.parent), Int(container.pointee.token))
  }

  // MARK: keys

  /// Returns the key with a number, for the next token.
  @inline(__always)
  mutating func key(_ number: Int) -> TokenKey { key(number, at: tokens.count) }

  @inline(__always)
  mutating func key(_ number: Int, at index: Int) -> TokenKey {
    number < TokenKey.longest ? TokenKey(number) : longKey(number, at: index)
  }

  @inline(never)
  private mutating func longKey(_ number: Int, at index: Int) -> TokenKey {
    longKeys[index] = number
    return TokenKey(TokenKey.longest)
  }

  /// Returns the number of a key that the token at `index` has, or would have.
  @inline(__always)
  func number(of key: TokenKey, at index: Int) -> Int {
    key.number < TokenKey.longest ? key.number : longKeys[index, default: key.number]
  }

  @inline(__always)
  func keyString(at index: Int) -> Int { number(of: tokens[index].key, at: index) &- TokenKey.firstString }

  // MARK: reading. Inlined, because the tape would be copied for calls.

  /// The last token of the message, where a walk from its end begins.
  @inline(__always)
  var top: Int { Int(containers[0].last) }

  /// All tokens, for a walk over many.
  @inline(__always)
  var all: UnsafeBufferPointer<Token> { UnsafeBufferPointer(tokens.buffer) }

  @inline(__always)
  func number(_ token: Token) -> UInt64 {
    token.kind.hasWord ? words.base[token.value] : UInt64(bitPattern: token.integer)
  }

  /// Whether a token is the only one of its value: a scalar, or an empty container.
  @inline(__always)
  func isSingle(_ token: Token) -> Bool { !token.isContainer || container(token).count == 0 }
}

/// Room on a tape: tokens are written there one after the other, without checking how much is left.
struct TapeRoom: BitwiseCopyable {
  fileprivate let tokens: UnsafeMutablePointer<Token>
  /// How many tokens the tape will have, and how many it can have.
  fileprivate(set) var count: Int
  fileprivate let limit: Int
  fileprivate let words: UnsafeMutablePointer<UInt64>
  fileprivate var wordCount: Int
  /// The container that the next value belongs to, and the token that it follows there.
  fileprivate(set) var container: Int
  fileprivate(set) var last: Int

  @inline(__always)
  mutating func append(_ kind: Token.Kind, key: TokenKey, value: Int) {
    tokens[count] = Token(kind, key: key, value: value, previous: last)
    last = count
    count &+= 1
  }

  @inline(__always)
  mutating func append(_ token: LooseToken, key: TokenKey) {
    guard token.kind.hasWord else { return append(token.kind, key: key, value: token.value) }
    append(token.kind, key: key, value: wordCount)
    words[wordCount] = token.number
    wordCount &+= 1
  }
}

/// A container of the message.
struct TapeContainer: BitwiseCopyable {
  fileprivate(set) var token: UInt32
  let parent: UInt32
  /// The token of its last value; its own if it has none.
  private(set) var last: UInt32
  private(set) var count: UInt32 = 0
  /// How many containers it is in, including itself.
  let depth: UInt32
  /// The key table of an object whose keys are bytes; the list of keys of a map, once the message is planned.
  fileprivate(set) var keys: UInt32

  /// What arrays and maps have in place of a key table.
  static let array = UInt32.max
  static let map = UInt32.max - 1

  fileprivate init(_ form: ContainerForm, token: Int, parent: Int, depth: Int) {
    self.token = UInt32(truncatingIfNeeded: token)
    self.parent = UInt32(truncatingIfNeeded: parent)
    (last, self.depth, keys) = (self.token, UInt32(truncatingIfNeeded: depth), form.keys)
  }

  /// Adds a value, and returns the token of the one before it.
  @inline(__always)
  fileprivate mutating func append(_ index: Int) -> Int {
    let previous = Int(last)
    extend(to: index, count: 1)
    return previous
  }

  @inline(__always)
  fileprivate mutating func extend(to last: Int, count: Int) {
    self.last = UInt32(truncatingIfNeeded: last)
    self.count &+= UInt32(truncatingIfNeeded: count)
  }
}

/// What kind of container is to begin.
struct ContainerForm: BitwiseCopyable {
  fileprivate let kind: Token.Kind
  fileprivate let keys: UInt32

  static let array = ContainerForm(kind: .array, keys: TapeContainer.array)
  static let map = ContainerForm(kind: .map, keys: TapeContainer.map)
  static func object(_ table: Int) -> ContainerForm {
    ContainerForm(kind: .object, keys: UInt32(truncatingIfNeeded: table))
  }
}

/// A value on the tape. Twelve bytes.
struct Token: BitwiseCopyable {
  private(set) var kind: Kind
  private let lowKey: UInt8
  private let highKey: UInt16
  private var valueBits: UInt32
  private var previousBits: UInt32

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
    /// A whole array of numbers, Bools or rows, which is packed when it is written.
    case packed
    /// A container whose keys are bytes, which a key table knows.
    case object
    /// A container whose keys are strings.
    case map
    case array
    /// A place whose value comes later, or never: then it is an empty object.
    case place

    /// The kind as one bit of many.
    var bit: UInt32 { 1 << UInt32(rawValue) }

    var hasWord: Bool {
      switch self {
      case .longInteger, .unsigned, .double, .float, .date: true
      default: false
      }
    }

    /// Whether a cell of the kind is marked among others of its column: as an integer, or as true.
    var isMarked: Bool { self == .integer || self == .longInteger || self == .true }
  }

  /// What precedes a container or a place that is not linked.
  static let unlinked = Int(UInt32.max)

  @inline(__always)
  init(_ kind: Kind, key: TokenKey, value: Int, previous: Int) {
    self.kind = kind
    lowKey = UInt8(truncatingIfNeeded: key.bits)
    highKey = UInt16(truncatingIfNeeded: key.bits &>> 8)
    valueBits = UInt32(truncatingIfNeeded: value)
    previousBits = UInt32(truncatingIfNeeded: previous)
  }

  var key: TokenKey { TokenKey(Int(highKey) &<< 8 | Int(lowKey)) }

  /// The small integer that the value is, or which word, string, container or other value it is.
  var value: Int { Int(valueBits) }
  var integer: Int64 { Int64(Int32(bitPattern: valueBits)) }

  /// The value before this one in its container; for the first, the container.
  var previous: Int {
    get { Int(previousBits) }
    set { previousBits = UInt32(truncatingIfNeeded: newValue) }
  }

  /// Takes another value. The key and the place among others stay.
  @inline(__always)
  mutating func become(_ kind: Kind, value: Int) {
    self.kind = kind
    valueBits = UInt32(truncatingIfNeeded: value)
  }

  var isContainer: Bool { kind == .object || kind == .map || kind == .array }

  /// Whether this is a place without a value. `isSettled` tells whether one was encoded that recorded nothing.
  var isPlace: Bool { kind == .place }
  var isSettled: Bool { value != 0 }

  var isInteger: Bool { kind == .integer || kind == .longInteger }
}

/// A value apart from a tape: its kind, and its number, which is a word or what its token holds.
struct LooseToken: BitwiseCopyable {
  let kind: Token.Kind
  let number: UInt64

  init(_ kind: Token.Kind, _ number: UInt64 = 0) { (self.kind, self.number) = (kind, number) }

  /// What a token without a word holds.
  var value: Int { Int(UInt32(truncatingIfNeeded: number)) }

  /// Writes a number or a Bool, within a reserve.
  @inline(__always)
  func write(to writer: inout BackwardWriter) {
    switch kind {
    case .integer, .longInteger: Integers.write(Int64(bitPattern: number), to: &writer)
    case .unsigned: Integers.write(beyondSigned: number, to: &writer)
    case .double: Floats.write(number, to: &writer)
    case .float: Floats.write(float: number, to: &writer)
    case .date: Dates.write(number, to: &writer)
    case .true, .false: writer.byte(kind == .true ? Bools.true : Bools.false)
    default: preconditionFailure("no number, and no Bool")
    }
  }
}

/// Where a value is in its container: in an object the byte of its key, in an array its index, if anybody asks for it.
/// In a map it is the string of the pool that is the key, counted from `firstString`, so that an object may have such
/// keys, too.
struct TokenKey: BitwiseCopyable {
  /// At most 24 bits; the longest stands for keys that do not fit, which the tape has beside the tokens.
  fileprivate let bits: UInt32

  fileprivate static let longest = 1 << 24 - 1
  static let firstString = 256

  fileprivate init(_ number: Int) { bits = UInt32(truncatingIfNeeded: number) }

  init() { bits = 0 }

  init(byte: Int) { bits = UInt32(UInt8(truncatingIfNeeded: byte)) }

  fileprivate var number: Int { Int(bits) }
  var byte: Int { Int(bits & 0xFF) }
  var isString: Bool { number >= Self.firstString }
}
