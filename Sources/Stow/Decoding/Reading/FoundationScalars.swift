#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Foundation's single values, and the strings and numbers that JSON says them with.

extension Message {
  func dateSeconds(at offset: Int, next: inout Int) throws(FormatError) -> Double {
    switch try reader.byte(at: offset) {
    case Tag.date:
      let bits = try reader.word(at: offset + 1)
      next = offset + 9
      return Double(bitPattern: bits)
    case Tag.scaledDate: return try reader.scaled(at: offset + 1, next: &next)
    default: return try double(at: offset, next: &next)
    }
  }

  func uuid(at offset: Int, next: inout Int) throws(FormatError) -> UUID {
    guard try reader.byte(at: offset) == Tag.uuid else {
      let string = try string(at: offset, next: &next)
      // A long string need not be looked at, however often it is named.
      guard string.utf8.count == 36, let uuid = UUID(uuidString: string) else {
        try fail(.malformed, at: offset)
      }
      return uuid
    }
    try reader.require(16, at: offset + 1)
    next = offset + 17
    return UUID(uuid: reader.pointer(at: offset + 1).loadUnaligned(as: uuid_t.self))
  }

  func url(at offset: Int, next: inout Int) throws(FormatError) -> URL {
    let tag = try reader.byte(at: offset)
    var place = tag == Tag.url ? offset + 1 : offset
    let string = try string(at: offset, next: &next)
    let symbol = try reader.symbol(at: &place)
    guard let url = symbol.map({ self.url(ofSymbol: $0, string) }) ?? URL(string: string) else {
      try fail(.malformed, at: offset)
    }
    return url
  }

  /// Returns the data at `offset`, or nil if another kind of value stands there.
  func data(at offset: Int, next: inout Int) throws(FormatError) -> Data? {
    guard try reader.byte(at: offset) == Tag.data else { return nil }
    let range = try reader.data(at: offset)
    next = range.upperBound
    return Data.copy(reader.buffer(at: range.lowerBound, count: range.count))
  }

  func decimal(at offset: Int, next: inout Int) throws(FormatError) -> Decimal {
    if let parts = try decimalParts(at: offset, next: &next) {
      guard let decimal = parts.decimal else { try fail(.unrepresentable, at: offset) }
      return decimal
    }
    let tag = try reader.byte(at: offset)
    if tag >= Tag.double && tag <= Tag.noisyDecimal || tag >= Tag.shortDecimal && tag <= Tag.lastShortDecimal
    {
      return try Rounding.decimal(reader.double(at: offset, next: &next), at: offset)
    }
    let parts =
      tag == Tag.unsigned128
      ? DecimalParts(
        isNegative: false, magnitude: try integer(UInt128.self, at: offset, next: &next), exponent: 0)
      : DecimalParts(try integer(Int128.self, at: offset, next: &next))
    guard let decimal = parts.decimal else { try fail(.unrepresentable, at: offset) }
    return decimal
  }

  /// Returns the parts of the decimal number at `offset`, or nil if another kind of value stands there.
  func decimalParts(at offset: Int, next: inout Int) throws(FormatError) -> DecimalParts? {
    let tag = try reader.byte(at: offset)
    guard tag == Tag.positiveDecimal || tag == Tag.negativeDecimal else { return nil }
    var start = offset + 1
    let length = try reader.length(at: &start)
    guard (1...17).contains(length) else { try fail(.malformed, at: offset) }
    var magnitude: UInt128 = 0
    for index in 1..<length { magnitude |= UInt128(reader.base[start + index]) << UInt128(8 * (index - 1)) }
    let isNegative = tag == Tag.negativeDecimal
    // A negative zero is NaN, which has no exponent.
    guard magnitude != 0 || !isNegative || reader.base[start] == 0 else {
      try fail(.malformed, at: offset)
    }
    next = start + length
    return DecimalParts(
      isNegative: isNegative, magnitude: magnitude,
      exponent: Int8(bitPattern: reader.base[start]))
  }
}
