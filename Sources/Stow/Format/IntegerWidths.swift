/// The bytes that each of some integers takes at most.
struct IntegerWidths {
  let signed: Int
  /// Without a sign; nil if there are negative ones.
  let unsigned: Int?

  /// All bits that matter are gathered, and looked at once; those of magnitudes only if there are negative ones.
  init(_ values: UnsafeBufferPointer<Int64>) {
    if let all = Self.bits(ofNonNegative: values) {
      signed = DecimalFraction.width(all)
      unsigned = max(1, (71 - all.leadingZeroBitCount) >> 3)
      return
    }
    var magnitudes: Int64 = 0
    for value in values { magnitudes |= value ^ (value >> 63) }
    signed = DecimalFraction.width(magnitudes)
    unsigned = nil
  }

  /// All bits of some integers; nil if one is negative.
  private static func bits(ofNonNegative values: UnsafeBufferPointer<Int64>) -> Int64? {
    var all: Int64 = 0
    for start in stride(from: 0, to: values.count, by: blockSize) {
      for value in UnsafeBufferPointer(rebasing: values[start..<min(start + blockSize, values.count)]) {
        all |= value
      }
      if all < 0 { return nil }
    }
    return all
  }

  /// So many are looked at before asking whether one was negative.
  private static let blockSize = 1024

  /// The element type of least width: signed, unless doing without a sign saves a byte.
  var fixedType: (type: UInt8, width: Int) {
    if let unsigned, unsigned < signed { return (ElementType.unsigned + UInt8(unsigned), unsigned) }
    return (UInt8(signed), signed)
  }
}
