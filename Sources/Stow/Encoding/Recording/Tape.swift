/// What one message recorded, in the order in which it came: a token for every value, and beside the tokens what does
/// not fit one.
///
///     {"id": 5000000000, "tags": ["a", "b"], "ok": true}
///
///     tokens     object longInteger array string string end  true end
///       slot       -       0          1     -      -     -    2    -
///       index   key table  0 ──┐      -     0      1     2    -    0
///                              │      ↑
///     words      5000000000 ←──┘      │
///     locations  ─────────────────────┘  token 2 stands in token 0
///     strings    "a" "b"                 (StringPool)
///
/// An `end` names the token that began its container. The index of a string is that of its entry in the pool, the
/// index of an object that of its key table. What came out of order stands in a `ValueTree` besides.
struct Tape: ~Copyable {
  private var entries = GrowableBuffer<Token>(capacity: 64)
  /// The numbers that are longer than 32 bits.
  private var words = GrowableBuffer<UInt64>(capacity: 32)
  /// Where each container stands that is in another, in the order of their tokens. Only coding paths ask for it.
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

  private mutating func noteLocation(of container: ContainerStart, at begin: Int) {
    guard container.isInner else { return }
    locations.append(
      ContainerLocation(
        begin: UInt32(truncatingIfNeeded: begin), parent: container.parent, position: container.position))
  }

  /// Room for so many tokens, and as many words, until anything else is appended; `take` takes in what was written there.
  mutating func room(_ count: Int) -> TapeRoom {
    entries.reserve(count)
    words.reserve(count)
    return TapeRoom(tokens: entries.base, count: entries.count, words: words.base, wordCount: words.count)
  }

  mutating func take(_ room: TapeRoom) {
    entries.extend(to: room.count)
    words.extend(to: room.wordCount)
  }

  /// Appends the beginning of a container to a room, and notes where it stands.
  mutating func append(_ container: ContainerStart, to room: inout TapeRoom) {
    noteLocation(of: container, at: room.count)
    room.append(container.token)
  }

  /// Drops the last token, which has no word and no location.
  mutating func removeLast() {
    precondition(count > 0 && !self[count - 1].hasWord && !self[count - 1].isContainer)
    entries.truncate(to: count - 1)
  }

  /// Forgets everything, and the memory if it is large and not likely to be needed soon.
  mutating func removeAll() {
    entries.removeAll()
    words.removeAll()
    locations.removeAll()
  }

  subscript(index: Int) -> Token {
    get { entries[index] }
    set { entries[index] = newValue }
  }

  /// Where the container that begins at `begin` stands; nil if it is in no other. Takes logarithmic time.
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

/// Room on a tape: tokens are written there one after the other, without a look at how much is left.
struct TapeRoom: BitwiseCopyable {
  fileprivate let tokens: UnsafeMutablePointer<Token>
  /// How many tokens the tape has then.
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

  /// The word of a token that has one.
  func word(_ token: Token) -> UInt64 { words[token.index] }

  /// The bits of a number: an integer of any size, a floating-point number, a date. Of another token its index.
  func number(_ token: Token) -> UInt64 {
    token.hasWord ? words[token.index] : UInt64(bitPattern: token.integer)
  }
}

/// Where a container stands.
struct ContainerLocation: BitwiseCopyable {
  let begin: UInt32
  /// The token of its parent.
  let parent: UInt32
  /// Its index in its parent, if that is an array.
  let position: UInt32
}

/// The beginning of a container that is to be recorded.
struct ContainerStart: BitwiseCopyable {
  let token: Token
  fileprivate let parent: UInt32
  fileprivate let position: UInt32

  private static let noParent = UInt32.max

  /// - Parameter parent: The token of the parent of the container; negative at the top.
  @inline(__always)
  init(_ kind: Token.Kind, key: TokenKey, parent: Int, flags: UInt64 = 0, index: Int = 0) {
    token = Token(kind, key: key, flags: flags, index: index)
    self.parent = UInt32(truncatingIfNeeded: max(parent, -1))
    position = key.index
  }

  /// The slot or the index of the container in its parent.
  var key: TokenKey { TokenKey(slotBits: token.bits, index: position) }
  fileprivate var isInner: Bool { parent != Self.noParent }
  /// The token of its parent; −1 at the top.
  var parentToken: Int { isInner ? Int(parent) : -1 }
}

/// One entry of the tape: a value, or the beginning or end of a container.
///
/// Eight bytes: the kind (8 bits), the slot of the key in its key table (8), flags (16) and an index (32). The index
/// is a small integer itself, or it says where the value is: which string, which word or place of the tape, which
/// token, which keyTable or key list.
struct Token: BitwiseCopyable {
  private(set) var bits: UInt64

  enum Kind: UInt8 {
    case null, `false`, `true`
    case integer
    /// Those whose value is a word.
    case longInteger, unsigned, double, float, date
    case string, url
    /// A scalar that no word holds, in the form in which it is written.
    case wide
    case data
    case nestedNil
    /// A whole array that packs: of integers, of floating-point numbers, of Bools.
    case integers, doubles, bools
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

  struct Flags {
    /// The value's encoding threw and the error was swallowed: as if never written.
    static let dead: UInt64 = 1 << 16
    /// A container that was made by `nestedContainer`: it continues one that stands under the same key. Or a place that
    /// a single-value container was given a value for which encoded nothing: it is settled as an empty object.
    static let nested: UInt64 = 1 << 17
    /// A container that would have to continue one of another kind.
    static let mismatched: UInt64 = 1 << 18
  }

  @inline(__always)
  init(_ kind: Kind, key: TokenKey = TokenKey(), flags: UInt64 = 0, index: Int = 0) {
    bits =
      UInt64(kind.rawValue) | key.bits & TokenKey.slotMask | flags | UInt64(truncatingIfNeeded: index) << 32
  }

  var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: bits)).unsafelyUnwrapped }

  var slot: Int {
    get { Int(truncatingIfNeeded: bits >> 8 & 0xFF) }
    set { bits = bits & ~TokenKey.slotMask | UInt64(truncatingIfNeeded: newValue) << 8 }
  }

  var index: Int {
    get { Int(truncatingIfNeeded: bits >> 32) }
    set { bits = bits & 0xFFFF_FFFF | UInt64(truncatingIfNeeded: newValue) << 32 }
  }

  var integer: Int64 { Int64(bitPattern: bits) >> 32 }

  func has(_ flag: UInt64) -> Bool { bits & flag != 0 }
  mutating func set(_ flag: UInt64) { bits |= flag }
  mutating func clear(_ flags: UInt64) { bits &= ~flags }

  var flags: UInt64 { bits & (Flags.dead | Flags.nested) }

  var key: TokenKey { TokenKey(slotBits: bits, index: 0) }

  /// Whether the tokens of a container follow, up to its end.
  var isContainer: Bool { kind == .object || kind == .map || kind == .array }

  /// Whether this is an array or the beginning of one.
  var isArray: Bool { kind == .array || kind == .integers || kind == .doubles || kind == .bools }

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

/// Where a value stands in its container: the slot of its key in an object, or its index in an array. Neither in a map,
/// where the key is a token before the value.
///
/// A slot is kept where tokens keep it (bits 8 to 15), so that making a token takes one mask; an index is above, where
/// tokens have something else.
struct TokenKey: BitwiseCopyable {
  let bits: UInt64

  /// The bits that hold a slot.
  static let slotMask: UInt64 = 0xFF00

  /// Of a value in a map, or of the whole message.
  init() { bits = 0 }

  init(slot: Int) { bits = UInt64(truncatingIfNeeded: slot) << 8 }

  init(index: Int) { bits = UInt64(truncatingIfNeeded: index) << 32 }

  init(slotBits: UInt64, index: UInt32) { bits = slotBits & Self.slotMask | UInt64(index) << 32 }

  var slot: Int { Int(truncatingIfNeeded: bits >> 8 & 0xFF) }

  var index: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
}
