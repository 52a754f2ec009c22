/// Integers of variable size (FORMAT.md, "Uints").
enum Uint {
  /// The number of bytes that `value` takes.
  static func size(of value: Int) -> Int {
    value < 224 ? 1 : value < 6_368 ? 2 : value < 268_512 ? 3 : UInt64(value) <= UInt32.max ? 5 : 9
  }

  /// The number of bytes that the integer takes whose first byte is given; nil if that is reserved.
  static func size(ofFirst byte: UInt8) -> Int? {
    byte < 0xE0 ? 1 : byte < 0xF8 ? 2 : byte < 0xFC ? 3 : byte == 0xFC ? 5 : byte == 0xFD ? 9 : nil
  }

  static func append(_ value: Int, to bytes: inout [UInt8]) {
    switch size(of: value) {
    case 1: bytes.append(UInt8(value))
    case 2:
      bytes.append(UInt8(0xE0 + (value - 224) >> 8))
      bytes.appendLittleEndian(UInt8(truncatingIfNeeded: value - 224))
    case 3:
      bytes.append(UInt8(0xF8 + (value - 6_368) >> 16))
      bytes.appendLittleEndian(UInt16(truncatingIfNeeded: value - 6_368))
    case 5:
      bytes.append(0xFC)
      bytes.appendLittleEndian(UInt32(value))
    default:
      bytes.append(0xFD)
      bytes.appendLittleEndian(UInt64(value))
    }
  }

  /// The integer at `offset`, which moves behind it; nil if there is none before `end`, or none that an `Int` holds.
  static func read(from bytes: [UInt8], at offset: inout Int, before end: Int) -> Int? {
    guard offset < end else { return nil }
    let first = Int(bytes[offset])
    let further = first < 0xE0 ? 0 : first < 0xF8 ? 1 : first < 0xFC ? 2 : first == 0xFC ? 4 : 8
    guard first <= 0xFD, further < end - offset else { return nil }
    let rest = bytes.littleEndian(at: offset + 1, size: further)
    offset += 1 + further
    switch further {
    case 0: return first
    case 1: return 224 + (first - 0xE0) * 256 + Int(rest)
    case 2: return 6_368 + (first - 0xF8) * 65_536 + Int(rest)
    default: return Int(exactly: rest)
    }
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
