/// How the elements of a packed array, or the cells of a column, are laid out (FORMAT.md, "Element types").
///
/// One byte. Where a type has an exponent, it is the high nibble.
package enum ElementType {
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
  package static func stride(of type: UInt8) -> Int? {
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
  package static func isOfArrays(_ type: UInt8) -> Bool { type != constant && type != bool && type != date }

  /// Whether the elements are integers; a noisy decimal may hold one too.
  static func isInteger(_ type: UInt8) -> Bool { integers.contains(type) || type > unsigned }

  package static func isOffset(_ type: UInt8) -> Bool { type > offsets && type < offsets + 8 }

  /// Whether the elements are decimal fractions, noisy ones included.
  static func isDecimal(_ type: UInt8) -> Bool { (0x10..<deltas).contains(type) }

  static func isNoisy(_ type: UInt8) -> Bool { (0x10...0x9F).contains(type) && type & 15 > 8 }
}
