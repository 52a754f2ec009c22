/// What one message recorded, in the order in which it came: a token for every value, and beside the tokens what
/// does not fit one.
///
/// Three buffers in one piece of memory. A token has at most one word and at most one place, so that if there is
/// room for a token there is room in all three.
struct Tape: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Token>
  private(set) var count = 0
  /// The numbers that are longer than 32 bits.
  private var words: UnsafeMutablePointer<UInt64>
  private(set) var wordCount = 0
  /// Where each container stands that is in another, in the order of their tokens. Only coding paths ask for it.
  private var places: UnsafeMutablePointer<ContainerPlace>
  private var placeCount = 0
  private var capacity: Int
  private var retention = Retention()

  private static let initialCapacity = 64
  /// A tape of this size is always kept for the next message.
  private static let smallCapacity = 1 << 17
  /// More tokens than these, which take 4 MiB without their words, are never kept.
  private static let mostRetained = 1 << 19
  private static let bytesPerToken =
    MemoryLayout<Token>.stride + MemoryLayout<UInt64>.stride + MemoryLayout<ContainerPlace>.stride

  init() {
    let capacity = Self.initialCapacity
    self.init(PageMemory.allocate(capacity * Self.bytesPerToken), capacity: capacity)
  }

  private init(_ memory: UnsafeMutableRawPointer, capacity: Int) {
    self.capacity = capacity
    base = memory.bindMemory(to: Token.self, capacity: capacity)
    let behindTokens = memory + capacity * MemoryLayout<Token>.stride
    words = behindTokens.bindMemory(to: UInt64.self, capacity: capacity)
    let behindWords = behindTokens + capacity * MemoryLayout<UInt64>.stride
    places = behindWords.bindMemory(to: ContainerPlace.self, capacity: capacity)
  }

  deinit { PageMemory.deallocate(base, byteCount: capacity * Self.bytesPerToken) }

  // MARK: recording

  @inline(__always)
  mutating func append(_ token: Token) {
    if count == capacity { grow() }
    base[count] = token
    count &+= 1
  }

  /// Appends a value of 64 bits.
  @inline(__always)
  mutating func append(_ kind: Token.Kind, key: UInt64, word: UInt64) {
    append(Token(kind, key: key, index: wordCount))
    words[wordCount] = word
    wordCount &+= 1
  }

  @inline(__always)
  mutating func append(_ container: ContainerStart) {
    append(container.token)
    guard container.isInner else { return }
    places[placeCount] = ContainerPlace(
      begin: UInt32(truncatingIfNeeded: count &- 1), parent: container.parent, position: container.position)
    placeCount &+= 1
  }

  @inline(never)
  private mutating func grow() {
    // Tokens and words are named by 32-bit indices.
    let limit = Int(clamping: UInt32.max) - 1
    let (memory, newCapacity) = PageMemory.allocateMore(
      than: capacity, atLeast: capacity + 1, atMost: limit, stride: Self.bytesPerToken)
    var larger = Tape(memory, capacity: newCapacity)
    larger.base.update(from: base, count: count)
    larger.words.update(from: words, count: wordCount)
    larger.places.update(from: places, count: placeCount)
    (larger.count, larger.wordCount, larger.placeCount) = (count, wordCount, placeCount)
    swap(&self, &larger)
  }

  /// Drops the last token, which has no word and no place.
  mutating func removeLast() {
    precondition(count > 0 && !base[count - 1].hasWord && !base[count - 1].isContainer)
    count -= 1
  }

  /// Lends `body` the memory of the places, which are lost, for so many elements; memory of its own if that is too little,
  /// or the tape may be kept.
  mutating func withMemoryOfPlaces<Element: BitwiseCopyable, Result>(
    for type: Element.Type, capacity elements: Int, _ body: (UnsafeMutableBufferPointer<Element>) -> Result
  ) -> Result {
    assert(MemoryLayout<Element>.alignment <= MemoryLayout<UInt64>.alignment)
    let isEnough =
      elements * MemoryLayout<Element>.stride <= capacity * MemoryLayout<ContainerPlace>.stride
    guard count > Self.mostRetained, isEnough else {
      return PageMemory.withTemporary(of: type, capacity: elements, body)
    }
    placeCount = 0
    let memory = UnsafeMutableRawPointer(places)
    defer { memory.bindMemory(to: ContainerPlace.self, capacity: capacity) }
    return body(
      UnsafeMutableBufferPointer(start: memory.bindMemory(to: type, capacity: elements), count: elements))
  }

  /// Gives back the memory of all places, unless the tape may be kept.
  mutating func discardPlaces() {
    guard count > Self.mostRetained else { return }
    placeCount = 0
    let size = capacity * Self.bytesPerToken
    let offset = capacity * (MemoryLayout<Token>.stride + MemoryLayout<UInt64>.stride)
    PageMemory.discard(offset..<size, of: base, byteCount: size)
  }

  /// Gives back the memory of the tokens from `index` on, unless the tape may be kept.
  func discardTokens(from index: Int) {
    guard count > Self.mostRetained else { return }
    let stride = MemoryLayout<Token>.stride
    PageMemory.discard(
      index * stride..<count * stride, of: base, byteCount: capacity * Self.bytesPerToken)
  }

  /// Forgets everything, and the memory if it is large and not likely to be needed soon.
  mutating func removeAll() {
    if capacity > Self.smallCapacity { trim() }
    (count, wordCount, placeCount) = (0, 0, 0)
  }

  @inline(never)
  private mutating func trim() {
    if !retention.keepsMemory(used: count, limit: Self.mostRetained) { self = Tape() }
  }

  // MARK: reading

  @inline(__always)
  subscript(index: Int) -> Token {
    get {
      precondition(index >= 0 && index < count)
      return base[index]
    }
    set {
      precondition(index >= 0 && index < count)
      base[index] = newValue
    }
  }

  /// Where the container that begins at `begin` stands; nil if it is in no other. Takes logarithmic time.
  func place(ofContainer begin: Int) -> ContainerPlace? {
    var range = 0..<placeCount
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      if places[middle].begin < begin {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    guard range.lowerBound < placeCount, places[range.lowerBound].begin == begin else { return nil }
    return places[range.lowerBound]
  }

  /// The tokens and words, for a walk over them.
  var view: TapeView { TapeView(tokens: UnsafeBufferPointer(start: base, count: count), words: words) }
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
struct ContainerPlace: BitwiseCopyable {
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

  /// - Parameters:
  ///   - key: The slot or the index of the container in its parent, as containers pass it.
  ///   - parent: The token of its parent; negative at the top.
  @inline(__always)
  init(_ kind: Token.Kind, key: UInt64, parent: Int, flags: UInt64 = 0, index: Int = 0) {
    token = Token(kind, key: key, flags: flags, index: index)
    self.parent = UInt32(truncatingIfNeeded: max(parent, -1))
    position = UInt32(truncatingIfNeeded: key >> 32)
  }

  /// The slot and the index of the container, as containers pass them.
  var key: UInt64 { token.key | UInt64(position) << 32 }
  /// Whether it is in another.
  @inline(__always)
  fileprivate var isInner: Bool { parent != Self.noParent }
  /// The token of its parent; −1 at the top.
  var parentToken: Int { isInner ? Int(parent) : -1 }
}
