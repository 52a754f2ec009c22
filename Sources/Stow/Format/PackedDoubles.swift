/// The ways to write floating-point numbers without tags, and the choice among them (FORMAT.md, "Packed
/// arrays").
///
/// Works on bit patterns. Where integers and floating-point numbers are mixed, as in documents that came
/// from JSON, a noisy decimal says with a residue of −128 that the number is an integer.
struct PackedDoubles {
  let type: UInt8
  let stride: Int

  static let double = PackedDoubles(type: ElementType.double, stride: 8)

  /// The smallest form for `values`, of which there is one or more; nil where `integers` says that some
  /// are integers (then the word is the integer) and no form holds both.
  ///
  /// - Parameter cells: Room for as many. If the form is a decimal one, it holds them afterwards.
  static func best(
    for values: UnsafeBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>? = nil,
    cells: UnsafeMutableBufferPointer<DecimalCell>
  ) -> PackedDoubles? {
    let mixed = integers != nil
    var best = mixed ? nil : Self.double
    if !mixed, values.allSatisfy(isFloat) { best = PackedDoubles(type: ElementType.float, stride: 4) }
    guard let decimal = decimal(for: values, integers, cells) else { return best }
    return decimal.stride < best?.stride ?? 8 ? decimal : best
  }

  /// Whether a `Float` holds the number, and not as a NaN, which conversions may change.
  @inline(__always)
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
        common.skip()
      } else if !common.add(Double(bitPattern: values[index])) {
        return nil
      }
    }
    // A type of exponent 0 has no room for a residue.
    let exponent = common.isNoisy || integers != nil ? max(common.exponent, 1) : common.exponent
    if exponent != common.exponent || !common.isExact {
      guard fill(cells, values, integers, exponent: exponent) else { return nil }
    }
    if let integers {
      guard fill(cells, integers: values, integers, exponent: exponent) else { return nil }
    }
    return form(
      of: UnsafeBufferPointer(rebasing: cells[..<values.count]), exponent: exponent,
      isNoisy: exponent != common.exponent)
  }

  /// Makes the cells of all numbers but the integers anew; false if one has none.
  @inline(never)
  private static func fill(
    _ cells: UnsafeMutableBufferPointer<DecimalCell>, _ values: UnsafeBufferPointer<UInt64>,
    _ integers: UnsafeBufferPointer<Bool>?, exponent: Int
  ) -> Bool {
    for index in values.indices where !(integers?[index] ?? false) {
      let value = Double(bitPattern: values[index])
      guard let (numerator, residue) = DecimalFraction.nearest(to: value, exponent: exponent) else {
        return false
      }
      cells[index] = DecimalCell(numerator, residue: residue)
    }
    return true
  }

  /// Makes the cells of the integers; false if one has none.
  @inline(never)
  private static func fill(
    _ cells: UnsafeMutableBufferPointer<DecimalCell>, integers values: UnsafeBufferPointer<UInt64>,
    _ areIntegers: UnsafeBufferPointer<Bool>, exponent: Int
  ) -> Bool {
    for index in values.indices where areIntegers[index] {
      guard let cell = DecimalCell(integer: Int64(bitPattern: values[index]), exponent: exponent) else {
        return false
      }
      cells[index] = cell
    }
    return true
  }

  /// The form that has room for the widest cell, and for residues if a cell has one or `isNoisy` says so.
  private static func form(
    of cells: UnsafeBufferPointer<DecimalCell>, exponent: Int, isNoisy: Bool
  ) -> PackedDoubles? {
    var widest: Int64 = 0
    var residues: Int8 = isNoisy ? 1 : 0
    for cell in cells {
      widest |= cell.numerator ^ (cell.numerator >> 63)
      residues |= cell.residue
    }
    let width = DecimalFraction.width(widest)
    guard width <= ElementType.maximumScaledWidth else { return nil }
    return residues != 0
      ? PackedDoubles(type: ElementType.noisy(exponent: exponent, width: width), stride: width + 1)
      : PackedDoubles(type: ElementType.scaled(exponent: exponent, width: width), stride: width)
  }

  /// How many decimals the elements have; nil if they are no decimal fractions.
  var exponent: Int? {
    if type == ElementType.double || type == ElementType.float { return nil }
    return type >= ElementType.integral ? 0 : Int(type >> 4)
  }

  /// The bytes of one element, in the lowest `stride` bytes of the result.
  ///
  /// - Parameter cell: What `best` made of it.
  @inline(__always)
  func element(_ word: UInt64, _ cell: @autoclosure () -> DecimalCell) -> UInt64 {
    if type == ElementType.double { return word }
    if type == ElementType.float { return UInt64(Float(Double(bitPattern: word)).bitPattern) }
    return ElementType.isNoisy(type)
      ? cell().noisyElement(width: stride &- 1) : UInt64(bitPattern: cell().numerator)
  }

  /// Writes the elements.
  func write(
    _ values: UnsafeBufferPointer<UInt64>, _ cells: UnsafeMutableBufferPointer<DecimalCell>,
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
      writer.littleEndian(element(values[index], cells[index]), width: stride)
    }
  }
}
