/// What some integers take if each has as many bytes as it needs.
struct IntegerSizes {
  /// The bytes of all in a table of own widths, which has none for a zero.
  private(set) var ownWidths = 0
  /// The bytes of all with their tags.
  private(set) var tagged = 0

  /// The tag, the length and the element type of a packed array at most.
  private static var headerSize: Int { 1 + Varint.longest + 1 }

  /// Adds up the elements, of which the widest takes `width` bytes; nil where neither sum could get below `limit`.
  ///
  /// Most arrays have one width. That nearly all elements need it is seen several at a time, while their sizes are
  /// added up one by one.
  @inline(__always)
  init?(_ count: Int, _ width: Int, below limit: Int, of element: (Int) -> Int64) {
    let widest = Self.count(ofWidth: width, in: count, element)
    let rest = count - widest
    // The limit leaves out what stands before elements without tags.
    guard widest * width + count / 2 < limit || widest * (width + 1) + rest < limit + Self.headerSize else {
      return nil
    }
    for index in 0..<count {
      let value = element(index)
      let size = DecimalFraction.width(value)
      ownWidths &+= size &- (value == 0 ? 1 : 0)
      tagged &+= Tag.smallIntegers.contains(value) ? 1 : 1 &+ size
    }
  }

  /// How many elements take `width` bytes, the most that any takes.
  @inline(__always)
  private static func count(ofWidth width: Int, in count: Int, _ element: (Int) -> Int64) -> Int {
    // What is below takes fewer bytes; where one byte is the most, only zero does, which takes none.
    let least: UInt64 = width == 1 ? 1 : 1 << UInt64(8 * width - 9)
    var below: UInt64 = 0
    for index in 0..<count {
      let value = element(index)
      let bits = width == 1 ? UInt64(bitPattern: value) & 0xFF : UInt64(bitPattern: value ^ (value >> 63))
      // Neither has its highest bit set, so the difference has it if it is negative.
      below &+= (bits &- least) &>> 63
    }
    return count - Int(below)
  }
}
