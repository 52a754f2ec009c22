import Stow

// Integers of variable size in arrays of bytes (FORMAT.md, "Uints and text headers").

extension Varint {
  /// The most bytes that an integer takes.
  static let mostBytes = 9

  /// Returns the size of the integer that begins with a byte, or nil if that byte is reserved.
  static func size(ofFirst byte: UInt8) -> Int? { form(lead: byte).map { 1 + $0.width } }

  static func append(_ value: Int, to bytes: inout [UInt8]) {
    let (lead, rest, width) = form(value)
    bytes.append(lead)
    for place in 0..<width { bytes.append(UInt8(truncatingIfNeeded: rest >> UInt64(place * 8))) }
  }

  /// Reads the integer at `offset`, and moves past it. Returns nil if it does not end before `end`, or does
  /// not fit in an `Int`.
  static func read(from bytes: [UInt8], at offset: inout Int, before end: Int) -> Int? {
    guard offset < end, let (base, width) = form(lead: bytes[offset]), width < end - offset else {
      return nil
    }
    let rest = bytes.littleEndian(at: offset + 1, size: width)
    offset += 1 + width
    return Int(exactly: rest).map { base + $0 }
  }
}

extension [UInt8] {
  /// Appends the bytes of an integer, the least significant first.
  mutating func appendLittleEndian<Value: FixedWidthInteger>(_ value: Value) {
    for place in 0..<Value.bitWidth / 8 { append(UInt8(truncatingIfNeeded: value >> Value(place * 8))) }
  }

  /// Replaces the bytes from `offset` on by those of an integer.
  mutating func replaceLittleEndian<Value: FixedWidthInteger>(at offset: Int, with value: Value) {
    for place in 0..<Value.bitWidth / 8 {
      self[offset + place] = UInt8(truncatingIfNeeded: value >> Value(place * 8))
    }
  }

  /// Returns the integer of up to eight bytes from `offset` on.
  func littleEndian(at offset: Int, size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64($1 * 8) }
  }
}
