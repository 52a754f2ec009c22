/// One entry of the tape: a value, or the beginning or end of a container.
///
/// 16 bytes without references. The head holds the kind (8 bits), the slot of the key in its schema (16),
/// flags (8) and an index (32): of a string, a schema or a key list. The payload holds the value itself or
/// the index of what holds it; at the beginning of a container its parent and its index there.
struct Token: BitwiseCopyable {
  var head: UInt64
  var payload: UInt64

  enum Kind: UInt8 {
    case null, `false`, `true`, integer, unsigned, wide, double, float
    case string, url
    case date, uuid, decimal, data
    case nestedNil
    /// A whole array that packs: of integers, of floating-point numbers, of Bools.
    case integers, doubles, bools
    /// A container whose keys are slots of a schema.
    case object
    /// A container whose keys are tokens before its values.
    case map
    case array
    case end
    case key
    /// An object that was asked for nothing.
    case empty
    /// The place of a value that is written later, or never.
    case deferred
    /// What follows up to its end belongs to the container in the payload.
    case segment
    /// What follows up to its end is the value of the deferred place in the payload.
    case fill
  }

  struct Flags {
    /// The value's encoding threw and the error was swallowed: as if never written.
    static let dead: UInt64 = 1 << 24
    /// The container was made by `nestedContainer`: it continues one that stands under the same key.
    static let nested: UInt64 = 1 << 25
    /// A deferred place where a container began that failed: its tokens follow up to its end.
    static let failedContainer: UInt64 = 1 << 27
    /// An integer of 128 bits that is not negative.
    static let unsigned: UInt64 = 1 << 26
  }

  @inline(__always)
  init(_ kind: Kind, key: UInt64 = 0, flags: UInt64 = 0, index: Int = 0, payload: UInt64 = 0) {
    head = UInt64(kind.rawValue) | key & Self.slotMask | flags | UInt64(truncatingIfNeeded: index) << 32
    self.payload = payload
  }

  /// The bits of a head, and of a key as containers pass it, that hold a slot.
  static let slotMask: UInt64 = 0xFF_FF00

  @inline(__always)
  var kind: Kind { unsafeBitCast(UInt8(truncatingIfNeeded: head), to: Kind.self) }
  @inline(__always)
  var slot: Int { Int(truncatingIfNeeded: head >> 8 & 0xFFFF) }
  @inline(__always)
  var index: Int { Int(truncatingIfNeeded: head >> 32) }
  @inline(__always)
  var target: Int { Int(truncatingIfNeeded: payload) }

  func has(_ flag: UInt64) -> Bool { head & flag != 0 }

  /// Whether the tokens of a container follow, up to its end.
  var begins: Bool {
    kind == .object || kind == .map || kind == .array || kind == .deferred && has(Flags.failedContainer)
  }

  /// Whether this is an array or the beginning of one.
  var isArray: Bool { kind == .array || kind == .integers || kind == .doubles || kind == .bools }

  /// At the beginning of a container: the token of its parent; nil at the top.
  var parent: Int? {
    let parent = UInt32(truncatingIfNeeded: payload)
    return parent == Self.noParent ? nil : Int(parent)
  }

  /// At the beginning of a container: its index in its parent, if that is an array.
  var position: Int { Int(truncatingIfNeeded: payload >> 32) }

  /// The slot and the index of a container's key, as containers pass them.
  var key: UInt64 { head & Self.slotMask | payload & 0xFFFF_FFFF_0000_0000 }

  static let noParent = UInt32.max
  /// The payload of a deferred place without a value.
  static let unfilled = UInt64.max

  /// The beginning of a container.
  @inline(__always)
  static func container(_ kind: Kind, key: UInt64, parent: Int, flags: UInt64 = 0, index: Int = 0) -> Token {
    Token(
      kind, key: key, flags: flags, index: index,
      payload: UInt64(UInt32(truncatingIfNeeded: max(parent, -1))) | key & 0xFFFF_FFFF_0000_0000)
  }
}

/// The tokens of one message, in the order in which they were recorded.
typealias Tape = GrowableBuffer<Token>

extension GrowableBuffer where Element == Token {
  init() { self.init(capacity: 64) }
}
