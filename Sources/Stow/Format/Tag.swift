/// The first byte of every value (FORMAT.md, "Tags").
///
/// A tag says what a value is and either how long it is or where its byte length stands, so that any
/// value can be skipped without being read.
enum Tag {
  static let null: UInt8 = 0x00
  static let `false`: UInt8 = 0x01
  static let `true`: UInt8 = 0x02
  /// A signed integer of 1 to 8 bytes: `integer + width - 1`.
  static let integer: UInt8 = 0x03
  static let lastInteger: UInt8 = 0x0A
  /// An integer from 2⁶³ to 2⁶⁴ − 1, 8 bytes.
  static let unsigned: UInt8 = 0x0B
  static let integer128: UInt8 = 0x0C
  static let unsigned128: UInt8 = 0x0D
  static let double: UInt8 = 0x0E
  static let float: UInt8 = 0x0F
  /// A floating-point number with an integral value of 1 to 4 bytes: `integral + width - 1`.
  static let integral: UInt8 = 0x10
  static let lastIntegral: UInt8 = 0x13
  /// A decimal fraction with its scale byte: what `shortDecimal` has no room for.
  static let decimal: UInt8 = 0x14
  /// A decimal fraction and a residue: how many representable numbers lie between it and the value.
  static let noisyDecimal: UInt8 = 0x15
  static let date: UInt8 = 0x16
  static let scaledDate: UInt8 = 0x17
  static let uuid: UInt8 = 0x18
  static let data: UInt8 = 0x19
  static let url: UInt8 = 0x1A
  static let positiveDecimal: UInt8 = 0x1B
  static let negativeDecimal: UInt8 = 0x1C
  static let string: UInt8 = 0x1D
  static let symbol: UInt8 = 0x1E
  static let prelude: UInt8 = 0x1F
  /// Exponent 1 to 4, width 1 to 4: `shortDecimal + (exponent - 1) * 4 + width - 1`.
  static let shortDecimal: UInt8 = 0x20
  static let lastShortDecimal: UInt8 = 0x2F
  /// A string of 0 to 31 bytes: `shortString + length`.
  static let shortString: UInt8 = 0x30
  /// One of the first 32 symbols: `shortSymbol + index`.
  static let shortSymbol: UInt8 = 0x50
  static let lastShortSymbol: UInt8 = 0x6F
  static let array: UInt8 = 0x70
  static let map: UInt8 = 0x71
  static let record: UInt8 = 0x72
  static let partialRecord: UInt8 = 0x73
  static let packed: UInt8 = 0x74
  /// A packed array of `ElementType.float`, which its tag implies.
  static let packedFloats: UInt8 = 0x75
  static let table: UInt8 = 0x7A
  static let matrix: UInt8 = 0x7B
  static let nestedNil: UInt8 = 0x7C
  /// What a message begins with that is more than a value; the next byte is its kind.
  static let otherMessage: UInt8 = 0x7F
  /// The kind of a message that relies on a context.
  static let contextMessage: UInt8 = 0x01
  /// An integer from −16 to 47: `smallInteger + 16 + value`.
  static let smallInteger: UInt8 = 0x80
  static let lastSmallInteger: UInt8 = 0xBF
  /// A map of 0 to 31 bytes: `shortMap + length`.
  static let shortMap: UInt8 = 0xC0
  /// An array of 0 to 15 bytes: `shortArray + length`.
  static let shortArray: UInt8 = 0xE0
  /// A record of one of the first 8 shapes: `shortRecord + shape`.
  static let shortRecord: UInt8 = 0xF0
  static let shortPartialRecord: UInt8 = 0xF8

  /// The longest string that a constant column may have, which takes no memory of its own.
  static let lastConstantString = shortString + 15

  static let shortStringLimit = 32
  static let shortSymbolLimit = 32
  static let shortMapLimit = 32
  static let shortArrayLimit = 16
  static let shortShapeLimit = 8
  static let smallIntegers: ClosedRange<Int64> = -16...47
  /// The whole size in bytes of a value with the given tag, tag included; 0 where a length follows, `otherSize`
  /// where the size says itself in another way.
  static let fixedSizes: [UInt8] = (0...255).map { fixedSize(of: UInt8($0)) }
  static let otherSize = UInt8.max

  /// Whether no number, of whatever kind, has the tag, nor anything else below strings.
  @inline(__always)
  static func isNoNumber(_ tag: UInt8) -> Bool {
    tag < integer || tag >= shortString && tag & 0xC0 != smallInteger
  }

  private static func fixedSize(of tag: UInt8) -> UInt8 {
    switch tag {
    case null, `false`, `true`: 1
    case integer...lastInteger: tag - integer + 2
    case unsigned, double, date: 9
    case integer128, unsigned128, uuid: 17
    case float: 5
    case integral...lastIntegral: tag - integral + 2
    case shortDecimal...lastShortDecimal: (tag & 3) + 2
    case shortString..<shortSymbol: tag - shortString + 1
    case shortSymbol...lastShortSymbol, smallInteger...lastSmallInteger: 1
    case nestedNil: 2
    case shortMap..<shortArray: tag - shortMap + 1
    case shortArray..<shortRecord: tag - shortArray + 1
    case string, data, positiveDecimal, negativeDecimal, array, map, shortRecord...: 0
    case packed, packedFloats, table, matrix: 0
    default: otherSize
    }
  }
}

/// How the elements of a packed array, or the cells of a column, are laid out (FORMAT.md, "Element types").
///
/// One byte. Where a type has an exponent, it is the high nibble.
enum ElementType {
  /// A column whose cells are all the same value, which stands once before the rows.
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
  /// Differences of neighbouring integers, 1 to 8 bytes each: `deltas + width`.
  static let deltas: UInt8 = 0xB0
  static let maximumExponent = 9
  /// The residue that marks an integer among floating-point numbers.
  static let integerMark: Int8 = -128
  static let maximumScaledWidth = 6

  /// A decimal fraction of `width` bytes, without a residue.
  static func scaled(exponent: Int, width: Int) -> UInt8 {
    exponent == 0 ? integral + UInt8(width) : UInt8(exponent) << 4 | UInt8(width)
  }

  /// A decimal fraction of `width` bytes and a byte of residue.
  static func noisy(exponent: Int, width: Int) -> UInt8 {
    UInt8(exponent) << 4 | UInt8(width + 8)
  }
}

extension ElementType {
  /// An integer that is never negative, 1 to 7 bytes: `unsigned + width`.
  static let unsigned: UInt8 = 0xC0

  /// What an integer lies above the least of all, which stands once before them, 1 to 7 bytes:
  /// `offsets + width`.
  static let offsets: UInt8 = 0xD0

  /// The bytes of one element, which every element of the type takes; nil for the types that differ.
  @inline(__always)
  static func stride(of type: UInt8) -> Int? {
    let low = Int(type & 15)
    switch type {
    case 0x01...0x08: return low
    case float: return 4
    case double, date: return 8
    case bool: return 1
    case 0x10...0x9F, 0xA1...0xA6:
      if (1...maximumScaledWidth).contains(low) { return low }
      return type < integral && (9...14).contains(low) ? low - 7 : nil
    case 0xC1...0xC7, 0xD1...0xD7: return low
    case constant: return 0
    default: return nil
    }
  }

  /// Whether arrays may have the type, which has a stride: all but the types that only columns have.
  static func isOfArrays(_ type: UInt8) -> Bool { type != constant && type != bool && type != date }

  /// Whether the elements are integers; a noisy decimal may hold one too.
  static func isInteger(_ type: UInt8) -> Bool { integers.contains(type) || type > unsigned }

  static func isOffset(_ type: UInt8) -> Bool { type > offsets && type < offsets + 8 }

  /// Whether the elements are decimal fractions, noisy ones included.
  static func isDecimal(_ type: UInt8) -> Bool { (0x10..<deltas).contains(type) }

  static func isNoisy(_ type: UInt8) -> Bool { (0x10...0x9F).contains(type) && type & 15 > 8 }
}
