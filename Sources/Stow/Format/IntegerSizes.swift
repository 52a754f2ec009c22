/// What some integers take if each has as many bytes as it needs.
struct IntegerSizes {
  /// The bytes of all in a table of own widths, which has none for a zero.
  private(set) var ownWidths = 0
  /// The bytes of all with their tags.
  private(set) var tagged = 0

  /// The tag, the length and the element type of a packed array at most.
  private static var headerSize: Int { 1 + Varint.longest + 1 }
  /// So many elements are looked at before asking whether they are enough.
  static var blockSize: Int { 1024 }

  /// Adds up the first of `values` and `element` of each other; nil where neither sum could get below `limit`.
  ///
  /// Most arrays have one width. That enough elements need `width` bytes is seen several at a time, while their
  /// sizes are added up one by one.
  @inline(__always)
  init?(_ values: UnsafeBufferPointer<Int64>, width: Int, below limit: Int, of element: (Int) -> Int64) {
    // An array whose length fits its tag may be shorter with tags though its elements are not.
    if values.count >= Arrays.shortLimit, Self.exceeds(limit, values.count, width, element) { return nil }
    add(values[0])
    for index in 1..<values.count { add(element(index)) }
  }

  /// Whether so many of `count` elements need `width` bytes that neither sum gets below `limit`.
  @inline(__always)
  private static func exceeds(_ limit: Int, _ count: Int, _ width: Int, _ element: (Int) -> Int64) -> Bool {
    // The limit leaves out what stands before elements without tags.
    let enough = limit - min(count / 2, count - headerSize)
    var wide = 0
    for start in stride(from: 1, to: count, by: blockSize) {
      wide += self.count(ofWidth: width, in: start..<min(start + blockSize, count), element)
      if wide * width >= enough { return true }
    }
    return false
  }

  @inline(__always)
  private mutating func add(_ value: Int64) {
    let size = DecimalFraction.width(value)
    ownWidths &+= size &- (value == 0 ? 1 : 0)
    tagged &+= Integers.smallRange.contains(value) ? 1 : 1 &+ size
  }

  /// How many elements take `width` bytes or more; of those of one byte, −1 is not counted.
  @inline(__always)
  private static func count(ofWidth width: Int, in range: Range<Int>, _ element: (Int) -> Int64) -> Int {
    let least: Int64 = width == 1 ? 1 : 1 << Int64(8 * width - 9)
    var below: UInt64 = 0
    for index in range {
      let value = element(index)
      // Neither is negative, so the difference has its highest bit set if the element is below.
      let difference = (value ^ (value >> 63)) &- least
      below &+= UInt64(bitPattern: difference) &>> 63
    }
    return range.count - Int(truncatingIfNeeded: below)
  }
}
