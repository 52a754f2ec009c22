/// What floating-point numbers have in common as decimal fractions, and the cell of each: found in one walk, with one
/// division for each.
struct CommonDecimal {
  /// The fewest decimals with which every number is a decimal fraction, or next to one.
  private(set) var exponent = 0
  /// Whether a number is only next to one.
  private(set) var isNoisy = false
  /// The fewest decimals with which one of the numbers was looked at.
  private var narrowest = DecimalFraction.widestExponent
  /// The numbers taken in, with `exponent` decimals.
  private let cells: UnsafeMutableBufferPointer<DecimalCell>
  private var count = 0

  /// - Parameter cells: Room for all numbers.
  init(_ cells: UnsafeMutableBufferPointer<DecimalCell>) { self.cells = cells }

  /// Whether what was found holds with `exponent` decimals for every number.
  var isExact: Bool { exponent <= narrowest }

  /// Takes one more number in; false if it is no such fraction.
  @inline(__always)
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
        raise(to: widest - DecimalFraction.trailingZeros(wide, limit: widest - exponent))
        numerator = wide / DecimalFraction.integerPower(widest - exponent)
      }
    }
    append(DecimalCell(numerator, residue: residue))
    return true
  }

  /// Leaves a cell to something else.
  mutating func skip() { append(DecimalCell(0, residue: 0)) }

  @inline(__always)
  private mutating func append(_ cell: DecimalCell) {
    cells[count] = cell
    count &+= 1
  }

  @inline(never)
  private mutating func raise(to exponent: Int) {
    let factor = DecimalFraction.integerPower(exponent - self.exponent)
    self.exponent = exponent
    // They stay below the limit of numerators, unless this is not exact.
    for index in 0..<count { cells[index] = cells[index].scaled(by: factor) }
  }
}
