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
