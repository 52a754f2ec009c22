/// The bytes that each of some integers takes at most.
struct IntegerWidths {
  let signed: Int
  /// Without a sign; nil if there are negative ones.
  let unsigned: Int?

  /// All bits that matter are gathered, and looked at once.
  init(_ values: UnsafeBufferPointer<Int64>) {
    var all: Int64 = 0
    var magnitudes: Int64 = 0
    for value in values {
      all |= value
      magnitudes |= value ^ (value >> 63)
    }
    signed = DecimalFraction.width(magnitudes)
    unsigned = all < 0 ? nil : max(1, (71 - all.leadingZeroBitCount) >> 3)
  }

  /// The element type of least width: signed, unless doing without a sign saves a byte.
  var fixedType: (type: UInt8, width: Int) {
    if let unsigned, unsigned < signed { return (ElementType.unsigned + UInt8(unsigned), unsigned) }
    return (UInt8(signed), signed)
  }
}
