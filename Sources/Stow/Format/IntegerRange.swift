/// The smallest and largest of some integers.
struct IntegerRange {
  private let minimum: Int64
  private let maximum: Int64

  /// Four at a time: one comparison does not have to wait for the one before it.
  private init(_ values: UnsafeBufferPointer<Int64>) {
    var (least, greatest) = (values[0], values[0])
    var (least2, least3, least4) = (least, least, least)
    var (greatest2, greatest3, greatest4) = (greatest, greatest, greatest)
    var index = 0
    while index &+ 4 <= values.count {
      let (one, two, three, four) =
        (values[index], values[index &+ 1], values[index &+ 2], values[index &+ 3])
      least = min(least, one)
      least2 = min(least2, two)
      least3 = min(least3, three)
      least4 = min(least4, four)
      greatest = max(greatest, one)
      greatest2 = max(greatest2, two)
      greatest3 = max(greatest3, three)
      greatest4 = max(greatest4, four)
      index &+= 4
    }
    while index < values.count {
      least = min(least, values[index])
      greatest = max(greatest, values[index])
      index &+= 1
    }
    minimum = min(min(least, least2), min(least3, least4))
    maximum = max(max(greatest, greatest2), max(greatest3, greatest4))
  }

  private static let sampleSize = 64

  /// Of some values, spread over all.
  private init(sampleOf values: UnsafeBufferPointer<Int64>) {
    var (least, greatest) = (values[0], values[0])
    for index in stride(from: 0, to: values.count, by: max(1, values.count / Self.sampleSize)) {
      least = min(least, values[index])
      greatest = max(greatest, values[index])
    }
    minimum = least
    maximum = greatest
  }

  /// The bytes that each takes above the least of them, at least one.
  private var offsetWidth: Int {
    max(1, (71 - (maximum &- minimum).leadingZeroBitCount) >> 3)
  }

  /// The least of `values` and the bytes that each takes above it, if those are fewer than `width`.
  static func offsets(of values: UnsafeBufferPointer<Int64>, below width: Int) -> (base: Int64, width: Int)? {
    // Most arrays that spread far show it in a few of their elements.
    guard IntegerRange(sampleOf: values).offsetWidth < width else { return nil }
    let range = IntegerRange(values)
    let offsetWidth = range.offsetWidth
    return offsetWidth < width ? (range.minimum, offsetWidth) : nil
  }
}
