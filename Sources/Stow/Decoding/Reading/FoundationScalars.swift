#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Strings and Foundation's single values, and the strings and numbers that JSON says those with.

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
  private static func readRare(
    _ message: Message, at offset: Int, next: inout Int
  ) throws(FormatError) -> String {
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
    // A long string need not be looked at, however often it is named.
    guard string.utf8.count == 36, let uuid = UUID(uuidString: string) else {
      try fail(.malformed, at: offset)
    }
    return uuid
  }

  /// The UUID of 16 bytes, the first of them lowest.
  fileprivate init(bits: UInt128) {
    self = withUnsafeBytes(of: bits.littleEndian) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension URL: ReadableScalar {
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> URL {
    let string = try String.read(message, at: offset, next: &next)
    var place = try message.reader.byte(at: offset) == URLs.tag ? offset + 1 : offset
    let symbol = try Symbols.read(message.reader, at: place, next: &place)
    guard let url = symbol.map({ message.url(ofSymbol: $0, string) }) ?? URL(string: string) else {
      try fail(.malformed, at: offset)
    }
    return url
  }
}

extension Data: ReadableScalar {
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Data {
    let bytes = try DataValues.read(message.reader, at: offset)
    next = bytes.upperBound
    return Data.copy(message.reader.buffer(at: bytes.lowerBound, count: bytes.count))
  }
}

extension Decimal: ReadableScalar {
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Decimal {
    let reader = message.reader
    if let parts = try Decimals.read(reader, at: offset, next: &next) { return try make(parts, at: offset) }
    let tag = try reader.byte(at: offset)
    if Floats.isFloat(tag) { return try make(Floats.read(reader, at: offset, next: &next), at: offset) }
    if tag == Integers.unsigned128 {
      let magnitude = try UInt128.read(message, at: offset, next: &next)
      return try make(DecimalParts(isNegative: false, magnitude: magnitude, exponent: 0), at: offset)
    }
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

  /// Returns the shortest decimal that is this number, as JSON would say it. `Decimal` takes "-inf" for a number.
  private static func make(_ value: Double, at offset: Int) throws(FormatError) -> Decimal {
    guard value.isFinite, let decimal = Decimal(string: value.description) else {
      try fail(.unrepresentable, at: offset)
    }
    return decimal
  }
}
