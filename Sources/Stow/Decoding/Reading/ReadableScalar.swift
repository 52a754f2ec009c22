/// A type whose values are read without its own `init(from:)`, with the conversions that JSON would make: any integer
/// into any type that holds it, an integer into the nearest floating-point number, and what JSON has no kind for from
/// its substitutes.
protocol ReadableScalar: Decodable, Sendable {
  /// Returns the value at `offset`, and moves `next` behind it.
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Self

  /// Returns the value of a cell, which has no tag. The offset is for errors.
  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Self

  /// Returns the plans for values of the type, for arrays of them, and for dictionaries of them by strings.
  static func makeDecodingPlan() -> AnyDecodingPlan
  static func makeArrayPlan() -> AnyDecodingPlan
  static func makeDictionaryPlan() -> AnyDecodingPlan
}

/// A way to decode the values of some type.
class AnyDecodingPlan {}

extension ReadableScalar {
  /// Fails: most types are no cells.
  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Self {
    try fail(.cellMismatch, at: offset)
  }
}

extension Bool: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Bool {
    let value = try Bools.read(message.reader, at: offset)
    next = offset &+ 1
    return value
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Bool {
    guard case .bool(let value) = cell else { try fail(.cellMismatch, at: offset) }
    return value
  }
}

// MARK: integers

extension ReadableScalar where Self: FixedWidthInteger {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Self {
    let reader = message.reader
    guard Integers.isUsual(try reader.byte(at: offset)) else {
      return try readRare(reader, at: offset, next: &next)
    }
    let value = try Integers.read(reader, at: offset, next: &next)
    if let result = Self(exactly: value) { return result }
    try fail(.unrepresentable, at: offset)
  }

  @inline(never)
  private static func readRare(
    _ reader: ByteReader, at offset: Int, next: inout Int
  ) throws(FormatError) -> Self {
    if Tag.isNoNumber(try reader.byte(at: offset)) { try fail(.mismatch, at: offset) }
    if let wide = try Integers.wide(reader, at: offset, next: &next) {
      let result = wide.isNegative ? Self(exactly: Int128(bitPattern: wide.bits)) : Self(exactly: wide.bits)
      guard let result else { try fail(.unrepresentable, at: offset) }
      return result
    }
    if let parts = try Decimals.read(reader, at: offset, next: &next) {
      guard let result = Self(exactly: parts) else { try fail(.unrepresentable, at: offset) }
      return result
    }
    // A number, but never an integer: JSON calls that a number that does not fit.
    _ = try Floats.read(reader, at: offset, next: &next)
    try fail(.unrepresentable, at: offset)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Self {
    switch cell {
    case .integer(let integer):
      guard let result = Self(exactly: integer) else { try fail(.unrepresentable, at: offset) }
      return result
    case .double, .singleNaN: try fail(.unrepresentable, at: offset)
    case .bool, .date: try fail(.cellMismatch, at: offset)
    }
  }
}

extension Int: ReadableScalar {}
extension Int8: ReadableScalar {}
extension Int16: ReadableScalar {}
extension Int32: ReadableScalar {}
extension Int64: ReadableScalar {}
extension Int128: ReadableScalar {}
extension UInt: ReadableScalar {}
extension UInt8: ReadableScalar {}
extension UInt16: ReadableScalar {}
extension UInt32: ReadableScalar {}
extension UInt64: ReadableScalar {}
extension UInt128: ReadableScalar {}

// MARK: floating point

extension BinaryFloatingPoint {
  /// Returns the number nearest to the integer at `offset`, of whatever width.
  @inline(never)
  fileprivate static func nearest(
    _ reader: ByteReader, at offset: Int, next: inout Int
  ) throws(FormatError) -> Self {
    guard let wide = try Integers.wide(reader, at: offset, next: &next) else {
      return Self(try Integers.read(reader, at: offset, next: &next))
    }
    let result = wide.isNegative ? Self(Int128(bitPattern: wide.bits)) : Self(wide.bits)
    guard result.isFinite else { try fail(.unrepresentable, at: offset) }
    return result
  }
}

extension Double: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Double {
    let reader = message.reader
    guard Floats.isFloat(try reader.byte(at: offset)) else {
      return try readRare(reader, at: offset, next: &next)
    }
    return try Floats.read(reader, at: offset, next: &next)
  }

  @inline(never)
  private static func readRare(
    _ reader: ByteReader, at offset: Int, next: inout Int
  ) throws(FormatError) -> Double {
    if Tag.isNoNumber(try reader.byte(at: offset)) { try fail(.mismatch, at: offset) }
    if let seconds = try Dates.read(reader, at: offset, next: &next) { return seconds }
    if Integers.isInteger(reader, at: offset) { return try nearest(reader, at: offset, next: &next) }
    if let parts = try Decimals.read(reader, at: offset, next: &next) { return parts.double }
    try fail(.mismatch, at: offset)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Double {
    switch cell {
    case .integer(let integer): return Double(integer)
    case .double(let value), .date(let value): return value
    case .singleNaN(let value): return Double(value)
    case .bool: try fail(.cellMismatch, at: offset)
    }
  }
}

extension Float: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Float {
    let reader = message.reader
    if let float = try Floats.float(reader, at: offset, next: &next) { return float }
    // Not by way of `Double`, which would round twice.
    if Integers.isInteger(reader, at: offset) { return try nearest(reader, at: offset, next: &next) }
    return try rounding(Double.read(message, at: offset, next: &next), at: offset)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Float {
    switch cell {
    case .integer(let integer): return Float(integer)
    case .singleNaN(let value): return value
    case .double, .bool, .date: return try rounding(Double.read(cell, at: offset), at: offset)
    }
  }

  /// Returns the nearest `Float`; a finite number beyond its range is an error.
  private static func rounding(_ value: Double, at offset: Int) throws(FormatError) -> Float {
    let result = Float(value)
    guard result.isFinite || !value.isFinite else { try fail(.unrepresentable, at: offset) }
    return result
  }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: ReadableScalar {
    static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Float16 {
      try rounding(Float.read(message, at: offset, next: &next), at: offset)
    }

    static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Float16 {
      try rounding(Float.read(cell, at: offset), at: offset)
    }

    /// Returns the nearest `Float16`; a finite number beyond its range is an error.
    private static func rounding(_ value: Float, at offset: Int) throws(FormatError) -> Float16 {
      let result = Float16(preserving: value)
      guard result.isFinite || !value.isFinite else { try fail(.unrepresentable, at: offset) }
      return result
    }
  }
#endif
