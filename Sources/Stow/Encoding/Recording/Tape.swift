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
/// index of an object that of its key table. What came out of line is noted by tokens of its own, which `Normalizer`
/// resolves: `deferred` and `fill` for a value that came late, `segment` for a container that was continued.
struct Tape: ~Copyable {
  private var entries = GrowableBuffer<Token>(capacity: 64)
  /// The numbers that are longer than 32 bits.
  private var words = GrowableBuffer<UInt64>(capacity: 32)
  /// Where each container stands that is in another, in the order of their tokens. Only coding paths ask for it.
  private var locations = GrowableBuffer<ContainerLocation>(capacity: 32)

  @inline(__always)
  var count: Int { entries.count }

  /// Whether the first token begins an object, and no container is inside. Only of a tape as it was recorded: one that
  /// was put in line has no locations.
  @inline(__always)
  var isFlatObject: Bool { locations.count == 0 && count > 0 && self[0].kind == .object }

  // MARK: recording

  @inline(__always)
  mutating func append(_ token: Token) { entries.append(token) }

  /// Appends a value of 64 bits.
  @inline(__always)
  mutating func append(_ kind: Token.Kind, key: TokenKey, word: UInt64) {
    entries.append(Token(kind, key: key, index: words.count), word, to: &words)
  }

  @inline(__always)
  mutating func append(_ container: ContainerStart) {
    if container.isInner {
      locations.append(
        ContainerLocation(
          begin: UInt32(truncatingIfNeeded: count), parent: container.parent, position: container.position))
    }
    entries.append(container.token)
  }

  /// Drops the last token, which has no word and no location.
  mutating func removeLast() {
    precondition(count > 0 && !self[count - 1].hasWord && !self[count - 1].isContainer)
    entries.truncate(to: count - 1)
  }

  /// Forgets everything, and the memory if it is large and not likely to be needed soon.
  @inline(__always)
  mutating func removeAll() {
    entries.removeAll()
    words.removeAll()
    locations.removeAll()
  }

  // MARK: reading

  @inline(__always)
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

/// The tokens and words of a tape that nobody writes to.
struct TapeView {
  let tokens: UnsafeBufferPointer<Token>
  fileprivate let words: UnsafePointer<UInt64>

  @inline(__always)
  subscript(index: Int) -> Token { tokens[index] }

  /// The bits of a number: an integer of any size, a floating-point number, a date. Of another token its index.
  @inline(__always)
  func number(_ token: Token) -> UInt64 {
    token.hasWord ? words[token.index] : UInt64(bitPattern: token.integer)
  }
}

/// Where a container stands.
struct ContainerLocation: BitwiseCopyable {
  /// Its token.
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
  /// Whether it is in another.
  @inline(__always)
  fileprivate var isInner: Bool { parent != Self.noParent }
  /// The token of its parent; −1 at the top.
  var parentToken: Int { isInner ? Int(parent) : -1 }
}
