#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type whose values are read without its own `init(from:)`, with the conversions that JSON would make: an
/// integer into any number type that holds it or is nearest, and kinds that JSON lacks from their substitutes.
protocol ReadableScalar: Decodable, Sendable {
  /// Returns the value at `offset`, and moves `next` past it.
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Self

  /// Reads the value at `offset` into uninitialized memory, as it is or as an optional, and returns where it ends.
  static func read(
    _ message: Message, at offset: Int, into target: UnsafeMutableRawPointer, isOptional: Bool
  ) throws(FormatError) -> Int

  /// The same for an array of values. Returns false if each must be looked at.
  static func read(
    arrayAt offset: Int, _ message: Message, into target: UnsafeMutableRawPointer, isOptional: Bool
  ) -> Bool

  /// Returns the value of the cell at `offset`, which has no tag.
  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Self

  /// Returns the value of a cell of the given type, for which integers are counted from `base`.
  static func read(_ reader: ByteReader, at offset: Int, _ type: UInt8, base: Int64) throws(FormatError) -> Self

  /// Returns all elements of an array, by code that is specialized for the type. Returns nil or throws if each must be
  /// looked at, to find out what is wrong or because making a value takes longer than finding it.
  static func array(at place: OpenPlace, _ message: Message) throws(FormatError) -> [Self]?
  /// The same for a packed array.
  static func array(of packed: PackedArray, _ message: Message) throws(FormatError) -> [Self]?
}

extension ReadableScalar {
  static func read(
    _ message: Message, at offset: Int, into target: UnsafeMutableRawPointer, isOptional: Bool
  ) throws(FormatError) -> Int {
    if isOptional, Nils.isNil(message.reader, at: offset) {
      target.put(nil as Self?)
      return try message.reader.end(of: offset)
    }
    var next = offset
    target.put(try readOutOfLine(message, at: offset, next: &next), isOptional: isOptional)
    return next
  }

  /// Reads a value with a tag. Not inlined, so that code that is rare or the same for many types stays short.
  @inline(never)
  static func readOutOfLine(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Self {
    try read(message, at: offset, next: &next)
  }

  /// Fails: most types have no cells.
  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Self { try fail(.cellMismatch, at: offset) }

  static func read(_ reader: ByteReader, at offset: Int, _ type: UInt8, base: Int64) throws(FormatError) -> Self {
    try read(Cell.read(reader, at: offset, type: type, base: base), at: offset)
  }

  static func read(
    arrayAt offset: Int, _ message: Message, into target: UnsafeMutableRawPointer, isOptional: Bool
  ) -> Bool {
    guard let array = try? array(at: OpenPlace(at: offset), message) else { return false }
    target.put(array, isOptional: isOptional)
    return true
  }

  static func array(at place: OpenPlace, _ message: Message) throws(FormatError) -> [Self]? {
    try elements(at: place, message)
  }

  fileprivate static func elements(at place: OpenPlace, _ message: Message) throws(FormatError) -> [Self]? {
    guard let offset = place.tagged else {
      guard let cells = try place.elements?.run(place.number, message) else { return nil }
      return try each(of: cells, message)
    }
    let reader = message.reader
    let tag = try reader.byte(at: offset)
    if PackedArray.isPacked(tag) { return try array(of: PackedArray(reader, at: offset), message) }
    if tag == DataValues.tag, Self.self == UInt8.self {
      let bytes = try DataValues.read(reader, at: offset)
      // Both are one type, which the compiler knows under two names.
      return unsafeBitCast([UInt8](reader.buffer(at: bytes.lowerBound, count: bytes.count)), to: [Self].self)
    }
    return try each(in: Arrays.read(reader, at: offset), message)
  }

  static func array(of packed: PackedArray, _ message: Message) throws(FormatError) -> [Self]? {
    guard packed.stride > 0 else { return nil }
    let column = Columns.Column(type: packed.type, base: packed.base)
    let (first, stride, count) = (packed.body.lowerBound, packed.stride, packed.count)
    return try each(of: CellRun(columns: [column], first: first, stride: stride, count: count), message)
  }

  private static func each(of cells: CellRun, _ message: Message) throws(FormatError) -> [Self] {
    // Unlike an array that is filled, one that grows is allocated by code that knows its type.
    var result: [Self] = []
    result.reserveCapacity(cells.count)
    for index in 0..<cells.count {
      let (column, row) = (cells.columns[cells.stride == 0 ? index : 0], cells.first &+ index &* cells.stride)
      // Making a larger value takes longer than a call.
      let isSmall = MemoryLayout<Self>.size <= 8
      result.append(try isSmall ? read(message, column, inRowAt: row) : readCell(message, column, inRowAt: row))
    }
    return result
  }

  private static func each(in elements: Range<Int>, _ message: Message) throws(FormatError) -> [Self] {
    var result: [Self] = []
    // No more than the bytes can hold, since the elements were not counted; a longer array grows.
    result.reserveCapacity(min(elements.count, 8))
    var next = elements.lowerBound
    while next < elements.upperBound {
      // Most of what is not packed are strings.
      let isString = Self.self == String.self
      result.append(try isString ? read(message, at: next, next: &next) : readOutOfLine(message, at: next, next: &next))
    }
    guard next == elements.upperBound else { try fail(.malformed, at: next) }
    return result
  }

  /// Returns the value that a row has in a column: the cell, or the single value of the column.
  @inline(never)
  static func readCell(_ message: Message, _ column: Columns.Column, inRowAt row: Int) throws(FormatError) -> Self {
    try read(message, column, inRowAt: row)
  }

  @inline(__always)
  static func read(_ message: Message, _ column: Columns.Column, inRowAt row: Int) throws(FormatError) -> Self {
    guard var constant = column.constant else {
      return try read(message.reader, at: row &+ Int(column.offset), column.type, base: column.base)
    }
    return try readOutOfLine(message, at: constant, next: &constant)
  }
}

extension Bool: ReadableScalar {
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Bool {
    let value = try Bools.read(message.reader, at: offset)
    next = offset &+ 1
    return value
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Bool {
    guard case .bool(let value) = cell else { try fail(.cellMismatch, at: offset) }
    return value
  }

  static func array(of packed: PackedArray, _ message: Message) throws(FormatError) -> [Bool]? {
    guard packed.isBool else { return nil }
    return [Bool].filled(count: packed.count) { target, initialized in
      for index in 0..<packed.count { target[index] = packed.bool(message.reader, at: index) }
      initialized = packed.count
    }
  }
}

// MARK: integers

extension ReadableScalar where Self: FixedWidthInteger {
  /// Whether arrays and cells are read as `Int64`, so that not each type has all of the code.
  private static var isShort: Bool { bitWidth < 64 }
  /// Whether it is `Int64`, or an `Int` of the same size.
  private static var isInt64: Bool { bitWidth == 64 && isSigned }

  private static func make(_ value: Int64, at offset: Int) throws(FormatError) -> Self {
    guard let result = Self(exactly: value) else { try fail(.unrepresentable, at: offset) }
    return result
  }

  /// Returns narrower integers. Where one does not fit is found out when each is read by itself.
  private static func make(_ values: [Int64]) throws(FormatError) -> [Self] {
    guard values.allSatisfy({ Self(exactly: $0) != nil }) else { try fail(.unrepresentable, at: 0) }
    return values.map { Self(truncatingIfNeeded: $0) }
  }

  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Self {
    try read(message.reader, at: offset, next: &next)
  }

  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Self {
    guard Integers.isUsual(try reader.byte(at: offset)) else { return try readRare(reader, at: offset, next: &next) }
    return try make(Integers.read(reader, at: offset, next: &next), at: offset)
  }

  @inline(never)
  private static func readRare(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Self {
    if let parts = try Decimals.readWide(reader, at: offset, next: &next) {
      guard let result = Self(exactly: parts) else { try fail(.unrepresentable, at: offset) }
      return result
    }
    _ = try Floats.read(reader, at: offset, next: &next)
    try fail(.notAnInteger, at: offset)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Self {
    switch cell {
    case .integer(let integer): return try make(integer, at: offset)
    case .double, .singleNaN: try fail(.notAnInteger, at: offset)
    case .bool, .date: try fail(.cellMismatch, at: offset)
    }
  }

  static func read(_ reader: ByteReader, at offset: Int, _ type: UInt8, base: Int64) throws(FormatError) -> Self {
    if isShort { return try make(Int64.read(reader, at: offset, type, base: base), at: offset) }
    guard ElementType.isInteger(type) else {
      return try read(Cell.read(reader, at: offset, type: type, base: base), at: offset)
    }
    return try make(Cell.readInteger(reader, at: offset, type: type) &+ base, at: offset)
  }

  static func array(of packed: PackedArray, _ message: Message) throws(FormatError) -> [Self]? {
    guard packed.isInteger else { return nil }
    guard isInt64 else { return try make(packed.integers(message.reader)) }
    return try [Self].filled(count: packed.count) { target, initialized throws(FormatError) in
      try target.withMemoryRebound(to: Int64.self, capacity: packed.count) { target throws(FormatError) in
        try packed.readIntegers(message.reader, into: target)
      }
      initialized = packed.count
    }
  }

  static func array(at place: OpenPlace, _ message: Message) throws(FormatError) -> [Self]? {
    if bitWidth > 64 { return nil }
    // Data is only an array of `UInt8`.
    guard isShort, Self.self != UInt8.self else { return try elements(at: place, message) }
    return try Int64.array(at: place, message).map { values throws(FormatError) in try make(values) }
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
  fileprivate static func nearest(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Self {
    guard let wide = try Decimals.readWide(reader, at: offset, next: &next) else {
      return Self(try Integers.read(reader, at: offset, next: &next))
    }
    let result = wide.isNegative ? -Self(wide.magnitude) : Self(wide.magnitude)
    return try result.checked(wasFinite: true, at: offset)
  }

  /// Returns the number. Throws if it was finite and is beyond the range of this type.
  fileprivate func checked(wasFinite: Bool, at offset: Int) throws(FormatError) -> Self {
    guard isFinite || !wasFinite else { try fail(.unrepresentable, at: offset) }
    return self
  }
}

extension Double: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Double {
    let reader = message.reader
    guard Floats.isFloat(try reader.byte(at: offset)) else { return try readRare(reader, at: offset, next: &next) }
    return try Floats.read(reader, at: offset, next: &next)
  }

  @inline(never)
  private static func readRare(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Double {
    if let seconds = try Dates.read(reader, at: offset, next: &next) { return seconds }
    if Tag.kind(of: try reader.byte(at: offset)) == .integer { return try nearest(reader, at: offset, next: &next) }
    if let parts = try Decimals.readWide(reader, at: offset, next: &next) { return parts.double }
    try fail(.mismatch, at: offset)
  }

  static func read(_ reader: ByteReader, at offset: Int, _ type: UInt8, base: Int64) throws(FormatError) -> Double {
    if type == ElementType.double || type == ElementType.float {
      return try Cell.readDouble(reader, at: offset, type: type)
    }
    return try read(Cell.read(reader, at: offset, type: type, base: base), at: offset)
  }

  static func array(of packed: PackedArray, _ message: Message) throws(FormatError) -> [Double]? {
    try [Double].filled(count: packed.count) { target, initialized throws(FormatError) in
      try packed.readDoubles(message.reader, into: target)
      initialized = packed.count
    }
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
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Float {
    let reader = message.reader
    if let float = try Floats.float(reader, at: offset, next: &next) { return float }
    // Not by way of `Double`, which would round twice.
    if Tag.kind(of: try reader.byte(at: offset)) == .integer { return try nearest(reader, at: offset, next: &next) }
    let value = try Double.read(message, at: offset, next: &next)
    return try Float(value).checked(wasFinite: value.isFinite, at: offset)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Float {
    switch cell {
    case .integer(let integer): return Float(integer)
    case .singleNaN(let value): return value
    case .double, .bool, .date:
      let value = try Double.read(cell, at: offset)
      return try Float(value).checked(wasFinite: value.isFinite, at: offset)
    }
  }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: ReadableScalar {
    static func array(at place: OpenPlace, _ message: Message) throws(FormatError) -> [Float16]? { nil }

    static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Float16 {
      let value = try Float.read(message, at: offset, next: &next)
      return try Float16(preserving: value).checked(wasFinite: value.isFinite, at: offset)
    }

    static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Float16 {
      let value = try Float.read(cell, at: offset)
      return try Float16(preserving: value).checked(wasFinite: value.isFinite, at: offset)
    }
  }
#endif

// MARK: strings and Foundation's values, from the strings and numbers that JSON says them with, too

extension String: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> String {
    if let string = try Strings.readShort(message.reader, at: offset, next: &next) { return string }
    if let symbol = try Symbols.read(message.reader, at: offset, next: &next) {
      return try message.symbol(symbol, at: offset)
    }
    return try readRare(message, at: offset, next: &next)
  }

  @inline(never)
  private static func readRare(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> String {
    let reader = message.reader
    if let string = try Strings.readLong(reader, at: offset, next: &next) { return string }
    if try reader.byte(at: offset) == URLs.tag {
      guard URLs.mayHold(try reader.byte(at: offset + 1)) else { try fail(.malformed, at: offset + 1) }
      return try read(message, at: offset + 1, next: &next)
    }
    guard let bits = try UUIDs.read(reader, at: offset, next: &next) else { try fail(.mismatch, at: offset) }
    return UUID(bits: bits).uuidString
  }
}

extension Date: ReadableScalar {
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Date {
    if let seconds = try Dates.read(message.reader, at: offset, next: &next) {
      return Date(timeIntervalSinceReferenceDate: seconds)
    }
    return Date(timeIntervalSinceReferenceDate: try Double.read(message, at: offset, next: &next))
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Date {
    Date(timeIntervalSinceReferenceDate: try Double.read(cell, at: offset))
  }
}

extension UUID: ReadableScalar {
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> UUID {
    if let bits = try UUIDs.read(message.reader, at: offset, next: &next) { return UUID(bits: bits) }
    let string = try String.read(message, at: offset, next: &next)
    // The length is checked first: a long string need not be looked at, however often it is referred to.
    guard string.utf8.count == 36, let uuid = UUID(uuidString: string) else { try fail(.wrongText, at: offset) }
    return uuid
  }

  /// Makes the UUID of 16 bytes, the first of them lowest.
  fileprivate init(bits: UInt128) {
    self = withUnsafeBytes(of: bits.littleEndian) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension URL: ReadableScalar {
  static func array(at place: OpenPlace, _ message: Message) throws(FormatError) -> [URL]? { nil }

  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> URL {
    let string = try String.read(message, at: offset, next: &next)
    var place = try message.reader.byte(at: offset) == URLs.tag ? offset + 1 : offset
    let symbol = try Symbols.read(message.reader, at: place, next: &place)
    guard let url = symbol.map({ message.url(ofSymbol: $0, string) }) ?? URL(string: string) else {
      try fail(.wrongText, at: offset)
    }
    return url
  }
}

extension Data: ReadableScalar {
  static func array(at place: OpenPlace, _ message: Message) throws(FormatError) -> [Data]? { nil }

  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Data {
    let bytes = try DataValues.read(message.reader, at: offset)
    next = bytes.upperBound
    return Data.copy(message.reader.buffer(at: bytes.lowerBound, count: bytes.count))
  }
}

extension Decimal: ReadableScalar {
  static func array(at place: OpenPlace, _ message: Message) throws(FormatError) -> [Decimal]? { nil }

  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Decimal {
    let reader = message.reader
    if let parts = try Decimals.readWide(reader, at: offset, next: &next) { return try make(parts, at: offset) }
    let tag = try reader.byte(at: offset)
    if Floats.isFloat(tag) { return try make(Floats.read(reader, at: offset, next: &next), at: offset) }
    return try make(DecimalParts(Int128.read(message, at: offset, next: &next)), at: offset)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Decimal {
    switch cell {
    case .integer(let integer): return try make(DecimalParts(Int128(integer)), at: offset)
    case .double(let value): return try make(value, at: offset)
    case .singleNaN: try fail(.unrepresentable, at: offset)
    case .bool, .date: try fail(.cellMismatch, at: offset)
    }
  }

  private static func make(_ parts: DecimalParts, at offset: Int) throws(FormatError) -> Decimal {
    guard let decimal = parts.decimal else { try fail(.unrepresentable, at: offset) }
    return decimal
  }

  /// Returns the shortest decimal of this number, as in JSON. `Decimal` would accept "-inf" as a number.
  private static func make(_ value: Double, at offset: Int) throws(FormatError) -> Decimal {
    guard value.isFinite, let decimal = Decimal(string: value.description) else {
      try fail(.unrepresentable, at: offset)
    }
    return decimal
  }
}
