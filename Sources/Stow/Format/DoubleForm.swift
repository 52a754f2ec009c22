/// The form in which a floating-point number takes the fewest bytes (FORMAT.md, "Floating point").
struct DoubleForm {
  let tag: UInt8
  /// The scale byte of the decimal forms; absent in the others.
  let scale: UInt8?
  let body: UInt64
  let width: Int

  /// The bytes of the whole value.
  @inline(__always)
  var size: Int { 1 + (scale == nil ? 0 : 1) + width }

  @inline(__always)
  init(_ bits: UInt64) {
    let value = Double(bitPattern: bits)
    if value.magnitude < 0x1p31 {
      let integer = DecimalFraction.rounded(value)
      if Double(integer).bitPattern == bits {
        self.init(integral: integer)
        return
      }
    }
    self.init(fraction: bits)
  }

  @inline(__always)
  private init(integral: Int64) {
    width = DecimalFraction.width(integral)
    tag = Tag.integral &+ UInt8(truncatingIfNeeded: width &- 1)
    scale = nil
    body = UInt64(bitPattern: integral)
  }

  @inline(never)
  private init(fraction bits: UInt64) {
    let value = Double(bitPattern: bits)
    if let numerator = DecimalFraction.shortNumerator(of: value) {
      self.init(short: numerator)
      return
    }
    let isFloat = PackedDoubles.isFloat(bits)
    let float = UInt64(isFloat ? Float(value).bitPattern : 0)
    if let exponent = DecimalFraction.widestExponent(forMagnitude: value.magnitude),
      let (numerator, residue) = DecimalFraction.nearest(to: value, exponent: exponent),
      let decimal = DoubleForm(numerator, exponent: exponent, residue: residue),
      decimal.size < (isFloat ? 5 : 9) || decimal.tag >= Tag.shortDecimal
    {
      self = decimal
    } else if isFloat {
      self.init(tag: Tag.float, scale: nil, body: float, width: 4)
    } else {
      self.init(tag: Tag.double, scale: nil, body: bits, width: 8)
    }
  }

  /// The bytes of a number in its shortest form, of which a decimal form is known.
  static func size(_ bits: UInt64, _ cell: DecimalCell, exponent: Int) -> Int {
    let value = Double(bitPattern: bits)
    guard let widest = DecimalFraction.widestExponent(forMagnitude: value.magnitude), exponent <= widest
    else {
      return DoubleForm(bits).size
    }
    let (numerator, exponent) = shortened(cell.numerator, exponent: exponent)
    let width = DecimalFraction.width(numerator)
    let result: Int
    if cell.residue == 0, exponent == 0 ? value.magnitude < 0x1p31 : exponent <= 4 && width <= 4 {
      result = 1 + width
    } else {
      let decimal = width > ElementType.maximumScaledWidth ? Int.max : width + (cell.residue == 0 ? 2 : 3)
      result = min(PackedDoubles.isFloat(bits) ? 5 : 9, decimal)
    }
    assert(result == DoubleForm(bits).size)
    return result
  }

  private init(tag: UInt8, scale: UInt8?, body: UInt64, width: Int) {
    self.tag = tag
    self.scale = scale
    self.body = body
    self.width = width
  }

  /// A fraction of `DecimalFraction.shortExponent` decimals, with as few as it needs.
  @inline(__always)
  private init(short numerator: Int64) {
    var numerator = numerator
    var exponent = DecimalFraction.shortExponent
    if numerator % 100 == 0 {
      numerator /= 100
      exponent &-= 2
    }
    if numerator % 10 == 0 {
      numerator /= 10
      exponent &-= 1
    }
    let width = DecimalFraction.width(numerator)
    let tag = Tag.shortDecimal &+ UInt8(truncatingIfNeeded: (exponent &- 1) &* 4 &+ width &- 1)
    self.init(tag: tag, scale: nil, body: UInt64(bitPattern: numerator), width: width)
  }

  /// The same decimal fraction with as few decimals as it needs.
  @inline(__always)
  private static func shortened(_ numerator: Int64, exponent: Int) -> (numerator: Int64, exponent: Int) {
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

  /// A decimal fraction with as few decimals as it needs; nil if it takes more than 6 bytes.
  private init?(_ numerator: Int64, exponent: Int, residue: Int8) {
    let (numerator, exponent) = Self.shortened(numerator, exponent: exponent)
    let width = DecimalFraction.width(numerator)
    guard width <= ElementType.maximumScaledWidth else { return nil }
    let scale = UInt8(exponent) << 4 | UInt8(width)
    let bits = UInt64(bitPattern: numerator)
    if residue != 0 {
      let shift = UInt64(8 * width)
      let body = bits & ~(~0 << shift) | UInt64(UInt8(bitPattern: residue)) << shift
      self.init(tag: Tag.noisyDecimal, scale: scale, body: body, width: width + 1)
    } else if (1...4).contains(exponent), width <= 4 {
      let tag = Tag.shortDecimal + UInt8((exponent - 1) * 4 + width - 1)
      self.init(tag: tag, scale: nil, body: bits, width: width)
    } else {
      self.init(tag: Tag.decimal, scale: scale, body: bits, width: width)
    }
  }
}

extension BackwardWriter {
  /// A floating-point number in its shortest form. Within a reserve.
  @inline(__always)
  mutating func double(_ bits: UInt64) {
    let form = DoubleForm(bits)
    littleEndian(form.body, width: form.width)
    if let scale = form.scale { byte(scale) }
    byte(form.tag)
  }

  /// A date: its seconds in a decimal form if that is shorter than 8 bytes. Within a reserve.
  mutating func date(_ bits: UInt64) {
    let form = DoubleForm(bits)
    switch form.tag {
    case Tag.integral...Tag.lastIntegral:
      littleEndian(form.body, width: form.width)
      byte(UInt8(form.width))
      byte(Tag.scaledDate)
    case Tag.shortDecimal...Tag.lastShortDecimal:
      littleEndian(form.body, width: form.width)
      byte(((form.tag - Tag.shortDecimal) >> 2 + 1) << 4 | UInt8(form.width))
      byte(Tag.scaledDate)
    case Tag.decimal where form.width < 7:
      littleEndian(form.body, width: form.width)
      byte(form.scale ?? 0)
      byte(Tag.scaledDate)
    default:
      littleEndian(bits, width: 8)
      byte(Tag.date)
    }
  }

  /// The bytes that `date` writes.
  static func size(ofDate bits: UInt64) -> Int {
    let form = DoubleForm(bits)
    switch form.tag {
    case Tag.integral...Tag.lastIntegral, Tag.shortDecimal...Tag.lastShortDecimal: return form.width + 2
    case Tag.decimal where form.width < 7: return form.width + 2
    default: return 9
    }
  }
}
