// Single values, with the conversions that JSON would make: any integer into any type that holds it, an
// integer into the nearest floating-point number, and what JSON has no kind for from its substitutes.

extension Message {
  // MARK: integers

  @inline(__always)
  func integer<Value: FixedWidthInteger>(
    _ type: Value.Type, at offset: Int, next: inout Int
  ) throws(FormatError) -> Value {
    let tag = try reader.byte(at: offset)
    if tag & 0xC0 == Tag.smallInteger || (tag >= Tag.integer && tag <= Tag.lastInteger) {
      let value = try reader.integer(at: offset, next: &next)
      if let result = Value(exactly: value) { return result }
      try fail(.unrepresentable, at: offset)
    }
    return try rareInteger(type, at: offset, next: &next)
  }

  @inline(never)
  private func rareInteger<Value: FixedWidthInteger>(
    _ type: Value.Type, at offset: Int, next: inout Int
  ) throws(FormatError) -> Value {
    if Tag.isNoNumber(try reader.byte(at: offset)) { try fail(.mismatch, at: offset) }
    if let wide = try reader.wideInteger(at: offset, next: &next) {
      let bits = UInt128(wide.high) << 64 | UInt128(wide.magnitudeLow)
      let result = wide.isNegative ? Value(exactly: Int128(bitPattern: bits)) : Value(exactly: bits)
      guard let result else { try fail(.unrepresentable, at: offset) }
      return result
    }
    if let parts = try decimalParts(at: offset, next: &next) {
      guard let result = Value(exactly: parts) else { try fail(.unrepresentable, at: offset) }
      return result
    }
    // A number, but never an integer: JSON calls that a number that does not fit.
    _ = try reader.double(at: offset, next: &next)
    try fail(.unrepresentable, at: offset)
  }

  // MARK: floating point

  @inline(__always)
  func double(at offset: Int, next: inout Int) throws(FormatError) -> Double {
    let tag = try reader.byte(at: offset)
    if tag >= Tag.double && tag <= Tag.noisyDecimal || tag >= Tag.shortDecimal && tag <= Tag.lastShortDecimal
    {
      return try reader.double(at: offset, next: &next)
    }
    return try rareDouble(at: offset, next: &next)
  }

  @inline(never)
  private func rareDouble(at offset: Int, next: inout Int) throws(FormatError) -> Double {
    let tag = try reader.byte(at: offset)
    if Tag.isNoNumber(tag) { try fail(.mismatch, at: offset) }
    if tag == Tag.date || tag == Tag.scaledDate { return try dateSeconds(at: offset, next: &next) }
    if reader.isInteger(at: offset) { return try roundedInteger(Double.self, at: offset, next: &next) }
    if let parts = try decimalParts(at: offset, next: &next) { return parts.double }
    try fail(.mismatch, at: offset)
  }

  /// Returns the floating-point number nearest to the integer at `offset`, of whatever width.
  @inline(never)
  private func roundedInteger<Value: BinaryFloatingPoint>(
    _ type: Value.Type, at offset: Int, next: inout Int
  ) throws(FormatError) -> Value {
    guard let wide = try reader.wideInteger(at: offset, next: &next) else {
      return Value(try reader.integer(at: offset, next: &next))
    }
    let bits = UInt128(wide.high) << 64 | UInt128(wide.magnitudeLow)
    let result = wide.isNegative ? Value(Int128(bitPattern: bits)) : Value(bits)
    guard result.isFinite else { try fail(.unrepresentable, at: offset) }
    return result
  }

  @inline(__always)
  func float(at offset: Int, next: inout Int) throws(FormatError) -> Float {
    if let bits = try reader.floatBits(at: offset, next: &next) { return Float(bitPattern: bits) }
    // Not by way of `Double`, which would round twice.
    if reader.isInteger(at: offset) { return try roundedInteger(Float.self, at: offset, next: &next) }
    return try Rounding.float(double(at: offset, next: &next), at: offset)
  }

  #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    func float16(at offset: Int, next: inout Int) throws(FormatError) -> Float16 {
      try Rounding.float16(float(at: offset, next: &next), at: offset)
    }
  #endif

  @inline(__always)
  func bool(at offset: Int, next: inout Int) throws(FormatError) -> Bool {
    let value = try reader.bool(at: offset)
    next = offset &+ 1
    return value
  }

  // MARK: strings

  @inline(__always)
  func string(at offset: Int, next: inout Int) throws(FormatError) -> String {
    let tag = try reader.byte(at: offset)
    if tag >= Tag.shortString, tag < Tag.shortSymbol {
      let length = Int(tag &- Tag.shortString)
      try reader.require(length, at: offset &+ 1)
      next = offset &+ 1 &+ length
      return try reader.string(at: offset &+ 1, count: length)
    }
    if tag >= Tag.shortSymbol, tag <= Tag.lastShortSymbol {
      next = offset &+ 1
      return try symbol(Int(tag &- Tag.shortSymbol), at: offset)
    }
    if tag == Tag.symbol {
      let index = try reader.byte(at: offset &+ 1)
      if index < Varint.oneByteLimit {
        next = offset &+ 2
        return try symbol(Int(index), at: offset)
      }
    }
    return try rareString(at: offset, tag: tag, next: &next)
  }

  @inline(never)
  private func rareString(at offset: Int, tag: UInt8, next: inout Int) throws(FormatError) -> String {
    switch tag {
    case Tag.string:
      var start = offset + 1
      let length = try reader.length(at: &start)
      next = start + length
      return try reader.string(at: start, count: length)
    case Tag.symbol:
      var end = offset + 1
      let index = try reader.varint(at: &end)
      next = end
      return try symbol(index, at: offset)
    case Tag.url:
      guard ByteReader.isString(try reader.byte(at: offset + 1)) else {
        try fail(.malformed, at: offset + 1)
      }
      return try string(at: offset + 1, next: &next)
    case Tag.uuid: return try uuid(at: offset, next: &next).uuidString
    default: try fail(.mismatch, at: offset)
    }
  }
}
