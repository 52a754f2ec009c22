/// The ways to write integers without tags, and the choice among them (FORMAT.md, "Packed arrays").
struct PackedIntegers {
  let type: UInt8
  /// The bytes behind the element type.
  let bodySize: Int
  /// What the elements are counted from, in a form that does that.
  private var base: Int64 = 0

  private init(type: UInt8, bodySize: Int) {
    self.type = type
    self.bodySize = bodySize
  }

  /// The smallest form for `values`, of which there are two or more; the first of equals in the order
  /// fixed width, fixed width above the least, own widths, differences of fixed width, differences of own widths.
  ///
  /// Also the bytes that the elements take with their tags; nil where those are surely more.
  static func best(for values: UnsafeBufferPointer<Int64>) -> (packed: PackedIntegers, taggedSize: Int?) {
    let widths = IntegerWidths(values)
    let fixed = widths.fixedType
    var best = PackedIntegers(type: fixed.type, bodySize: values.count * fixed.width)
    if let offsets = IntegerRange.offsets(of: values, below: fixed.width) {
      let size = Integers.size(offsets.base) + values.count * offsets.width
      best.consider(ElementType.offsets + UInt8(offsets.width), bodySize: size)
      best.base = offsets.base
    }
    let sizes = IntegerSizes(values, width: widths.signed, below: best.bodySize) { values[$0] }
    if let sizes { best.consider(ElementType.ownWidths, bodySize: ownWidthsSize(values.count, sizes)) }
    if differencesLookSmaller(values) { best.considerDifferences(of: values) }
    return (best, sizes?.tagged ?? sizeOfTags(values, widths))
  }

  /// The number of values if each is its own tag, and so takes no more than in a packed array; nil otherwise.
  private static func sizeOfTags(_ values: UnsafeBufferPointer<Int64>, _ widths: IntegerWidths) -> Int? {
    widths.signed == 1 && values.allSatisfy(Integers.smallRange.contains) ? values.count : nil
  }

  private mutating func considerDifferences(of values: UnsafeBufferPointer<Int64>) {
    let firstWidth = DecimalFraction.width(values[0])
    var width = 0
    var size = 0
    var bits: Int64 = 0
    // Wide differences are seen in few of them.
    for start in stride(from: 1, to: values.count, by: IntegerSizes.blockSize) {
      for index in start..<min(start + IntegerSizes.blockSize, values.count) {
        let difference = values[index] &- values[index &- 1]
        bits |= difference ^ (difference >> 63)
      }
      width = DecimalFraction.width(bits)
      size = 1 + firstWidth + (values.count - 1) * width
      if size >= bodySize { break }
    }
    consider(ElementType.deltas + UInt8(width), bodySize: size)
    let sizes = IntegerSizes(values, width: width, below: bodySize) { values[$0] &- values[$0 &- 1] }
    if let sizes { consider(ElementType.ownWidthDeltas, bodySize: Self.ownWidthsSize(values.count, sizes)) }
  }

  /// How many elements tell whether differences are worth a walk over all.
  private static let sampleSize = 64

  private static func differencesLookSmaller(_ values: UnsafeBufferPointer<Int64>) -> Bool {
    var valueBytes = 0
    var differenceBytes = 0
    for index in 1...min(sampleSize, values.count - 1) {
      valueBytes += byteCount(values[index])
      differenceBytes += byteCount(values[index] &- values[index - 1])
    }
    return differenceBytes < valueBytes
  }

  private mutating func consider(_ type: UInt8, bodySize: Int) {
    if bodySize < self.bodySize { self = PackedIntegers(type: type, bodySize: bodySize) }
  }

  /// The size of a table of widths and the bytes behind it.
  private static func ownWidthsSize(_ count: Int, _ sizes: IntegerSizes) -> Int {
    Varint.size(count) + (count + 1) / 2 + sizes.ownWidths
  }

  /// The bytes that an element takes in a table of own widths: none for zero.
  @inline(__always)
  static func byteCount(_ value: Int64) -> Int {
    // One less for zero, without a branch.
    DecimalFraction.width(value) &- (value == 0 ? 1 : 0)
  }

  // MARK: writing

  /// Writes the element type and the elements.
  func write(_ values: UnsafeBufferPointer<Int64>, to writer: inout BackwardWriter) {
    switch type {
    case ElementType.ownWidths: writeOwnWidths(values, to: &writer) { values[$0] }
    case ElementType.ownWidthDeltas:
      writeOwnWidths(values, to: &writer) { $0 == 0 ? values[0] : values[$0] &- values[$0 - 1] }
    case ElementType.deltas...ElementType.deltas + 8:
      let width = Int(type - ElementType.deltas)
      writer.reserve(bodySize + BackwardWriter.margin)
      for index in stride(from: values.count - 1, to: 0, by: -1) {
        writer.littleEndian(UInt64(bitPattern: values[index] &- values[index - 1]), width: width)
      }
      let firstWidth = DecimalFraction.width(values[0])
      writer.littleEndian(UInt64(bitPattern: values[0]), width: firstWidth)
      writer.byte(UInt8(firstWidth))
    case ElementType.offsets...ElementType.offsets + 7:
      let width = Int(type - ElementType.offsets)
      writer.reserve(bodySize + BackwardWriter.margin)
      for value in values.reversed() { writer.littleEndian(UInt64(bitPattern: value &- base), width: width) }
      Integers.write(base, to: &writer)
    default: writeFixed(values, to: &writer)
    }
  }

  private func writeFixed(_ values: UnsafeBufferPointer<Int64>, to writer: inout BackwardWriter) {
    switch type & 15 {
    case 1: Self.narrow(values, to: &writer, as: UInt8.self)
    case 2: Self.narrow(values, to: &writer, as: UInt16.self)
    case 4: Self.narrow(values, to: &writer, as: UInt32.self)
    case 8: Self.narrow(values, to: &writer, as: UInt64.self)
    default:
      let width = Int(type & 15)
      writer.reserve(bodySize + BackwardWriter.margin)
      for value in values.reversed() { writer.littleEndian(UInt64(bitPattern: value), width: width) }
    }
  }

  @inline(__always)
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

  /// The table of widths, half a byte for each element, and behind it the bytes of the elements.
  @inline(__always)
  private func writeOwnWidths(
    _ values: UnsafeBufferPointer<Int64>, to writer: inout BackwardWriter, element: (Int) -> Int64
  ) {
    let count = values.count
    let tableSize = (count + 1) / 2
    writer.reserve(bodySize + BackwardWriter.margin)
    writer.fill(below: bodySize - Varint.size(count) - tableSize, tableSize) { writer, table in
      for pair in stride(from: tableSize - 1, through: 0, by: -1) {
        let high =
          2 &* pair &+ 1 < count ? writeSignificantBytes(of: element(2 &* pair &+ 1), to: &writer) : 0
        let low = writeSignificantBytes(of: element(2 &* pair), to: &writer)
        table.storeBytes(of: UInt8(truncatingIfNeeded: low | high &<< 4), toByteOffset: pair, as: UInt8.self)
      }
      // Writing the first elements touches the end of the table.
      for pair in max(0, tableSize - BackwardWriter.overlap)..<tableSize {
        let high = 2 * pair + 1 < count ? Self.byteCount(element(2 * pair + 1)) : 0
        let widths = UInt8(Self.byteCount(element(2 * pair)) | high << 4)
        table.storeBytes(of: widths, toByteOffset: pair, as: UInt8.self)
      }
    }
    writer.varint(count)
  }

  /// Writes as many bytes of a value as `byteCount` says, and returns their number.
  @inline(__always)
  private func writeSignificantBytes(of value: Int64, to writer: inout BackwardWriter) -> Int {
    let width = Self.byteCount(value)
    // Of a zero nothing is written: a width of 0 moves nothing.
    writer.littleEndian(UInt64(bitPattern: value), width: width)
    return width
  }
}

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

/// The smallest and largest of some integers.
struct IntegerRange {
  private let minimum: Int64
  private let maximum: Int64

  /// Four at a time: one comparison does not have to wait for the one before it.
  private init(_ values: UnsafeBufferPointer<Int64>) {
    var (least, greatest) = (values[0], values[0])
    var (least2, least3, least4) = (least, least, least)
    var (greatest2, greatest3, greatest4) = (greatest, greatest, greatest)
    var index = 0
    while index &+ 4 <= values.count {
      let (one, two, three, four) =
        (values[index], values[index &+ 1], values[index &+ 2], values[index &+ 3])
      least = min(least, one)
      least2 = min(least2, two)
      least3 = min(least3, three)
      least4 = min(least4, four)
      greatest = max(greatest, one)
      greatest2 = max(greatest2, two)
      greatest3 = max(greatest3, three)
      greatest4 = max(greatest4, four)
      index &+= 4
    }
    while index < values.count {
      least = min(least, values[index])
      greatest = max(greatest, values[index])
      index &+= 1
    }
    minimum = min(min(least, least2), min(least3, least4))
    maximum = max(max(greatest, greatest2), max(greatest3, greatest4))
  }

  private static let sampleSize = 64

  /// Of some values, spread over all.
  private init(sampleOf values: UnsafeBufferPointer<Int64>) {
    var (least, greatest) = (values[0], values[0])
    for index in stride(from: 0, to: values.count, by: max(1, values.count / Self.sampleSize)) {
      least = min(least, values[index])
      greatest = max(greatest, values[index])
    }
    minimum = least
    maximum = greatest
  }

  /// The bytes that each takes above the least of them, at least one.
  private var offsetWidth: Int {
    max(1, (71 - (maximum &- minimum).leadingZeroBitCount) >> 3)
  }

  /// The least of `values` and the bytes that each takes above it, if those are fewer than `width`.
  static func offsets(of values: UnsafeBufferPointer<Int64>, below width: Int) -> (base: Int64, width: Int)? {
    // Most arrays that spread far show it in a few of their elements.
    guard IntegerRange(sampleOf: values).offsetWidth < width else { return nil }
    let range = IntegerRange(values)
    let offsetWidth = range.offsetWidth
    return offsetWidth < width ? (range.minimum, offsetWidth) : nil
  }
}

/// What some integers take if each has as many bytes as it needs.
struct IntegerSizes {
  /// The bytes of all in a table of own widths, which has none for a zero.
  private(set) var ownWidths = 0
  /// The bytes of all with their tags.
  private(set) var tagged = 0

  /// The tag, the length and the element type of a packed array at most.
  private static var headerSize: Int { 1 + Varint.longest + 1 }
  /// So many elements are looked at before asking whether they are enough.
  static var blockSize: Int { 1024 }

  /// Adds up the first of `values` and `element` of each other; nil where neither sum could get below `limit`.
  ///
  /// Most arrays have one width. That enough elements need `width` bytes is seen several at a time, while their
  /// sizes are added up one by one.
  @inline(__always)
  init?(_ values: UnsafeBufferPointer<Int64>, width: Int, below limit: Int, of element: (Int) -> Int64) {
    // An array whose length fits its tag may be shorter with tags though its elements are not.
    if values.count >= Arrays.shortLimit, Self.exceeds(limit, values.count, width, element) { return nil }
    add(values[0])
    for index in 1..<values.count { add(element(index)) }
  }

  /// Whether so many of `count` elements need `width` bytes that neither sum gets below `limit`.
  @inline(__always)
  private static func exceeds(_ limit: Int, _ count: Int, _ width: Int, _ element: (Int) -> Int64) -> Bool {
    // The limit leaves out what stands before elements without tags.
    let enough = limit - min(count / 2, count - headerSize)
    var wide = 0
    for start in stride(from: 1, to: count, by: blockSize) {
      wide += self.count(ofWidth: width, in: start..<min(start + blockSize, count), element)
      if wide * width >= enough { return true }
    }
    return false
  }

  @inline(__always)
  private mutating func add(_ value: Int64) {
    let size = DecimalFraction.width(value)
    ownWidths &+= size &- (value == 0 ? 1 : 0)
    tagged &+= Integers.smallRange.contains(value) ? 1 : 1 &+ size
  }

  /// How many elements take `width` bytes or more; of those of one byte, −1 is not counted.
  @inline(__always)
  private static func count(ofWidth width: Int, in range: Range<Int>, _ element: (Int) -> Int64) -> Int {
    let least: Int64 = width == 1 ? 1 : 1 << Int64(8 * width - 9)
    var below: UInt64 = 0
    for index in range {
      let value = element(index)
      // Neither is negative, so the difference has its highest bit set if the element is below.
      let difference = (value ^ (value >> 63)) &- least
      below &+= UInt64(bitPattern: difference) &>> 63
    }
    return range.count - Int(truncatingIfNeeded: below)
  }
}
