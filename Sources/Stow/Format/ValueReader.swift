/// Single values: where each ends, and what the scalars among them say.
extension ByteReader {
  /// The offset behind the value at `offset`: a step of constant cost, whatever the value holds.
  @inline(__always)
  func end(of offset: Int) throws(FormatError) -> Int {
    let tag = try byte(at: offset)
    let size = fixedSizes[Int(tag)]
    if size == 0 {
      var next = offset &+ 1
      let length = try length(at: &next)
      return next &+ length
    }
    guard size != Tag.otherSize else { return try endOfOther(offset, tag: tag) }
    guard Int(size) <= count &- offset else { try fail(.truncated, at: offset) }
    return offset &+ Int(size)
  }

  @inline(never)
  private func endOfOther(_ offset: Int, tag: UInt8) throws(FormatError) -> Int {
    var next = offset + 1
    switch tag {
    case Tag.decimal, Tag.noisyDecimal, Tag.scaledDate:
      let scale = try byte(at: next)
      let size = Int(scale & 15) + (tag == Tag.noisyDecimal ? 1 : 0)
      try require(size, at: next + 1)
      return next + 1 + size
    case Tag.url:
      let inner = try byte(at: next)
      guard Self.isString(inner) else { try fail(.malformed, at: next) }
      return try end(of: next)
    case Tag.symbol:
      _ = try varint(at: &next)
      return next
    case Tag.record, Tag.partialRecord:
      _ = try varint(at: &next)
      let length = try length(at: &next)
      return next + length
    default: try fail(tag == Tag.prelude ? .malformed : .reserved, at: offset)
    }
  }

  /// The number of the symbol at `offset`, which is moved behind it; nil where another value stands.
  func symbol(at offset: inout Int) throws(FormatError) -> Int? {
    let tag = try byte(at: offset)
    guard tag == Tag.symbol || (Tag.shortSymbol...Tag.lastShortSymbol).contains(tag) else { return nil }
    offset += 1
    return tag == Tag.symbol ? try varint(at: &offset) : Int(tag - Tag.shortSymbol)
  }

  static func isString(_ tag: UInt8) -> Bool {
    (Tag.shortString...Tag.lastShortSymbol).contains(tag) || tag == Tag.string || tag == Tag.symbol
  }

  // MARK: integers

  /// An integer of at most 64 signed bits, and the offset behind it.
  @inline(__always)
  func integer(at offset: Int, next: inout Int) throws(FormatError) -> Int64 {
    let tag = try byte(at: offset)
    if tag & 0xC0 == Tag.smallInteger {
      next = offset &+ 1
      return Int64(tag) &- Int64(Tag.smallInteger) &- 16
    }
    let width = Int(tag) &- Int(Tag.integer) &+ 1
    guard width >= 1, width <= 8 else { try fail(.mismatch, at: offset) }
    let value = try signed(at: offset &+ 1, width: width)
    next = offset &+ 1 &+ width
    return value
  }

  /// The integer that others are counted from.
  func base(at offset: inout Int) throws(FormatError) -> Int64 {
    guard isInteger(at: offset), self.base[offset] != Tag.unsigned,
      self.base[offset] < Tag.integer128
        || self.base[offset] >= Tag.smallInteger
    else { try fail(.malformed, at: offset) }
    return try integer(at: offset, next: &offset)
  }

  /// An integer of 64 unsigned or 128 bits; nil where the value at `offset` is not one of those.
  func wideInteger(at offset: Int, next: inout Int) throws(FormatError) -> WideInteger? {
    switch try byte(at: offset) {
    case Tag.unsigned:
      let value = try word(at: offset + 1)
      next = offset + 9
      return WideInteger(magnitudeLow: value, high: 0, isNegative: false)
    case Tag.integer128, Tag.unsigned128:
      let low = try word(at: offset + 1)
      let high = try word(at: offset + 9)
      let isNegative = base[offset] == Tag.integer128 && high >> 63 == 1
      next = offset + 17
      return WideInteger(magnitudeLow: low, high: high, isNegative: isNegative)
    default: return nil
    }
  }

  /// Whether an integer stands at `offset`.
  func isInteger(at offset: Int) -> Bool {
    guard offset < count else { return false }
    let tag = base[offset]
    return (Tag.integer...Tag.unsigned128).contains(tag) || tag & 0xC0 == Tag.smallInteger
  }

  // MARK: floating point

  /// A floating-point number, and the offset behind it. Integers are not converted here.
  @inline(__always)
  func double(at offset: Int, next: inout Int) throws(FormatError) -> Double {
    if try byte(at: offset) == Tag.double {
      let bits = try word(at: offset &+ 1)
      next = offset &+ 9
      return Double(bitPattern: bits)
    }
    return try compactDouble(at: offset, next: &next)
  }

  @inline(never)
  private func compactDouble(at offset: Int, next: inout Int) throws(FormatError) -> Double {
    let tag = base[offset]
    switch tag {
    case Tag.shortDecimal...Tag.lastShortDecimal:
      let width = Int(tag & 3) + 1
      let value = try signed(at: offset + 1, width: width)
      next = offset + 1 + width
      return DecimalFraction.value(value, exponent: Int(tag - Tag.shortDecimal) >> 2 + 1)
    case Tag.integral...Tag.lastIntegral:
      let width = Int(tag - Tag.integral) + 1
      let value = try signed(at: offset + 1, width: width)
      next = offset + 1 + width
      return Double(value)
    case Tag.float:
      let bits = try halfWord(at: offset + 1)
      next = offset + 5
      return Double(Float(bitPattern: bits))
    case Tag.decimal:
      return try scaled(at: offset + 1, next: &next)
    case Tag.noisyDecimal:
      let value = try scaled(at: offset + 1, next: &next)
      let residue = Int8(bitPattern: try byte(at: next))
      next += 1
      return DecimalFraction.adding(residue: residue, to: value)
    default: try fail(.mismatch, at: offset)
    }
  }

  /// A scale byte and an integer: a decimal fraction.
  func scaled(at offset: Int, next: inout Int) throws(FormatError) -> Double {
    let scale = try byte(at: offset)
    let width = Int(scale & 15)
    let exponent = Int(scale >> 4)
    guard width >= 1, width <= ElementType.maximumScaledWidth, exponent <= ElementType.maximumExponent else {
      try fail(.malformed, at: offset)
    }
    let value = try signed(at: offset + 1, width: width)
    next = offset + 1 + width
    return DecimalFraction.value(value, exponent: exponent)
  }

  /// The bits of a `Float` that was written as one; nil for every other form.
  @inline(__always)
  func floatBits(at offset: Int, next: inout Int) throws(FormatError) -> UInt32? {
    guard try byte(at: offset) == Tag.float else { return nil }
    let bits = try halfWord(at: offset &+ 1)
    next = offset &+ 5
    return bits
  }

  // MARK: the rest

  @inline(__always)
  func bool(at offset: Int) throws(FormatError) -> Bool {
    let tag = try byte(at: offset)
    guard tag == Tag.true || tag == Tag.false else { try fail(.mismatch, at: offset) }
    return tag == Tag.true
  }

  /// Whether nil stands at `offset`, at whatever level of optionals.
  @inline(__always)
  func isNil(at offset: Int) -> Bool {
    guard offset < count else { return false }
    let tag = base[offset]
    return tag == Tag.null || tag == Tag.nestedNil
  }

  /// How many levels of optionals stand around the nil at `offset`.
  func nilLevel(at offset: Int) -> Int {
    guard count - offset > 1, base[offset] == Tag.nestedNil else { return 0 }
    return Int(base[offset + 1])
  }

  /// The extent of the bytes of a data value.
  func data(at offset: Int) throws(FormatError) -> Range<Int> {
    guard try byte(at: offset) == Tag.data else { try fail(.mismatch, at: offset) }
    var start = offset + 1
    let length = try length(at: &start)
    return start..<start + length
  }

  /// The extent of an array's elements, where they are whole values.
  @inline(__always)
  func array(at offset: Int) throws(FormatError) -> Range<Int> {
    let tag = try byte(at: offset)
    var start = offset &+ 1
    if tag & 0xF0 == Tag.shortArray {
      let length = Int(tag & 15)
      try require(length, at: start)
      return Range(uncheckedBounds: (start, start &+ length))
    }
    guard tag == Tag.array else { try fail(.mismatch, at: offset) }
    let length = try length(at: &start)
    return Range(uncheckedBounds: (start, start &+ length))
  }

  // MARK: objects

  /// The header of the object at `offset`; nil if another kind of value stands there.
  @inline(__always)
  func object(at offset: Int) throws(FormatError) -> ObjectHeader? {
    let tag = try byte(at: offset)
    var next = offset &+ 1
    if tag >= Tag.shortRecord {
      let length = try length(at: &next)
      return ObjectHeader(
        shape: Int(tag & 7), isPartial: tag >= Tag.shortPartialRecord,
        body: Range(uncheckedBounds: (next, next &+ length)))
    }
    return try rareObject(at: offset, tag: tag)
  }

  /// The offset behind the presence bits with which the body of a partial record begins; bits of no key are zero.
  func endOfPresence(in body: Range<Int>, keyCount: Int) throws(FormatError) -> Int {
    let size = (keyCount + 7) / 8
    guard size <= body.count else { try fail(.malformed, at: body.lowerBound) }
    let end = body.lowerBound + size
    let used = keyCount & 7
    guard used == 0 || base[end - 1] >> UInt8(used) == 0 else { try fail(.malformed, at: end - 1) }
    return end
  }

  @inline(never)
  private func rareObject(at offset: Int, tag: UInt8) throws(FormatError) -> ObjectHeader? {
    var next = offset + 1
    switch tag {
    case Tag.shortMap..<Tag.shortArray:
      let length = Int(tag - Tag.shortMap)
      try require(length, at: next)
      return ObjectHeader(shape: nil, isPartial: false, body: next..<next + length)
    case Tag.map:
      let length = try length(at: &next)
      return ObjectHeader(shape: nil, isPartial: false, body: next..<next + length)
    case Tag.record, Tag.partialRecord:
      let shape = try varint(at: &next)
      let length = try length(at: &next)
      return ObjectHeader(shape: shape, isPartial: tag == Tag.partialRecord, body: next..<next + length)
    default: return nil
    }
  }
}

/// An integer beyond the range of `Int64`, in two's complement.
struct WideInteger {
  let magnitudeLow: UInt64
  let high: UInt64
  let isNegative: Bool
}
