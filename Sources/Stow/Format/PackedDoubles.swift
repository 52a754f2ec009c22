/// The ways to write floating-point numbers without tags, and the choice among them (FORMAT.md, "Packed arrays").
///
/// Where integers are among them, as in documents from JSON, a noisy decimal marks an integer by a residue of −128.
struct PackedDoubles {
  let type: UInt8
  let stride: Int

  /// Returns the smallest form for one or more numbers; nil if some are integers and no form holds both.
  ///
  /// - Parameters:
  ///   - values: The bits of each number, or the integer where `integers` marks one.
  ///   - cells: Room for as many cells. If the form is a decimal one, they are filled.
  static func best(
    for values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>?,
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

  /// Returns whether a `Float` holds the number. It would not keep the bits of a NaN.
  static func isFloat(_ bits: UInt64) -> Bool {
    Double(Float(Double(bitPattern: bits))).bitPattern == bits
      && bits & 0x7FFF_FFFF_FFFF_FFFF <= 0x7FF0_0000_0000_0000
  }

  private static func decimal(
    for values: UnsafeBufferPointer<UInt64>, _ integers: UnsafeBufferPointer<Bool>?,
    _ cells: UnsafeMutableBufferPointer<DecimalCell>
  ) -> PackedDoubles? {
    var common = CommonDecimal(cells)
    for index in values.indices {
      if integers?[index] ?? false {
        common.append(DecimalCell(0, residue: 0))
      } else if !common.add(Double(bitPattern: values[index])) {
        return nil
      }
    }
    // A type of exponent 0 has no room for a residue.
    let exponent = common.isNoisy || integers != nil ? max(common.exponent, 1) : common.exponent
    let isRaised = exponent != common.exponent
    let isExact = !isRaised && common.isExact
    guard
      isExact && integers == nil || fill(cells, values, integers, exponent: exponent, onlyIntegers: isExact)
    else { return nil }
    // Room for the widest cell, and for residues if a cell has one.
    var widest: Int64 = 0
    var residues: Int8 = isRaised ? 1 : 0
    for cell in cells[..<values.count] {
      widest |= cell.numerator ^ (cell.numerator >> 63)
      residues |= cell.residue
    }
    let width = Integers.width(widest)
    guard width <= ElementType.maximumScaledWidth else { return nil }
    return residues != 0
      ? PackedDoubles(type: ElementType.noisy(exponent: exponent, width: width), stride: width + 1)
      : PackedDoubles(type: ElementType.scaled(exponent: exponent, width: width), stride: width)
  }

  /// Makes cells with `exponent` decimals, of integers and perhaps of all numbers, if each has one.
  @inline(never)
  private static func fill(
    _ cells: UnsafeMutableBufferPointer<DecimalCell>, _ values: UnsafeBufferPointer<UInt64>,
    _ integers: UnsafeBufferPointer<Bool>?, exponent: Int, onlyIntegers: Bool
  ) -> Bool {
    for index in values.indices {
      if integers?[index] ?? false {
        guard let cell = DecimalCell(integer: Int64(bitPattern: values[index]), exponent: exponent) else {
          return false
        }
        cells[index] = cell
      } else if !onlyIntegers {
        let value = Double(bitPattern: values[index])
        guard let (numerator, residue) = DecimalFraction.nearest(to: value, exponent: exponent) else { return false }
        cells[index] = DecimalCell(numerator, residue: residue)
      }
    }
    return true
  }

  var exponent: Int? {
    if type == ElementType.double || type == ElementType.float { return nil }
    return type >= ElementType.integral ? 0 : Int(type >> 4)
  }

  /// Returns one element, in the lowest `stride` bytes.
  ///
  /// - Parameter cell: The cell that `best` made of it.
  func element(_ word: UInt64, _ cell: @autoclosure () -> DecimalCell) -> UInt64 {
    if type == ElementType.double { return word }
    if type == ElementType.float { return UInt64(Float(Double(bitPattern: word)).bitPattern) }
    return ElementType.isNoisy(type) ? cell().noisyElement(width: stride &- 1) : UInt64(bitPattern: cell().numerator)
  }

  func write(
    _ values: UnsafeBufferPointer<UInt64>, _ cells: UnsafeMutableBufferPointer<DecimalCell>,
    to writer: inout BackwardWriter
  ) {
    #if _endian(little)
      if type == ElementType.double { return writer.bytes(UnsafeRawBufferPointer(values)) }
    #endif
    writer.reserve(values.count * stride + BackwardWriter.margin)
    for index in values.indices.reversed() { writer.littleEndian(element(values[index], cells[index]), width: stride) }
  }
}

/// What floating-point numbers have in common as decimal fractions, and the cell of each: found with one division each.
private struct CommonDecimal {
  /// The fewest decimals with which every number is a decimal fraction, or next to one.
  private(set) var exponent = 0
  /// Whether a number is only next to one.
  private(set) var isNoisy = false
  /// The fewest decimals with which one of the numbers was looked at.
  private var narrowest = ElementType.maximumExponent
  /// The numbers taken in, with `exponent` decimals.
  private let cells: UnsafeMutableBufferPointer<DecimalCell>
  private var count = 0

  /// - Parameter cells: Room for all numbers.
  init(_ cells: UnsafeMutableBufferPointer<DecimalCell>) { self.cells = cells }

  /// Whether what was found holds with `exponent` decimals for every number.
  var isExact: Bool { exponent <= narrowest }

  /// Takes in one more number, unless it is not such a fraction.
  mutating func add(_ value: Double) -> Bool {
    guard let widest = DecimalFraction.widestExponent(forMagnitude: value.magnitude),
      let (wide, residue) = DecimalFraction.nearest(to: value, exponent: widest)
    else { return false }
    narrowest = min(narrowest, widest)
    isNoisy = isNoisy || residue != 0
    var numerator = wide
    if exponent < widest {
      // Dividing the numerator would take longer.
      numerator = DecimalFraction.rounded(value * DecimalFraction.power(exponent))
      if numerator &* DecimalFraction.integerPower(widest &- exponent) != wide {
        numerator = raise(for: wide, exponent: widest)
      }
    }
    append(DecimalCell(numerator, residue: residue))
    return true
  }

  mutating func append(_ cell: DecimalCell) {
    cells[count] = cell
    count &+= 1
  }

  /// Raises `exponent` to as many decimals as a fraction needs, and returns its numerator with as many.
  @inline(never)
  private mutating func raise(for numerator: Int64, exponent widest: Int) -> Int64 {
    let (_, fewest) = DecimalFraction.shortened(numerator, exponent: widest)
    let factor = DecimalFraction.integerPower(max(0, fewest - exponent))
    exponent = max(exponent, fewest)
    // They stay below the limit of numerators, unless this is not exact.
    for index in 0..<count {
      cells[index] = DecimalCell(cells[index].numerator &* factor, residue: cells[index].residue)
    }
    return numerator / DecimalFraction.integerPower(widest - exponent)
  }
}

/// One of many numbers as a decimal fraction with as many decimals as the others: numerator and residue in one word.
struct DecimalCell: BitwiseCopyable {
  private let bits: UInt64

  /// A cell for a numerator below `DecimalFraction.numeratorLimit`.
  init(_ numerator: Int64, residue: Int8) {
    bits = UInt64(bitPattern: numerator << 8) | UInt64(UInt8(bitPattern: residue))
  }

  /// Makes the cell of an integer among floating-point numbers; nil if its numerator would be too large.
  init?(integer: Int64, exponent: Int) {
    let (numerator, overflow) = integer.multipliedReportingOverflow(by: DecimalFraction.integerPower(exponent))
    guard !overflow, numerator.magnitude < DecimalFraction.numeratorLimit.magnitude else { return nil }
    self.init(numerator, residue: ElementType.integerMark)
  }

  var numerator: Int64 { Int64(bitPattern: bits) >> 8 }
  var residue: Int8 { Int8(truncatingIfNeeded: bits) }

  /// Returns the numerator in `width` bytes, followed by the residue.
  func noisyElement(width: Int) -> UInt64 {
    let shift = UInt64(8 &* width)
    return UInt64(bitPattern: numerator) & ~(~0 &<< shift) | UInt64(UInt8(bitPattern: residue)) &<< shift
  }
}
