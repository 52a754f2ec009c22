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
  @inline(__always)
  init() { bits = 0 }

  @inline(__always)
  init(slot: Int) { bits = UInt64(truncatingIfNeeded: slot) << 8 }

  @inline(__always)
  init(index: Int) { bits = UInt64(truncatingIfNeeded: index) << 32 }

  @inline(__always)
  init(slotBits: UInt64, index: UInt32) { bits = slotBits & Self.slotMask | UInt64(index) << 32 }

  @inline(__always)
  var slot: Int { Int(truncatingIfNeeded: bits >> 8 & 0xFF) }

  @inline(__always)
  var index: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
}
