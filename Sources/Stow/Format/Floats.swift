/// Floating-point numbers, in the form in which each takes the fewest bytes (FORMAT.md, "Floating point").
enum Floats {
  static let double: UInt8 = 0x0E
  static let float: UInt8 = 0x0F
  /// An integral value of 1 to 4 bytes: `integral + width - 1`.
  static let integral: UInt8 = 0x10
  static let lastIntegral: UInt8 = 0x13
  /// A decimal fraction with its scale byte: what `shortDecimal` has no room for.
  static let decimal: UInt8 = 0x14
  /// The same, and a residue: how many representable numbers lie between it and the value.
  static let noisyDecimal: UInt8 = 0x15
  /// Exponent 1 to 4, width 1 to 4: `shortDecimal + (exponent - 1) * 4 + width - 1`.
  static let shortDecimal: UInt8 = 0x20
  static let lastShortDecimal: UInt8 = 0x2F

  static func isFloat(_ tag: UInt8) -> Bool {
    tag >= double && tag <= noisyDecimal || tag >= shortDecimal && tag <= lastShortDecimal
  }

  // MARK: writing

  /// Writes a number in its shortest form. Within a reserve.
  @inline(__always)
  static func write(_ bits: UInt64, to writer: inout BackwardWriter) {
    let form = DoubleForm(bits)
    writer.littleEndian(form.body, width: form.width)
    if let scale = form.scale { writer.byte(scale) }
    writer.byte(form.tag)
  }

  /// Writes the bits of a `Float`. Within a reserve.
  static func write(float bits: UInt64, to writer: inout BackwardWriter) {
    writer.littleEndian(bits, width: 4)
    writer.byte(float)
  }

  // MARK: reading

  /// Reads the number at `offset`, and the offset after it. Integers are not converted here.
  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Double {
    if try reader.byte(at: offset) == double {
      let bits = try reader.word(at: offset &+ 1)
      next = offset &+ 9
      return Double(bitPattern: bits)
    }
    return try readCompact(reader, at: offset, next: &next)
  }

  @inline(never)
  private static func readCompact(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Double {
    let tag = reader.base[offset]
    switch tag {
    case shortDecimal...lastShortDecimal, integral...lastIntegral:
      // Both widths are the lowest bits of the tag, and integral values have no decimals.
      let width = Int(tag & 3) + 1
      let value = try reader.signed(at: offset + 1, width: width)
      next = offset + 1 + width
      return DecimalFraction.value(value, exponent: tag < shortDecimal ? 0 : Int(tag - shortDecimal) >> 2 + 1)
    case float:
      let bits = try reader.halfWord(at: offset + 1)
      next = offset + 5
      return Double(Float(bitPattern: bits))
    case decimal:
      return try scaled(reader, at: offset + 1, next: &next)
    case noisyDecimal:
      let value = try scaled(reader, at: offset + 1, next: &next)
      let residue = Int8(bitPattern: try reader.byte(at: next))
      next += 1
      return DecimalFraction.adding(residue: residue, to: value)
    default: try fail(.mismatch, at: offset)
    }
  }

  /// Reads a scale byte and an integer: a decimal fraction.
  static func scaled(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Double {
    let scale = try reader.byte(at: offset)
    let width = Int(scale & 15)
    let exponent = Int(scale >> 4)
    guard width >= 1, width <= ElementType.maximumScaledWidth, exponent <= ElementType.maximumExponent else {
      try fail(.malformed, at: offset)
    }
    let value = try reader.signed(at: offset + 1, width: width)
    next = offset + 1 + width
    return DecimalFraction.value(value, exponent: exponent)
  }

  /// Reads a `Float` that was written as one, and the offset after it; nil for every other form.
  static func float(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Float? {
    guard try reader.byte(at: offset) == float else { return nil }
    let bits = try reader.halfWord(at: offset &+ 1)
    next = offset &+ 5
    return Float(bitPattern: bits)
  }
}

/// A floating-point number in its shortest form, as in a message.
struct DoubleForm {
  let tag: UInt8
  /// The scale byte of the decimal forms; absent in the others.
  let scale: UInt8?
  let body: UInt64
  let width: Int

  var size: Int { 1 + (scale == nil ? 0 : 1) + width }

  init(_ bits: UInt64) {
    let value = Double(bitPattern: bits)
    if value.magnitude < 0x1p31 {
      let integer = DecimalFraction.rounded(value)
      if Double(integer).bitPattern == bits {
        let width = Integers.width(integer)
        let tag = Floats.integral &+ UInt8(truncatingIfNeeded: width &- 1)
        self.init(tag: tag, body: UInt64(bitPattern: integer), width: width)
        return
      }
    }
    self = Self.fraction(bits)
  }

  private init(tag: UInt8, scale: UInt8? = nil, body: UInt64, width: Int) {
    self.tag = tag
    self.scale = scale
    self.body = body
    self.width = width
  }

  @inline(never)
  private static func fraction(_ bits: UInt64) -> DoubleForm {
    let value = Double(bitPattern: bits)
    if DecimalFraction.isFarFromAny(value) { return binary(bits) }
    if let numerator = DecimalFraction.shortNumerator(of: value),
      let short = DoubleForm(numerator, exponent: 4, residue: 0)
    {
      return short
    }
    let binary = binary(bits)
    if let exponent = DecimalFraction.widestExponent(forMagnitude: value.magnitude),
      let (numerator, residue) = DecimalFraction.nearest(to: value, exponent: exponent),
      let decimal = DoubleForm(numerator, exponent: exponent, residue: residue),
      decimal.size < binary.size || decimal.tag >= Floats.shortDecimal
    {
      return decimal
    }
    return binary
  }

  private static func binary(_ bits: UInt64) -> DoubleForm {
    PackedDoubles.isFloat(bits)
      ? DoubleForm(tag: Floats.float, body: UInt64(Float(Double(bitPattern: bits)).bitPattern), width: 4)
      : DoubleForm(tag: Floats.double, body: bits, width: 8)
  }

  /// Returns the size of a number in its shortest form, given a decimal form of it.
  static func size(_ bits: UInt64, _ cell: DecimalCell, exponent: Int) -> Int {
    let value = Double(bitPattern: bits)
    guard let widest = DecimalFraction.widestExponent(forMagnitude: value.magnitude), exponent <= widest
    else { return DoubleForm(bits).size }
    let (numerator, exponent) = DecimalFraction.shortened(cell.numerator, exponent: exponent)
    let width = Integers.width(numerator)
    if cell.residue == 0, exponent <= 4, width <= 4 { return 1 + width }
    let decimal = width > ElementType.maximumScaledWidth ? Int.max : width + (cell.residue == 0 ? 2 : 3)
    return min(PackedDoubles.isFloat(bits) ? 5 : 9, decimal)
  }

  /// Takes as few decimals as the fraction needs; nil if it takes more than 6 bytes.
  @inline(__always)
  private init?(_ numerator: Int64, exponent: Int, residue: Int8) {
    let (numerator, exponent) = DecimalFraction.shortened(numerator, exponent: exponent)
    let width = Integers.width(numerator)
    guard width <= ElementType.maximumScaledWidth else { return nil }
    let scale = UInt8(exponent) << 4 | UInt8(width)
    if residue != 0 {
      let body = DecimalCell(numerator, residue: residue).noisyElement(width: width)
      self.init(tag: Floats.noisyDecimal, scale: scale, body: body, width: width + 1)
    } else if (1...4).contains(exponent), width <= 4 {
      let tag = Floats.shortDecimal + UInt8((exponent - 1) * 4 + width - 1)
      self.init(tag: tag, body: UInt64(bitPattern: numerator), width: width)
    } else {
      self.init(tag: Floats.decimal, scale: scale, body: UInt64(bitPattern: numerator), width: width)
    }
  }
}

/// Floating-point numbers that are decimal fractions, or next to one (FORMAT.md, "Floating point").
///
/// Most numbers that people write down take 8 bytes as a binary fraction, and 1 to 4 as an integer over a power
/// of ten. A number computed from such decimals is a few representable numbers away from one: the *residue*.
enum DecimalFraction {
  /// Numerators up to 6 bytes.
  static let numeratorLimit: Int64 = 1 << 47

  static func power(_ exponent: Int) -> Double {
    switch exponent {
    case 0: 1
    case 1: 1e1
    case 2: 1e2
    case 3: 1e3
    case 4: 1e4
    case 5: 1e5
    case 6: 1e6
    case 7: 1e7
    case 8: 1e8
    default: 1e9
    }
  }

  /// Returns the number for a numerator and an exponent: the correctly rounded quotient.
  static func value(_ numerator: Int64, exponent: Int) -> Double {
    exponent == 0 ? Double(numerator) : Double(numerator) / power(exponent)
  }

  static func adding(residue: Int8, to value: Double) -> Double {
    Double(bitPattern: value.bitPattern &+ UInt64(bitPattern: Int64(residue)))
  }

  /// Returns the nearest decimal fraction with `exponent` decimals, and the residue; nil if that is beyond ±127
  /// or the fraction takes more than 6 bytes.
  static func nearest(to value: Double, exponent: Int) -> (numerator: Int64, residue: Int8)? {
    let scaled = value * power(exponent)
    // Also false for NaN.
    guard scaled.magnitude < Double(numeratorLimit) else { return nil }
    let numerator = rounded(scaled)
    let back = Self.value(numerator, exponent: exponent)
    guard let residue = Int8(exactly: Int64(bitPattern: value.bitPattern &- back.bitPattern)),
      residue != Int8.min
    else { return nil }
    return (numerator, residue)
  }

  /// Returns true only if a number is not next to a decimal fraction of up to 9 decimals, and below 100,000. This takes
  /// a product, and finding the fraction takes divisions.
  @inline(__always)
  static func isFarFromAny(_ value: Double) -> Bool {
    guard value.magnitude < 100_000, value.magnitude > 0x1p-1000 else { return false }
    let scaled = value * 1e9
    // A residue is less than 2⁻⁴⁵ of the number, unless that is subnormal.
    return (scaled - Double(rounded(scaled))).magnitude > scaled.magnitude * 0x1p-44
  }

  /// Returns the numerator of a number below 100,000 with at most 4 decimals, as most prices and measurements
  /// are. With more decimals, it would have zeros at its end, which take long to strip.
  static func shortNumerator(of value: Double) -> Int64? {
    guard value.magnitude < 100_000 else { return nil }
    let numerator = rounded(value * 1e4)
    return (Double(numerator) / 1e4).bitPattern == value.bitPattern ? numerator : nil
  }

  /// Returns the nearest integer, for magnitudes below 2⁵¹, without a call: the numbers from 2⁵² to 2⁵³ are
  /// integers, whose bits count up from those of the origin.
  static func rounded(_ value: Double) -> Int64 {
    let origin = 0x1.8p52
    return Int64(bitPattern: (value + origin).bitPattern &- origin.bitPattern)
  }

  /// Returns the exponent to try: the largest whose numerators are small enough for a division to be exact.
  static func widestExponent(forMagnitude magnitude: Double) -> Int? {
    if magnitude < 100_000 { return 9 }
    if magnitude < 100_000_000 { return 6 }
    if magnitude < 10_000_000_000 { return 4 }
    return magnitude < 100_000_000_000_000 ? 0 : nil
  }

  static func shortened(_ numerator: Int64, exponent: Int) -> (numerator: Int64, exponent: Int) {
    var (numerator, exponent) = (numerator, exponent)
    if exponent >= 5, numerator % 100_000 == 0 {
      numerator /= 100_000
      exponent -= 5
    }
    while exponent > 0, numerator % 10 == 0 {
      numerator /= 10
      exponent -= 1
    }
    return (numerator, exponent)
  }

  static func integerPower(_ exponent: Int) -> Int64 { Int64(power(exponent)) }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float {
    /// The same number; a NaN keeps its bits, which conversion may change.
    init(preserving value: Float16) {
      guard value.isNaN else {
        self.init(value)
        return
      }
      let bits = UInt32(value.bitPattern)
      self.init(bitPattern: (bits & 0x8000) << 16 | 0x7F80_0000 | (bits & 0x3FF) << 13)
    }
  }

  extension Float16 {
    /// The nearest number; a NaN keeps the bits there is room for.
    init(preserving value: Float) {
      guard value.isNaN else {
        self.init(value)
        return
      }
      let payload = UInt16(truncatingIfNeeded: value.bitPattern >> 13 & 0x3FF)
      let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 16 & 0x8000)
      self.init(bitPattern: sign | 0x7C00 | (payload == 0 ? 0x200 : payload))
    }
  }
#endif
