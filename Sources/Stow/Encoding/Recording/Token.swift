/// One entry of the tape: a value, or the beginning or end of a container.
///
/// Eight bytes: the kind (8 bits), the slot of the key in its key table (8), flags (16) and an index (32). The index
/// is a small integer itself, or it says where the value is: which string, which word or place of the tape, which
/// token, which keyTable or key list.
struct Token: BitwiseCopyable {
  private(set) var bits: UInt64

  enum Kind: UInt8 {
    case null, `false`, `true`
    /// An integer of 32 bits.
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
    /// An object that was asked for nothing.
    case empty
    /// The place of a value that is written later, or never.
    case deferred
    /// What follows up to its end belongs to the container that the index names.
    case segment
    /// What follows up to its end is the value of the deferred place that the index names.
    case fill
  }

  struct Flags {
    /// The value's encoding threw and the error was swallowed: as if never written.
    static let dead: UInt64 = 1 << 16
    /// The container was made by `nestedContainer`: it continues one that stands under the same key.
    static let nested: UInt64 = 1 << 17
    /// A deferred place where a container began that failed: its tokens follow up to its end.
    static let failedContainer: UInt64 = 1 << 18
  }

  @inline(__always)
  init(_ kind: Kind, key: TokenKey = TokenKey(), flags: UInt64 = 0, index: Int = 0) {
    bits =
      UInt64(kind.rawValue) | key.bits & TokenKey.slotMask | flags | UInt64(truncatingIfNeeded: index) << 32
  }

  @inline(__always)
  var kind: Kind { unsafeBitCast(UInt8(truncatingIfNeeded: bits), to: Kind.self) }

  @inline(__always)
  var slot: Int {
    get { Int(truncatingIfNeeded: bits >> 8 & 0xFF) }
    set { bits = bits & ~TokenKey.slotMask | UInt64(truncatingIfNeeded: newValue) << 8 }
  }

  @inline(__always)
  var index: Int {
    get { Int(truncatingIfNeeded: bits >> 32) }
    set { bits = bits & 0xFFFF_FFFF | UInt64(truncatingIfNeeded: newValue) << 32 }
  }

  /// The value of an integer of 32 bits.
  @inline(__always)
  var integer: Int64 { Int64(bitPattern: bits) >> 32 }

  func has(_ flag: UInt64) -> Bool { bits & flag != 0 }
  mutating func set(_ flag: UInt64) { bits |= flag }
  mutating func clear(_ flags: UInt64) { bits &= ~flags }

  /// The slot, as the key of another token.
  var key: TokenKey { TokenKey(slotBits: bits, index: 0) }

  /// Whether the tokens of a container follow, up to its end.
  var begins: Bool { isContainer || kind == .deferred && has(Flags.failedContainer) }

  /// Whether this is the beginning of a container.
  @inline(__always)
  var isContainer: Bool { kind == .object || kind == .map || kind == .array }

  /// Whether this is an array or the beginning of one.
  var isArray: Bool { kind == .array || kind == .integers || kind == .doubles || kind == .bools }

  @inline(__always)
  var isInteger: Bool { kind == .integer || kind == .longInteger }

  /// Whether the value is a word of the tape.
  @inline(__always)
  var hasWord: Bool {
    switch kind {
    case .longInteger, .unsigned, .double, .float, .date: true
    default: false
    }
  }

  /// The index of a deferred place without a value, as `index` reads it.
  static let unfilled = Int(truncatingIfNeeded: UInt32.max)
}
