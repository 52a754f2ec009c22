/// The ways to write floating-point numbers without tags, and the choice among them (FORMAT.md, "Packed
/// arrays").
///
/// Works on bit patterns. Where integers and floating-point numbers are mixed, as in documents that came
/// from JSON, a noisy decimal says with a residue of −128 that the number is an integer.
struct PackedDoubles {
  let type: UInt8
  let stride: Int

  static let double = PackedDoubles(type: ElementType.double, stride: 8)
  /// The residue that marks an integer among floating-point numbers.
  static let integerMark: Int8 = -128

  /// The smallest form for `values`, of which there is one or more; nil where `integers` says that some
  /// are integers (then the word is the integer) and no form holds both.
  static func best(
    for values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>? = nil
  ) -> PackedDoubles? {
    let mixed = integers != nil
    var best = mixed ? nil : Self.double
    if !mixed, values.allSatisfy(isFloat) { best = PackedDoubles(type: ElementType.float, stride: 4) }
    guard let decimal = decimal(for: values, integers: integers) else { return best }
    return decimal.stride < best?.stride ?? 8 ? decimal : best
  }

  /// Whether a `Float` holds the number, and not as a NaN, which conversions may change.
  @inline(__always)
  static func isFloat(_ bits: UInt64) -> Bool {
    Double(Float(Double(bitPattern: bits))).bitPattern == bits
      && bits & 0x7FFF_FFFF_FFFF_FFFF <= 0x7FF0_0000_0000_0000
  }

  private static func decimal(
    for values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>?
  ) -> PackedDoubles? {
    var common = CommonDecimal()
    var leastInteger = Int64.max
    var greatestInteger = Int64.min
    for index in values.indices {
      if integers?[index] ?? false {
        let integer = Int64(bitPattern: values[index])
        leastInteger = min(leastInteger, integer)
        greatestInteger = max(greatestInteger, integer)
      } else if !common.add(Double(bitPattern: values[index])) {
        return nil
      }
    }
    let noisy = common.isNoisy || integers != nil
    // A type of exponent 0 has no room for a residue.
    let exponent = noisy ? max(common.exponent, 1) : common.exponent
    guard exponent == common.exponent, common.isExact else {
      let isRaised = exponent != common.exponent
      return decimal(for: values, integers: integers, exponent: exponent, noisy: isRaised || integers != nil)
    }
    var (minimum, maximum) = (common.minimum, common.maximum)
    if leastInteger <= greatestInteger {
      guard let (least, _) = cell(UInt64(bitPattern: leastInteger), exponent: exponent, isInteger: true),
        let (greatest, _) = cell(UInt64(bitPattern: greatestInteger), exponent: exponent, isInteger: true)
      else { return nil }
      minimum = min(minimum, least)
      maximum = max(maximum, greatest)
    }
    return form(exponent: exponent, minimum: minimum, maximum: maximum, noisy: noisy)
  }

  /// With the exponent given, and with residues if any number needs one or `noisy` says so.
  @inline(never)
  private static func decimal(
    for values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>?, exponent: Int, noisy: Bool
  ) -> PackedDoubles? {
    var noisy = noisy
    var minimum = Int64.max
    var maximum = Int64.min
    for index in values.indices {
      guard
        let (numerator, residue) = cell(
          values[index], exponent: exponent, isInteger: integers?[index] ?? false)
      else { return nil }
      noisy = noisy || residue != 0
      minimum = min(minimum, numerator)
      maximum = max(maximum, numerator)
    }
    return form(exponent: exponent, minimum: minimum, maximum: maximum, noisy: noisy)
  }

  private static func form(exponent: Int, minimum: Int64, maximum: Int64, noisy: Bool) -> PackedDoubles? {
    let width = max(DecimalFraction.width(minimum), DecimalFraction.width(maximum))
    guard width <= ElementType.maximumScaledWidth else { return nil }
    return noisy
      ? PackedDoubles(type: ElementType.noisy(exponent: exponent, width: width), stride: width + 1)
      : PackedDoubles(type: ElementType.scaled(exponent: exponent, width: width), stride: width)
  }

  /// Numerator and residue of one value.
  @inline(__always)
  private static func cell(_ word: UInt64, exponent: Int, isInteger: Bool) -> (
    numerator: Int64, residue: Int8
  )? {
    if !isInteger { return DecimalFraction.nearest(to: Double(bitPattern: word), exponent: exponent) }
    let (numerator, overflow) = Int64(bitPattern: word).multipliedReportingOverflow(
      by: DecimalFraction.integerPower(exponent))
    return overflow || numerator.magnitude >= DecimalFraction.numeratorLimit ? nil : (numerator, integerMark)
  }

  /// How many decimals the elements have; nil if they are no decimal fractions.
  var exponent: Int? {
    if type == ElementType.double || type == ElementType.float { return nil }
    return type >= ElementType.integral ? 0 : Int(type >> 4)
  }

  /// The bytes of one element, in the lowest `stride` bytes of the result.
  @inline(__always)
  func element(_ word: UInt64, isInteger: Bool = false) -> UInt64 {
    guard let exponent else {
      return type == ElementType.double ? word : UInt64(Float(Double(bitPattern: word)).bitPattern)
    }
    guard let (numerator, residue) = Self.cell(word, exponent: exponent, isInteger: isInteger) else {
      preconditionFailure("a form that was found to hold every value does not")
    }
    let bits = UInt64(bitPattern: numerator)
    guard ElementType.isNoisy(type) else { return bits }
    let width = UInt64(8 * (stride - 1))
    return bits & ~(~0 << width) | UInt64(UInt8(bitPattern: residue)) << width
  }

  /// Writes the elements.
  func write(
    _ values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>? = nil,
    to writer: inout BackwardWriter
  ) {
    #if _endian(little)
      if type == ElementType.double {
        writer.bytes(UnsafeRawBufferPointer(values))
        return
      }
    #endif
    writer.reserve(values.count * stride + BackwardWriter.margin)
    for index in values.indices.reversed() {
      writer.littleEndian(element(values[index], isInteger: integers?[index] ?? false), width: stride)
    }
  }
}
