/// The smallest and largest of some integers, and so the bytes that each of them takes at most.
struct IntegerRange {
  let minimum: Int64
  let maximum: Int64

  /// Four at a time: one comparison does not have to wait for the one before it.
  init(_ values: UnsafeBufferPointer<Int64>) {
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

  var signedWidth: Int { max(DecimalFraction.width(minimum), DecimalFraction.width(maximum)) }

  /// The bytes that each takes above the least of them; nil if that takes 8.
  var offsetWidth: Int? {
    let span = UInt64(bitPattern: maximum &- minimum)
    return span >> 56 == 0 ? max(1, (71 - span.leadingZeroBitCount) >> 3) : nil
  }

  /// The element type of least width: signed, unless doing without a sign saves a byte.
  var fixedType: (type: UInt8, width: Int) {
    let signed = signedWidth
    if minimum >= 0 {
      let unsigned = max(1, (71 - maximum.leadingZeroBitCount) >> 3)
      if unsigned < signed { return (ElementType.unsigned + UInt8(unsigned), unsigned) }
    }
    return (UInt8(signed), signed)
  }

  /// The bytes that each difference of neighbours takes at most.
  static func signedWidth(ofDifferencesOf values: UnsafeBufferPointer<Int64>) -> Int {
    var bits: Int64 = 0
    for index in 1..<values.count {
      let difference = values[index] &- values[index &- 1]
      bits |= difference ^ (difference >> 63)
    }
    return DecimalFraction.width(bits)
  }
}
