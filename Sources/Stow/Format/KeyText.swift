/// Keys and symbols as text of 5, 6 or 8 bits a character (FORMAT.md, "Texts").
///
/// Keys are identifiers, and half the bytes of small messages. A text is a header byte that says its form
/// and size, and the bytes. Every string has exactly one valid text, the shortest, so that two texts are the
/// same string if their bytes are equal.
enum KeyText {
  /// 6-bit characters: `sixBit + count`.
  static let sixBit: UInt8 = 0x00
  /// 5-bit units: `fiveBit + count`.
  static let fiveBit: UInt8 = 0x40
  /// UTF-8: `plain + length`.
  static let plain: UInt8 = 0x80
  /// One of the first 32 symbols, where a reference may stand: `symbol + index`.
  static let symbol: UInt8 = 0xC0
  static let longSymbol: UInt8 = 0xE0
  static let longPlain: UInt8 = 0xE1
  /// Counts up to 63 fit a header.
  static let limit = 64

  /// Unit 30 says that the next unit is an upper-case letter, 31 that it is a digit.
  private static let upperShift: UInt8 = 30
  private static let digitShift: UInt8 = 31

  enum Form { case plain, sixBit, fiveBit }

  /// The form in which `text` is shortest, the number of its characters, units or bytes, and the size of
  /// the whole, header included.
  static func measure(_ text: UnsafeRawBufferPointer) -> (form: Form, count: Int, size: Int) {
    let count = text.count
    guard count > 0, count < limit else {
      return (.plain, count, count + (count < limit ? 1 : 1 + Varint.size(count)))
    }
    var units = 0
    var isSix = true
    var isFive = true
    for byte in text {
      let width = fiveBitWidth(byte)
      if width == 0 { isFive = false }
      units += width
      if sixBitCode(byte) == nil {
        isSix = false
        if !isFive { break }
      }
    }
    var best: (form: Form, count: Int, size: Int) = (.plain, count, 1 + count)
    let six = 1 + (count * 6 + 7) / 8
    if isSix, six < best.size { best = (.sixBit, count, six) }
    let five = 1 + (units * 5 + 7) / 8
    if isFive, units < limit, five < best.size { best = (.fiveBit, units, five) }
    return best
  }

  /// The bytes of the text of `string`, header included.
  static func bytes(of string: String) -> [UInt8] {
    var string = string
    return string.withUTF8 { bytes(of: UnsafeRawBufferPointer($0)) }
  }

  static func bytes(of text: UnsafeRawBufferPointer) -> [UInt8] {
    let (form, count, size) = measure(text)
    var result: [UInt8] = []
    result.reserveCapacity(size)
    switch form {
    case .plain:
      if count < limit {
        result.append(plain + UInt8(count))
      } else {
        result.append(longPlain)
        appendVarint(count, to: &result)
      }
      result.append(contentsOf: text)
    case .sixBit:
      result.append(sixBit + UInt8(count))
      var bits = BitAppender()
      for byte in text { bits.append(sixBitCode(byte) ?? 0, width: 6, to: &result) }
      bits.finish(&result)
    case .fiveBit:
      result.append(fiveBit + UInt8(count))
      var bits = BitAppender()
      for byte in text {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"):
          bits.append(upperShift, width: 5, to: &result)
          bits.append(byte - UInt8(ascii: "A"), width: 5, to: &result)
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
          bits.append(digitShift, width: 5, to: &result)
          bits.append(byte - UInt8(ascii: "0"), width: 5, to: &result)
        default: bits.append(fiveBitCode(byte), width: 5, to: &result)
        }
      }
      bits.finish(&result)
    }
    return result
  }

  private static func appendVarint(_ value: Int, to result: inout [UInt8]) {
    var writer = BackwardWriter(capacity: Varint.longest)
    writer.varint(value)
    result.append(contentsOf: writer.written)
  }

  // MARK: alphabets

  /// a–z, A–Z, 0–9, `_`, `-`: as in `sixBitCharacters`.
  private static func sixBitCode(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a")
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "_"): 62
    case UInt8(ascii: "-"): 63
    default: nil
    }
  }

  /// Units that a character takes: 1 for a–z and `_-.$`, 2 for A–Z and 0–9, 0 for all that have none.
  private static func fiveBitWidth(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): 1
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "$"): 1
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): 2
    default: 0
    }
  }

  private static func fiveBitCode(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "_"): 26
    case UInt8(ascii: "-"): 27
    case UInt8(ascii: "."): 28
    case UInt8(ascii: "$"): 29
    default: byte - UInt8(ascii: "a")
    }
  }

  // MARK: reading

  private static let sixBitCharacters: StaticString =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
  private static let fiveBitCharacters: StaticString = "abcdefghijklmnopqrstuvwxyz_-.$"

  /// Unpacks `count` 6-bit characters at `source`, of which every byte is there.
  ///
  /// - Returns: The number of characters; nil if the bits that fill the last byte are not zero.
  static func unpackSixBit(_ source: UnsafeRawPointer, count: Int, into target: UnsafeMutablePointer<UInt8>)
    -> Int?
  {
    var bits = BitExtractor(source)
    let characters = sixBitCharacters.utf8Start
    for index in 0..<count { target[index] = characters[Int(bits.next(6))] }
    return bits.restIsZero ? count : nil
  }

  /// Unpacks `count` 5-bit units at `source`, of which every byte is there.
  ///
  /// - Returns: The number of characters; nil if the units are not a valid text.
  static func unpackFiveBit(_ source: UnsafeRawPointer, count: Int, into target: UnsafeMutablePointer<UInt8>)
    -> Int?
  {
    var bits = BitExtractor(source)
    let characters = fiveBitCharacters.utf8Start
    var length = 0
    var left = count
    while left > 0 {
      let unit = bits.next(5)
      left -= 1
      if unit < upperShift {
        target[length] = characters[Int(unit)]
      } else {
        guard left > 0 else { return nil }
        let shifted = bits.next(5)
        left -= 1
        guard shifted < (unit == upperShift ? 26 : 10) else { return nil }
        target[length] = shifted + (unit == upperShift ? UInt8(ascii: "A") : UInt8(ascii: "0"))
      }
      length += 1
    }
    return bits.restIsZero ? length : nil
  }
}

/// Appends groups of bits, lowest first, as bytes.
private struct BitAppender {
  private var pending: UInt32 = 0
  private var count: UInt32 = 0

  mutating func append(_ bits: UInt8, width: UInt32, to bytes: inout [UInt8]) {
    pending |= UInt32(bits) << count
    count += width
    if count >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: pending))
      pending >>= 8
      count -= 8
    }
  }

  mutating func finish(_ bytes: inout [UInt8]) {
    if count > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
  }
}

/// Takes groups of bits, lowest first, out of bytes.
private struct BitExtractor {
  private var next: UnsafeRawPointer
  private var pending: UInt32 = 0
  private var count: UInt32 = 0

  init(_ source: UnsafeRawPointer) { next = source }

  @inline(__always)
  mutating func next(_ width: UInt32) -> UInt8 {
    if count < width {
      pending |= UInt32(next.load(as: UInt8.self)) << count
      next += 1
      count &+= 8
    }
    let result = UInt8(truncatingIfNeeded: pending & (1 &<< width &- 1))
    pending &>>= width
    count &-= width
    return result
  }

  /// Whether the bits that fill the last byte are zero.
  var restIsZero: Bool { pending == 0 }
}
