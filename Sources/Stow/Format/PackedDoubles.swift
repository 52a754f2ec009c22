/// The ways to write floating-point numbers without tags, and the choice among them (FORMAT.md, "Packed arrays").
///
/// Works on bit patterns. Where integers and floating-point numbers are mixed, as in documents that came from JSON, a
/// noisy decimal says with a residue of −128 that the number is an integer.
struct PackedDoubles {
  let type: UInt8
  let stride: Int

  /// The smallest form for `values`, of which there is one or more; nil where `integers` says that some are integers
  /// (then the word is the integer) and no form holds both.
  ///
  /// - Parameter cells: Room for as many. If the form is a decimal one, it holds them afterwards.
  static func best(
    for values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>? = nil,
    cells: UnsafeMutableBufferPointer<DecimalCell>
  ) -> PackedDoubles? {
    var best: PackedDoubles?
    if integers == nil {
      best =
        values.allSatisfy(isFloat)
        ? PackedDoubles(type: ElementType.float, stride: 4)
        : PackedDoubles(type: ElementType.double, stride: 8)
    }
    guard let decimal = decimal(for: values, integers, cells) else { return best }
    return decimal.stride < best?.stride ?? 8 ? decimal : best
  }

  /// Whether a `Float` holds the number, and not as a NaN, which conversions may change.
  static func isFloat(_ bits: UInt64) -> Bool {
    Double(Float(Double(bitPattern: bits))).bitPattern == bits
      && bits & 0x7FFF_FFFF_FFFF_FFFF <= 0x7FF0_0000_0000_0000
  }

  private static func decimal(
    for values: UnsafeBufferPointer<UInt64>, _ integers: UnsafeBufferPointer<Bool>?,
    _ cells: UnsafeMutableBufferPointer<DecimalCell>
  ) -> PackedDoubles? {
    // The fewest decimals with which every number is a decimal fraction, or next to one, as it is with `narrowest` and fewer.
    var (exponent, narrowest) = (0, ElementType.maximumExponent)
    var isNoisy = integers != nil
    for index in values.indices where integers?[index] != true {
      let value = Double(bitPattern: values[index])
      guard let widest = DecimalFraction.widestExponent(forMagnitude: value.magnitude),
        let (numerator, residue) = DecimalFraction.nearest(to: value, exponent: widest)
      else { return nil }
      cells[index] = DecimalCell(numerator, residue: residue)
      narrowest = min(narrowest, widest)
      isNoisy = isNoisy || residue != 0
      // Dividing the numerator would take longer.
      let fewer = DecimalFraction.rounded(value * DecimalFraction.power(exponent))
      if exponent < widest, fewer &* DecimalFraction.integerPower(widest &- exponent) != numerator {
        exponent = max(exponent, DecimalFraction.shortened(numerator, exponent: widest).exponent)
      }
    }
    // A type of exponent 0 has no room for a residue.
    let isRaised = isNoisy && exponent == 0
    if isRaised { exponent = 1 }
    let power = DecimalFraction.power(exponent)
    // Room for the widest cell, and for residues if a cell has one.
    var widest: Int64 = 0
    var residues: Int8 = isRaised ? 1 : 0
    for index in values.indices {
      let value = Double(bitPattern: values[index])
      if integers?[index] == true {
        guard let cell = DecimalCell(integer: Int64(bitPattern: values[index]), exponent: exponent) else {
          return nil
        }
        cells[index] = cell
      } else if exponent <= narrowest {
        // The same fraction with fewer decimals: what the number lies beside it is the same.
        cells[index] = DecimalCell(DecimalFraction.rounded(value * power), residue: cells[index].residue)
      } else {
        guard let (numerator, residue) = DecimalFraction.nearest(to: value, exponent: exponent) else {
          return nil
        }
        cells[index] = DecimalCell(numerator, residue: residue)
      }
      widest |= cells[index].numerator ^ (cells[index].numerator >> 63)
      residues |= cells[index].residue
    }
    let width = DecimalFraction.width(widest)
    guard width <= ElementType.maximumScaledWidth else { return nil }
    return residues != 0
      ? PackedDoubles(type: ElementType.noisy(exponent: exponent, width: width), stride: width + 1)
      : PackedDoubles(type: ElementType.scaled(exponent: exponent, width: width), stride: width)
  }

  /// The bytes of one element, in the lowest `stride` bytes of the result.
  ///
  /// - Parameter cell: What `best` made of it.
  func element(_ word: UInt64, _ cell: @autoclosure () -> DecimalCell) -> UInt64 {
    if type == ElementType.double { return word }
    if type == ElementType.float { return UInt64(Float(Double(bitPattern: word)).bitPattern) }
    return ElementType.isNoisy(type)
      ? cell().noisyElement(width: stride &- 1) : UInt64(bitPattern: cell().numerator)
  }

  func write(
    _ values: UnsafeBufferPointer<UInt64>, _ cells: UnsafeMutableBufferPointer<DecimalCell>,
    to writer: inout BackwardWriter
  ) {
    #if _endian(little)
      if type == ElementType.double { return writer.bytes(UnsafeRawBufferPointer(values)) }
    #endif
    writer.reserve(values.count * stride + BackwardWriter.margin)
    for index in values.indices.reversed() {
      writer.littleEndian(element(values[index], cells[index]), width: stride)
    }
  }
}

/// One of many numbers as a decimal fraction, while the form of all of them is chosen: its numerator and its residue in
/// one word. How many decimals it has, all of them have in common.
struct DecimalCell: BitwiseCopyable {
  private let bits: UInt64

  /// A cell for a numerator below `DecimalFraction.numeratorLimit`.
  init(_ numerator: Int64, residue: Int8) {
    bits = UInt64(bitPattern: numerator << 8) | UInt64(UInt8(bitPattern: residue))
  }

  /// A cell of an integer among floating-point numbers; nil if its numerator would be too large.
  init?(integer: Int64, exponent: Int) {
    let (numerator, overflow) = integer.multipliedReportingOverflow(
      by: DecimalFraction.integerPower(exponent))
    guard !overflow, numerator.magnitude < DecimalFraction.numeratorLimit.magnitude else { return nil }
    self.init(numerator, residue: ElementType.integerMark)
  }

  var numerator: Int64 { Int64(bitPattern: bits) >> 8 }
  var residue: Int8 { Int8(truncatingIfNeeded: bits) }

  /// The numerator in so many bytes, and after it the residue.
  func noisyElement(width: Int) -> UInt64 {
    let shift = UInt64(8 &* width)
    return UInt64(bitPattern: numerator) & ~(~0 &<< shift) | UInt64(UInt8(bitPattern: residue)) &<< shift
  }
}
