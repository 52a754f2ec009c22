/// A string of a pool: where it stands, and how it is used.
struct StringEntry: BitwiseCopyable {
  // The words of the string's `TextKey`, and its code and offset in one.
  private let first: UInt64
  private let second: UInt64
  private let place: UInt64
  /// How often the string is written as a value, and as a key.
  var valueUses: UInt32 = 0
  var keyUses: UInt32 = 0
  /// The number of its symbol, counted from one; 0 if it has none. While recording, its follower.
  var symbol: UInt32 = 0
  /// While recording, the uses until the table last forgot; after merging, the entry that stands for this
  /// one, counted from one; in a message with maps, the map in which the string was last seen as a key.
  var mark: UInt32 = 0

  @inline(__always)
  init(_ key: TextKey, offset: Int) {
    first = key.first
    second = key.second
    place = UInt64(key.code) | UInt64(offset) << 8
  }

  @inline(__always)
  var key: TextKey {
    TextKey(first: first, second: second, code: UInt8(truncatingIfNeeded: place))
  }

  @inline(__always)
  var offset: Int { Int(truncatingIfNeeded: place >> 8) }
  @inline(__always)
  var length: Int { key.length }
}
