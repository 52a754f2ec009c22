/// How the elements of a packed array, or the cells of a column, are laid out (FORMAT.md, "Element types").
///
/// One byte. Where a type has an exponent, it is the high nibble.
package enum ElementType {
  /// A column whose cells are all the same value, which is stored once before the rows.
  static let constant: UInt8 = 0x00
  /// A signed integer of 1 to 8 bytes: the width itself.
  static let integers: ClosedRange<UInt8> = 1...8
  static let float: UInt8 = 0x09
  static let double: UInt8 = 0x0A
  static let bool: UInt8 = 0x0B
  static let bits: UInt8 = 0x0C
  static let ownWidths: UInt8 = 0x0D
  static let ownWidthDeltas: UInt8 = 0x0E
  static let date: UInt8 = 0x0F
  /// A floating-point number with an integral value of 1 to 6 bytes: `integral + width`.
  static let integral: UInt8 = 0xA0
  /// Differences of neighboring integers, 1 to 8 bytes each: `deltas + width`.
  static let deltas: UInt8 = 0xB0
  static let fixedDeltas = deltas + 1...deltas + 8
  /// An integer that is never negative, 1 to 7 bytes: `unsigned + width`.
  static let unsigned: UInt8 = 0xC0
  /// The difference of an integer from the least, which is stored once, 1 to 7 bytes: `offsets + width`.
  static let offsets: UInt8 = 0xD0
  static let maximumExponent = 9
  /// The residue that marks an integer among floating-point numbers.
  static let integerMark: Int8 = -128
  static let maximumScaledWidth = 6

  /// A decimal fraction of `width` bytes, without a residue.
  static func scaled(exponent: Int, width: Int) -> UInt8 {
    exponent == 0 ? integral + UInt8(width) : UInt8(exponent) << 4 | UInt8(width)
  }

  /// A decimal fraction of `width` bytes and a byte of residue.
  static func noisy(exponent: Int, width: Int) -> UInt8 { UInt8(exponent) << 4 | UInt8(width + 8) }

  /// Returns the size of one element; nil for types whose elements differ.
  @inline(__always)
  package static func stride(of type: UInt8) -> Int? {
    let low = Int(type & 15)
    switch type {
    case 0x01...0x08, 0xA1...0xA6, 0xC1...0xC7, 0xD1...0xD7: return low
    case float: return 4
    case double, date: return 8
    case bool: return 1
    case 0x10...0x9F:
      if (1...maximumScaledWidth).contains(low) { return low }
      return (9...14).contains(low) ? low - 7 : nil
    case constant: return 0
    default: return nil
    }
  }

  /// Returns whether arrays may have a type with a stride, as well as columns.
  package static func isOfArrays(_ type: UInt8) -> Bool { type != constant && type != bool && type != date }

  /// Returns whether the elements are integers; a noisy decimal may hold one too.
  static func isInteger(_ type: UInt8) -> Bool { integers.contains(type) || type > unsigned }

  package static func isOffset(_ type: UInt8) -> Bool { type > offsets && type < offsets + 8 }

  static func isNoisy(_ type: UInt8) -> Bool { (0x10...0x9F).contains(type) && type & 15 > 8 }
}

/// The header of a packed array: its element type, and where its elements are (FORMAT.md, "Packed arrays").
struct PackedArray {
  static let tag: UInt8 = 0x74
  /// A packed array of `ElementType.float`, which its tag implies.
  static let floats: UInt8 = 0x75

  let type: UInt8
  /// The elements, or for types without a stride all that follows the element type and the count.
  let body: Range<Int>
  let count: Int
  /// The bytes of one element; 0 where they differ.
  let stride: Int
  /// The integer that elements are counted from.
  let base: Int64

  static func isPacked(_ tag: UInt8) -> Bool { tag == Self.tag || tag == floats }

  /// Reads the header of the packed array at `offset`, and checks that its elements are whole.
  init(_ reader: ByteReader, at offset: Int) throws(FormatError) {
    let tag = try reader.byte(at: offset)
    guard Self.isPacked(tag) else { try fail(.mismatch, at: offset) }
    var next = offset + 1
    let length = try reader.length(at: &next)
    let end = next + length
    if tag == Self.tag {
      guard length > 0 else { try fail(.malformed, at: offset) }
      type = reader.base[next]
      next += 1
    } else {
      type = ElementType.float
    }
    var base: Int64 = 0
    if ElementType.isOffset(type) {
      base = try Integers.base(reader, at: &next)
      guard next <= end else { try fail(.malformed, at: offset) }
    }
    self.base = base
    var body = next..<end
    if let stride = ElementType.stride(of: type), ElementType.isOfArrays(type) {
      guard body.count % stride == 0 else { try fail(.malformed, at: offset) }
      self.stride = stride
      count = body.count / stride
    } else {
      stride = 0
      count = try Self.count(reader, type: type, &body)
    }
    self.body = body
  }

  private static func count(_ reader: ByteReader, type: UInt8, _ body: inout Range<Int>) throws(FormatError) -> Int {
    guard let first = body.first else { try fail(.malformed, at: body.lowerBound) }
    switch type {
    case ElementType.bits:
      let unused = Int(reader.base[first])
      guard unused < 8, body.count > 1 || unused == 0 else { try fail(.malformed, at: first) }
      let last = body.upperBound - 1
      guard unused == 0 || reader.base[last] >> UInt8(8 - unused) == 0 else { try fail(.malformed, at: last) }
      let (bits, overflow) = (body.count - 1).multipliedReportingOverflow(by: 8)
      guard !overflow else { try fail(.exceedsInt, at: first) }
      return bits - unused
    case ElementType.ownWidths, ElementType.ownWidthDeltas:
      var next = first
      let count = try reader.varint(at: &next)
      guard next <= body.upperBound, widthsSize(count) <= body.upperBound - next else {
        try fail(.malformed, at: first)
      }
      // What follows the last element is found when the elements are read, but an empty array is returned without that.
      if count == 0, next != body.upperBound { try fail(.malformed, at: next) }
      let last = next + count / 2
      guard count % 2 == 0 || reader.base[last] >> 4 == 0 else { try fail(.malformed, at: last) }
      body = next..<body.upperBound
      return count
    case ElementType.fixedDeltas:
      let rest = body.count - 1 - Int(reader.base[first])
      let width = Int(type - ElementType.deltas)
      guard (1...8).contains(reader.base[first]), rest >= 0, rest % width == 0 else { try fail(.malformed, at: first) }
      return 1 + rest / width
    default: try fail(.malformed, at: first - 1)
    }
  }

  private static func widthsSize(_ count: Int) -> Int { count / 2 + count % 2 }

  /// Whether every element is an integer of at most 64 signed bits.
  var isInteger: Bool {
    ElementType.isInteger(type) || type == ElementType.ownWidths || type == ElementType.ownWidthDeltas
      || ElementType.fixedDeltas.contains(type)
  }

  var isBool: Bool { type == ElementType.bits }

  func integers(_ reader: ByteReader) throws(FormatError) -> [Int64] {
    try .filled(count: count) { target, initialized throws(FormatError) in
      try readIntegers(reader, into: target)
      initialized = count
    }
  }

  /// Returns where the element at an index begins: in bits with its byte, and in a table of widths with its width.
  func offset(of index: Int) -> Int {
    switch type {
    case ElementType.bits: body.lowerBound + 1 + index / 8
    case ElementType.ownWidths, ElementType.ownWidthDeltas: body.lowerBound + index / 2
    case ElementType.fixedDeltas:
      index == 0 ? body.lowerBound : body.upperBound - (count - index) * Int(type - ElementType.deltas)
    default: body.lowerBound + index * stride
    }
  }

  /// Returns the element at an index below `count`. Elements that are not Bools must have a stride.
  func cell(_ reader: ByteReader, at index: Int) throws(FormatError) -> Cell {
    if isBool { return .bool(bool(reader, at: index)) }
    return try Cell.read(reader, at: body.lowerBound + index * stride, type: type, base: base)
  }

  /// Fills `target`, which has room for `count` integers. The elements must be integers.
  func readIntegers(_ reader: ByteReader, into target: UnsafeMutablePointer<Int64>) throws(FormatError) {
    switch type {
    case 1: widen(reader, as: Int8.self, into: target)
    case 2: widen(reader, as: Int16.self, into: target)
    case 4: widen(reader, as: Int32.self, into: target)
    case 8: widen(reader, as: Int64.self, into: target)
    case ElementType.unsigned + 1: widen(reader, as: UInt8.self, into: target)
    case ElementType.unsigned + 2: widen(reader, as: UInt16.self, into: target)
    case ElementType.unsigned + 4: widen(reader, as: UInt32.self, into: target)
    case ElementType.ownWidths, ElementType.ownWidthDeltas:
      try readOwnWidths(reader, into: target)
      if type == ElementType.ownWidthDeltas { Self.sum(target, count: count) }
    case ElementType.fixedDeltas:
      try readDeltas(reader, into: target)
      Self.sum(target, count: count)
    default:
      for index in 0..<count {
        target[index] = try Cell.readInteger(reader, at: body.lowerBound &+ index &* stride, type: type) &+ base
      }
    }
  }

  /// Widens elements of a fixed size, of which the body holds exactly `count`.
  private func widen<Element: FixedWidthInteger>(
    _ reader: ByteReader, as _: Element.Type, into target: UnsafeMutablePointer<Int64>
  ) {
    let source = reader.pointer(at: body.lowerBound)
    for index in 0..<count {
      let element = source.loadUnaligned(fromByteOffset: index &* MemoryLayout<Element>.size, as: Element.self)
      target[index] = Int64(truncatingIfNeeded: Element(littleEndian: element))
    }
  }

  private func readOwnWidths(_ reader: ByteReader, into target: UnsafeMutablePointer<Int64>) throws(FormatError) {
    let widths = body.lowerBound
    var next = widths + Self.widthsSize(count)
    for index in 0..<count {
      let pair = try reader.byte(at: widths &+ index >> 1)
      let width = Int(index & 1 == 0 ? pair & 15 : pair >> 4)
      guard width <= 8, width <= body.upperBound &- next else { try fail(.malformed, at: widths &+ index >> 1) }
      target[index] = width == 0 ? 0 : try reader.signed(at: next, width: width)
      next &+= width
    }
    guard next == body.upperBound else { try fail(.malformed, at: next) }
  }

  private func readDeltas(_ reader: ByteReader, into target: UnsafeMutablePointer<Int64>) throws(FormatError) {
    let firstWidth = Int(try reader.byte(at: body.lowerBound))
    target[0] = try reader.signed(at: body.lowerBound + 1, width: firstWidth)
    let width = Int(type - ElementType.deltas)
    let start = body.lowerBound + 1 + firstWidth
    for index in 1..<max(1, count) {
      target[index] = try reader.signed(at: start &+ (index &- 1) &* width, width: width)
    }
  }

  private static func sum(_ target: UnsafeMutablePointer<Int64>, count: Int) {
    var sum: Int64 = 0
    for index in 0..<count {
      sum &+= target[index]
      target[index] = sum
    }
  }

  /// Fills `target`, which has room for `count` numbers. Throws `cellMismatch` at an integer or a Bool.
  func readDoubles(_ reader: ByteReader, into target: UnsafeMutablePointer<Double>) throws(FormatError) {
    guard stride > 0 else { try fail(.cellMismatch, at: body.lowerBound) }
    #if _endian(little)
      if type == ElementType.double {
        UnsafeMutableRawPointer(target).copyMemory(from: reader.pointer(at: body.lowerBound), byteCount: body.count)
        return
      }
    #endif
    for index in 0..<count {
      target[index] = try Cell.readDouble(reader, at: body.lowerBound &+ index &* stride, type: type)
    }
  }

  func bool(_ reader: ByteReader, at index: Int) -> Bool { reader.bit(index, at: body.lowerBound + 1) }
}

/// One value without a tag: an element of a packed array or a cell of a table.
package enum Cell: Sendable {
  case integer(Int64)
  case double(Double)
  /// A NaN of 4 bytes, whose bits a `Double` would not keep.
  case singleNaN(Float)
  case bool(Bool)
  case date(Double)

  /// - Parameter base: What integers are counted from.
  package static func read(
    _ reader: ByteReader, at offset: Int, type: UInt8, base: Int64 = 0
  ) throws(FormatError) -> Cell {
    switch type {
    case ElementType.bool:
      let value = try reader.byte(at: offset)
      guard value <= 1 else { try fail(.malformed, at: offset) }
      return .bool(value == 1)
    case ElementType.date: return .date(Double(bitPattern: try reader.word(at: offset)))
    case ElementType.double: return .double(Double(bitPattern: try reader.word(at: offset)))
    case ElementType.float:
      let value = Float(bitPattern: try reader.halfWord(at: offset))
      return value.isNaN ? .singleNaN(value) : .double(Double(value))
    default:
      if ElementType.isInteger(type) { return .integer(try readInteger(reader, at: offset, type: type) &+ base) }
      return try readDecimal(reader, at: offset, type: type)
    }
  }

  static func readInteger(_ reader: ByteReader, at offset: Int, type: UInt8) throws(FormatError) -> Int64 {
    let width = Int(type & 15)
    let value = try reader.signed(at: offset, width: width)
    if type < ElementType.unsigned { return value }
    return value & (1 << Int64(truncatingIfNeeded: 8 &* width) &- 1)
  }

  private static func readDecimal(_ reader: ByteReader, at offset: Int, type: UInt8) throws(FormatError) -> Cell {
    guard let stride = ElementType.stride(of: type) else { try fail(.malformed, at: offset) }
    let exponent = type >= ElementType.integral ? 0 : Int(type >> 4)
    guard ElementType.isNoisy(type) else {
      return .double(DecimalFraction.value(try reader.signed(at: offset, width: stride), exponent: exponent))
    }
    let numerator = try reader.signed(at: offset, width: stride - 1)
    let residue = Int8(bitPattern: try reader.byte(at: offset + stride - 1))
    if residue == ElementType.integerMark {
      let (integer, rest) = numerator.quotientAndRemainder(dividingBy: DecimalFraction.integerPower(exponent))
      guard rest == 0 else { try fail(.malformed, at: offset) }
      return .integer(integer)
    }
    let value = DecimalFraction.value(numerator, exponent: exponent)
    return .double(DecimalFraction.adding(residue: residue, to: value))
  }

  /// Reads a floating-point cell; throws `cellMismatch` for other types.
  @inline(__always)
  static func readDouble(_ reader: ByteReader, at offset: Int, type: UInt8) throws(FormatError) -> Double {
    if type == ElementType.double { return Double(bitPattern: try reader.word(at: offset)) }
    if type == ElementType.float { return Double(Float(bitPattern: try reader.halfWord(at: offset))) }
    guard case .double(let value) = try read(reader, at: offset, type: type) else {
      try fail(.cellMismatch, at: offset)
    }
    return value
  }
}
