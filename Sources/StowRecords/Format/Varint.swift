import Stow

// Integers of variable size in arrays of bytes (FORMAT.md, "Uints and text headers").

extension Varint {
  /// The most bytes that an integer takes.
  static let mostBytes = 9

  /// The number of bytes that the integer takes whose first byte is given; nil if that is reserved.
  static func size(ofFirst byte: UInt8) -> Int? { form(lead: byte).map { 1 + $0.width } }

  static func append(_ value: Int, to bytes: inout [UInt8]) {
    let (lead, rest, width) = form(value)
    bytes.append(lead)
    for place in 0..<width { bytes.append(UInt8(truncatingIfNeeded: rest >> UInt64(place * 8))) }
  }

  /// The integer at `offset`, which moves past it; nil if there is none before `end`, or none that an `Int` holds.
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

  /// Puts the bytes of an integer in the place of those from `offset` on.
  mutating func replaceLittleEndian<Value: FixedWidthInteger>(at offset: Int, with value: Value) {
    for place in 0..<Value.bitWidth / 8 {
      self[offset + place] = UInt8(truncatingIfNeeded: value >> Value(place * 8))
    }
  }

  /// The integer of up to eight bytes from `offset` on.
  func littleEndian(at offset: Int, size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64($1 * 8) }
  }
}
