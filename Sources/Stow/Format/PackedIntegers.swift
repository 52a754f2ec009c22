/// The ways to write integers without tags, and the choice among them (FORMAT.md, "Packed arrays").
struct PackedIntegers {
  let type: UInt8
  /// The bytes behind the element type.
  let bodySize: Int

  /// The smallest form for `values`, of which there are two or more; the first of equals in the order
  /// fixed width, fixed width above the least, own widths, differences of fixed width, differences of own widths.
  static func best(for values: UnsafeBufferPointer<Int64>) -> PackedIntegers {
    let range = IntegerRange(values)
    let fixed = range.fixedType
    var best = PackedIntegers(type: fixed.type, bodySize: values.count * fixed.width)
    if let width = range.offsetWidth {
      let size = BackwardWriter.size(ofInteger: range.minimum) + values.count * width
      best.consider(ElementType.offsets + UInt8(width), bodySize: size)
    }
    best.consider(
      ElementType.ownWidths,
      bodySize: ownWidthsSize(values.count, range: range, below: best.bodySize) { values[$0] })
    guard differencesLookSmaller(values) else { return best }
    let differences = IntegerRange(differencesOf: values)
    let differenceWidth = differences.signedWidth
    let firstWidth = DecimalFraction.width(values[0])
    best.consider(
      ElementType.deltas + UInt8(differenceWidth),
      bodySize: 1 + firstWidth + (values.count - 1) * differenceWidth)
    best.consider(
      ElementType.ownWidthDeltas,
      bodySize: ownWidthsSize(values.count, range: differences, below: best.bodySize) {
        $0 == 0 ? values[0] : values[$0] &- values[$0 - 1]
      })
    return best
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

  private mutating func consider(_ type: UInt8, bodySize: Int?) {
    if let bodySize, bodySize < self.bodySize { self = PackedIntegers(type: type, bodySize: bodySize) }
  }

  /// The size of a table of widths and the bytes behind it; nil where it cannot get below `limit`.
  @inline(__always)
  private static func ownWidthsSize(
    _ count: Int, range: IntegerRange, below limit: Int, of element: (Int) -> Int64
  ) -> Int? {
    let overhead = Varint.size(count) + (count + 1) / 2
    guard overhead < limit else { return nil }
    // Most arrays have one width: if nearly all elements need it, a table of widths does not pay.
    let width = range.signedWidth
    if overhead + IntegerRange.count(ofWidth: width, in: count, element) * width >= limit { return nil }
    var size = overhead
    for index in 0..<count { size &+= byteCount(element(index)) }
    return size
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
    case ElementType.ownWidths: Self.writeOwnWidths(values, to: &writer) { values[$0] }
    case ElementType.ownWidthDeltas:
      Self.writeOwnWidths(values, to: &writer) { $0 == 0 ? values[0] : values[$0] &- values[$0 - 1] }
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
      let base = IntegerRange(values).minimum
      let width = Int(type - ElementType.offsets)
      writer.reserve(bodySize + BackwardWriter.margin)
      for value in values.reversed() { writer.littleEndian(UInt64(bitPattern: value &- base), width: width) }
      writer.integer(base)
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

  @inline(__always)
  private static func writeOwnWidths(
    _ values: UnsafeBufferPointer<Int64>, to writer: inout BackwardWriter, element: (Int) -> Int64
  ) {
    let count = values.count
    writer.reserve(count * 9 + BackwardWriter.margin)
    for index in stride(from: count - 1, through: 0, by: -1) {
      let value = element(index)
      // Of a zero nothing is written: a width of 0 moves nothing.
      writer.littleEndian(UInt64(bitPattern: value), width: byteCount(value))
    }
    writer.fill((count + 1) / 2) { widths in
      for pair in 0..<count / 2 {
        let low = byteCount(element(2 &* pair))
        let high = byteCount(element(2 &* pair &+ 1))
        widths.storeBytes(of: UInt8(truncatingIfNeeded: low | high &<< 4), toByteOffset: pair, as: UInt8.self)
      }
      if count & 1 == 1 {
        widths.storeBytes(of: UInt8(byteCount(element(count - 1))), toByteOffset: count / 2, as: UInt8.self)
      }
    }
    writer.reserve(BackwardWriter.margin)
    writer.varint(count)
  }
}

/// The smallest and largest of some integers, and so the bytes that each of them takes at most.
struct IntegerRange {
  let minimum: Int64
  let maximum: Int64

  init(_ values: UnsafeBufferPointer<Int64>) {
    self.init(count: values.count) { values[$0] }
  }

  init(differencesOf values: UnsafeBufferPointer<Int64>) {
    self.init(count: values.count - 1) { values[$0 &+ 1] &- values[$0] }
  }

  /// Four at a time: one comparison does not have to wait for the one before it.
  @inline(__always)
  private init(count: Int, _ element: (Int) -> Int64) {
    var (least, greatest) = (element(0), element(0))
    var (least2, least3, least4) = (least, least, least)
    var (greatest2, greatest3, greatest4) = (greatest, greatest, greatest)
    var index = 0
    while index &+ 4 <= count {
      let (one, two, three, four) =
        (element(index), element(index &+ 1), element(index &+ 2), element(index &+ 3))
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
    while index < count {
      least = min(least, element(index))
      greatest = max(greatest, element(index))
      index &+= 1
    }
    minimum = min(min(least, least2), min(least3, least4))
    maximum = max(max(greatest, greatest2), max(greatest3, greatest4))
  }

  var signedWidth: Int { max(DecimalFraction.width(minimum), DecimalFraction.width(maximum)) }

  /// The bytes that each takes above the least of them; nil if that takes 8.
  var offsetWidth: Int? {
    let span = UInt64(bitPattern: maximum &- minimum)
    return span >> 56 == 0 ? max(1, (71 - span.leadingZeroBitCount) >> 3) : nil
  }

  /// The element type of least width: signed, unless doing without a sign saves a byte.
  var fixedType: (type: UInt8, width: Int) {
    let signed = signedWidth
    if minimum >= 0 {
      let unsigned = max(1, (71 - maximum.leadingZeroBitCount) >> 3)
      if unsigned < signed { return (ElementType.unsigned + UInt8(unsigned), unsigned) }
    }
    return (UInt8(signed), signed)
  }

  /// How many of `count` values take `width` bytes, the most that any takes.
  @inline(__always)
  static func count(ofWidth width: Int, in count: Int, _ element: (Int) -> Int64) -> Int {
    // A zero takes no byte; others take more than one from 2⁷ on, and so forth.
    let half: UInt64 = width == 1 ? 1 : 1 << UInt64(8 * width - 9)
    var result = 0
    for index in 0..<count {
      let value = element(index)
      let bits = width == 1 ? UInt64(bitPattern: value) : UInt64(bitPattern: value ^ (value >> 63))
      result &+= bits >= half ? 1 : 0
    }
    return result
  }
}
