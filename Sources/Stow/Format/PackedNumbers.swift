/// The ways to write integers without tags, and the choice among them (FORMAT.md, "Packed arrays").
struct PackedIntegers {
  let type: UInt8
  /// The bytes after the element type.
  let bodySize: Int
  /// The integer that the elements are counted from, in a form that has one.
  private var base: Int64 = 0

  // MARK: choosing

  /// Returns the smallest form for two or more `values`, and how many bytes they take with tags, unless these are
  /// certainly more. Of equal forms it is the first of: fixed width, fixed width above the least, own widths,
  /// differences of fixed width, differences of own widths.
  static func best(for values: UnsafeBufferPointer<Int64>) -> (packed: PackedIntegers, taggedSize: Int?) {
    let fixed = FixedIntegers(values)
    var best = PackedIntegers(
      type: fixed.type, bodySize: fixed.baseSize + values.count * fixed.width, base: fixed.base ?? 0)
    let sizes = IntegerSizes(values, width: fixed.signedWidth, below: best.bodySize) { values[$0] }
    if let sizes { best.consider(ElementType.ownWidths, bodySize: ownWidthsSize(values.count, sizes)) }
    if differencesLookSmaller(values) { best.considerDifferences(of: values) }
    // An integer that is its own tag takes no more than in a packed array.
    let areTags = sizes == nil && fixed.signedWidth == 1 && values.allSatisfy(Integers.smallRange.contains)
    return (best, sizes?.tagged ?? (areTags ? values.count : nil))
  }

  private mutating func considerDifferences(of values: UnsafeBufferPointer<Int64>) {
    let firstWidth = Integers.width(values[0])
    var width = 0
    var size = 0
    var bits: Int64 = 0
    // If differences are wide, a few of them show it.
    for start in stride(from: 1, to: values.count, by: IntegerSizes.blockSize) {
      for index in start..<min(start + IntegerSizes.blockSize, values.count) {
        let difference = values[index] &- values[index &- 1]
        bits |= difference ^ (difference >> 63)
      }
      width = Integers.width(bits)
      size = 1 + firstWidth + (values.count - 1) * width
      if size >= bodySize { break }
    }
    consider(ElementType.deltas + UInt8(width), bodySize: size)
    let sizes = IntegerSizes(values, width: width, below: bodySize) { values[$0] &- values[$0 &- 1] }
    if let sizes { consider(ElementType.ownWidthDeltas, bodySize: Self.ownWidthsSize(values.count, sizes)) }
  }

  /// Returns whether differences are worth a walk over all elements, judging by a few of them.
  private static func differencesLookSmaller(_ values: UnsafeBufferPointer<Int64>) -> Bool {
    var saved = 0
    for index in 1...min(64, values.count - 1) {
      saved += byteCount(values[index]) - byteCount(values[index] &- values[index - 1])
    }
    return saved > 0
  }

  private mutating func consider(_ type: UInt8, bodySize: Int) {
    if bodySize < self.bodySize { self = PackedIntegers(type: type, bodySize: bodySize) }
  }

  private static func ownWidthsSize(_ count: Int, _ sizes: IntegerSizes) -> Int {
    Varint.size(count) + (count + 1) / 2 + sizes.ownWidths
  }

  /// Returns how many bytes an element takes in a table of own widths: 0 for a zero.
  fileprivate static func byteCount(_ value: Int64) -> Int { Integers.width(value) &- (value == 0 ? 1 : 0) }

  // MARK: writing

  func write(_ values: UnsafeBufferPointer<Int64>, to writer: inout BackwardWriter) {
    writer.reserve(bodySize + BackwardWriter.margin)
    switch type {
    case ElementType.ownWidths: writeOwnWidths(values, to: &writer) { values[$0] }
    case ElementType.ownWidthDeltas:
      writeOwnWidths(values, to: &writer) { $0 == 0 ? values[0] : values[$0] &- values[$0 - 1] }
    case ElementType.fixedDeltas:
      let width = Int(type - ElementType.deltas)
      for index in stride(from: values.count - 1, to: 0, by: -1) {
        writer.littleEndian(UInt64(bitPattern: values[index] &- values[index - 1]), width: width)
      }
      let firstWidth = Integers.width(values[0])
      writer.littleEndian(UInt64(bitPattern: values[0]), width: firstWidth)
      writer.byte(UInt8(firstWidth))
    case 1, ElementType.unsigned + 1: Self.narrow(values, to: &writer, as: UInt8.self)
    case 2, ElementType.unsigned + 2: Self.narrow(values, to: &writer, as: UInt16.self)
    case 4, ElementType.unsigned + 4: Self.narrow(values, to: &writer, as: UInt32.self)
    case 8: Self.narrow(values, to: &writer, as: UInt64.self)
    default:
      let width = Int(type & 15)
      for value in values.reversed() { writer.littleEndian(UInt64(bitPattern: value &- base), width: width) }
      if ElementType.isOffset(type) { Integers.write(base, to: &writer) }
    }
  }

  /// Writes the lowest bytes of each element, many at a time.
  private static func narrow<Cell: FixedWidthInteger>(
    _ values: UnsafeBufferPointer<Int64>, to writer: inout BackwardWriter, as _: Cell.Type
  ) {
    let size = MemoryLayout<Cell>.size
    writer.fill(values.count * size) { target in
      for index in 0..<values.count {
        let cell = Cell(truncatingIfNeeded: values[index]).littleEndian
        target.storeBytes(of: cell, toByteOffset: index &* size, as: Cell.self)
      }
    }
  }

  /// Writes the table of widths, half a byte for each element, followed by the bytes of the elements.
  @inline(__always)
  private func writeOwnWidths(
    _ values: UnsafeBufferPointer<Int64>, to writer: inout BackwardWriter, element: (Int) -> Int64
  ) {
    let count = values.count
    func write(_ value: Int64) -> Int {
      let width = Self.byteCount(value)
      writer.littleEndian(UInt64(bitPattern: value), width: width)
      return width
    }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: (count + 1) / 2) { table in
      for pair in table.indices.reversed() {
        let high = 2 &* pair &+ 1 < count ? write(element(2 &* pair &+ 1)) : 0
        let low = write(element(2 &* pair))
        table[pair] = UInt8(truncatingIfNeeded: low | high &<< 4)
      }
      writer.bytes(UnsafeRawBufferPointer(table))
    }
    writer.varint(count)
  }
}

/// The smallest form of integers of one width; of equal ones the first of: signed, unsigned, counted from the least.
struct FixedIntegers {
  private(set) var type: UInt8
  private(set) var width: Int
  private(set) var base: Int64?
  let signedWidth: Int

  var baseSize: Int { base.map(Integers.size) ?? 0 }

  /// - Parameter values: At least one integer.
  init(_ values: UnsafeBufferPointer<Int64>) {
    var all: Int64 = 0
    for value in values { all |= value }
    // Without negative integers, the magnitudes are the values.
    var magnitudes: Int64 = all < 0 ? 0 : all
    if all < 0 { for value in values { magnitudes |= value ^ (value >> 63) } }
    signedWidth = Integers.width(magnitudes)
    (type, width) = (UInt8(signedWidth), signedWidth)
    let unsigned = Self.unsignedWidth(all)
    if unsigned < width { (type, width) = (ElementType.unsigned + UInt8(unsigned), unsigned) }
    // In most arrays with a wide range, a few elements show it.
    let step = max(1, values.count / 64)
    let sample = Self.range(of: stride(from: 0, to: values.count, by: step).lazy.map { values[$0] })
    guard Self.unsignedWidth(sample.greatest &- sample.least) < width else { return }
    let (least, greatest) = Self.range(of: values)
    let offset = Self.unsignedWidth(greatest &- least)
    if Integers.size(least) + values.count * offset < values.count * width {
      (type, width, base) = (ElementType.offsets + UInt8(offset), offset, least)
    }
  }

  private static func range(of values: some Sequence<Int64>) -> (least: Int64, greatest: Int64) {
    var (least, greatest) = (Int64.max, Int64.min)
    for value in values {
      least = min(least, value)
      greatest = max(greatest, value)
    }
    return (least, greatest)
  }

  private static func unsignedWidth(_ value: Int64) -> Int { max(1, (71 - value.leadingZeroBitCount) >> 3) }
}

/// The size of integers if each has as many bytes as it needs.
private struct IntegerSizes {
  /// The bytes of all in a table of own widths, where a zero takes no bytes.
  private(set) var ownWidths = 0
  /// The bytes of all with their tags.
  private(set) var tagged = 0

  /// How many elements are looked at before checking whether they are enough.
  static var blockSize: Int { 1024 }

  /// Adds up the sizes of the first of `values`, which is also the first of their differences, and of each other
  /// `element`; nil if neither sum could get below `limit`. Most arrays have one width, which is found out for
  /// several elements at a time, whereas sizes are added up one by one.
  @inline(__always)
  init?(_ values: UnsafeBufferPointer<Int64>, width: Int, below limit: Int, of element: (Int) -> Int64) {
    // An array whose length fits its tag may be shorter with tags even if its elements are not.
    if values.count >= Arrays.shortLimit, Self.exceeds(limit, values.count, width, element) { return nil }
    add(values[0])
    for index in 1..<values.count { add(element(index)) }
  }

  private mutating func add(_ value: Int64) {
    ownWidths &+= PackedIntegers.byteCount(value)
    tagged &+= Integers.size(value)
  }

  /// Returns whether so many of `count` elements need `width` bytes that neither sum gets below `limit`.
  private static func exceeds(_ limit: Int, _ count: Int, _ width: Int, _ element: (Int) -> Int64) -> Bool {
    // Besides the elements, own widths take a table of count / 2 bytes, and tags a byte for each but no header.
    let enough = limit - min(count / 2, count - (2 + Varint.longest))
    // Of the elements of one byte, −1 is not counted.
    let least: Int64 = width == 1 ? 1 : 1 << Int64(8 * width - 9)
    var wide = 0
    for start in stride(from: 1, to: count, by: blockSize) {
      let end = min(start + blockSize, count)
      var below: UInt64 = 0
      for index in start..<end {
        let value = element(index)
        // Neither is negative, so the difference has its highest bit set if the element is below.
        let difference = (value ^ (value >> 63)) &- least
        below &+= UInt64(bitPattern: difference) &>> 63
      }
      wide += end - start - Int(truncatingIfNeeded: below)
      if wide * width >= enough { return true }
    }
    return false
  }
}

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
