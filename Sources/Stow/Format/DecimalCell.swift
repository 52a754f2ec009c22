/// One of many numbers as a decimal fraction, while the form of all of them is chosen: its numerator and its residue in
/// one word. How many decimals it has, all of them have in common.
struct DecimalCell: BitwiseCopyable {
  private let bits: UInt64

  /// A cell for a numerator below `DecimalFraction.numeratorLimit`.
  @inline(__always)
  init(_ numerator: Int64, residue: Int8) {
    bits = UInt64(bitPattern: numerator << 8) | UInt64(UInt8(bitPattern: residue))
  }

  /// A cell of an integer among floating-point numbers.
  ///
  /// - Returns: nil if its numerator would be too large.
  @inline(__always)
  init?(integer: Int64, exponent: Int) {
    let (numerator, overflow) = integer.multipliedReportingOverflow(
      by: DecimalFraction.integerPower(exponent))
    guard !overflow, numerator.magnitude < DecimalFraction.numeratorLimit.magnitude else { return nil }
    self.init(numerator, residue: ElementType.integerMark)
  }

  @inline(__always)
  var numerator: Int64 { Int64(bitPattern: bits) >> 8 }
  @inline(__always)
  var residue: Int8 { Int8(truncatingIfNeeded: bits) }

  /// The same number with more decimals: the numerator times `factor`.
  @inline(__always)
  func scaled(by factor: Int64) -> DecimalCell { DecimalCell(numerator &* factor, residue: residue) }

  /// The numerator in so many bytes, and the residue behind it.
  @inline(__always)
  func noisyElement(width: Int) -> UInt64 {
    let shift = UInt64(8 &* width)
    return UInt64(bitPattern: numerator) & ~(~0 &<< shift) | UInt64(UInt8(bitPattern: residue)) &<< shift
  }
}
