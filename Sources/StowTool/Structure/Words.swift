import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Numbers and names as people read them.
enum Words {
  /// Returns a number with commas between thousands.
  static func number(_ value: Int) -> String {
    var digits = Array(String(value.magnitude))
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: place)
      place -= 3
    }
    return (value < 0 ? "-" : "") + String(digits)
  }

  /// Returns a number and a noun: "1 byte", "2 bytes".
  static func count(_ count: Int, _ name: String) -> String { "\(number(count)) \(name)\(count == 1 ? "" : "s")" }

  /// Returns how many thousandths of a whole a part is.
  static func thousandths(_ part: Int, of whole: Int) -> Int {
    // The product alone may not fit in an `Int` of 32 bits.
    whole == 0 ? 0 : Int(Int64(part) * 1000 / Int64(whole))
  }

  /// Returns four bytes as the hexadecimal digits of a number.
  static func hex(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.utf8.count) + digits
  }

  /// Returns a byte as two hexadecimal digits.
  static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }

  /// Returns a text padded to a width, with spaces after it or before it.
  static func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
    let spaces = String(repeating: " ", count: max(0, width - text.unicodeScalars.count))
    return right ? spaces + text : text + spaces
  }

  /// Returns the word that another probably means: one that begins with it, or differs in at most two letters.
  static func nearest(to word: String, among words: [String]) -> String? {
    if word.utf8.count > 2, let whole = words.first(where: { $0.hasPrefix(word) }) { return whole }
    let near = words.map { (word: $0, distance: distance(Array($0.utf8), Array(word.utf8))) }
    return near.filter { $0.distance <= 2 }.min { $0.distance < $1.distance }?.word
  }

  /// Returns the edit distance: how many letters to insert, remove or change to make one word of another.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (index, letter) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for (column, other) in right.enumerated() {
        let changed = diagonal + (letter == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }

  /// Returns a string in quotes; only its beginning, if it has more than `most` characters.
  static func quoted(_ string: String, _ most: Int) -> String {
    let beginning = string.unicodeScalars.prefix(most)
    let isWhole = beginning.endIndex == string.endIndex
    let text = StowValue.string(String(beginning)).description
    return isWhole ? text : text.dropLast() + "…\""
  }
}

/// The meaning of scalars: each is a message by itself, which the library reads.
enum Scalars {
  static func value(_ reader: ByteReader, _ bytes: Range<Int>) -> StowValue? {
    try? StowValue(from: bytes.map { (try? reader.byte(at: $0)) ?? 0 })
  }

  static func kind(_ tag: UInt8) -> PieceKind {
    switch tag {
    case 0x00, 0x7C: .null
    case 0x01, 0x02: .bool
    case 0x03...0x0D, 0x80...0xBF: .integer
    case 0x16, 0x17: .date
    case 0x18: .uuid
    case 0x1B, 0x1C: .decimal
    default: .float
    }
  }

  /// Returns what a scalar of up to 20 bytes is, and its value.
  static func meaning(_ reader: ByteReader, _ bytes: Range<Int>) -> String {
    guard let tag = try? reader.byte(at: bytes.lowerBound), let value = value(reader, bytes) else { return "" }
    let text = value.description
    let width = Words.count(bytes.count - 1, "byte")
    switch tag {
    case 0x00: return "nil"
    case 0x7C: return nilLevel(value)
    case 0x03...0x0A, 0x0C: return "integer of \(width): \(text)"
    case 0x0B, 0x0D: return "integer of \(width) without a sign: \(text)"
    case 0x0E, 0x0F: return "float of \(width): \(text)"
    case 0x10...0x13: return "integral float of \(width): \(text)"
    case 0x14: return "\(scaled(reader, bytes)): \(text)"
    case 0x15: return "noisy \(scaled(reader, bytes)): \(numerator(reader, bytes)): \(text)"
    case 0x16: return "date, \(width): \(date(value))"
    case 0x17: return "date, \(scaled(reader, bytes)): \(date(value))"
    case 0x18: return "UUID \(value.uuid?.uuidString ?? "")"
    case 0x1B, 0x1C: return "decimal number: \(decimal(reader, bytes, value))"
    case 0x20...0x2F: return "short decimal, exponent \((tag - 0x20) / 4 + 1), \(width): \(text)"
    default: return text
    }
  }

  private static func nilLevel(_ value: StowValue) -> String {
    guard case .nestedNull(let level) = value else { return "nil" }
    return "nil, \(Words.count(level, "level")) in"
  }

  private static func scaled(_ reader: ByteReader, _ bytes: Range<Int>) -> String {
    let scale = (try? reader.byte(at: bytes.lowerBound + 1)) ?? 0
    return "decimal, exponent \(scale >> 4), \(Words.count(Int(scale & 15), "byte"))"
  }

  /// Returns the numerator and the residue of a noisy decimal.
  private static func numerator(_ reader: ByteReader, _ bytes: Range<Int>) -> String {
    let width = bytes.count - 3
    guard let numerator = try? reader.signed(at: bytes.lowerBound + 2, width: width),
      let residue = try? reader.byte(at: bytes.upperBound - 1)
    else { return "" }
    return "\(numerator), residue \(Int8(bitPattern: residue))"
  }

  static func date(_ value: StowValue) -> String {
    guard let date = value.date else { return "" }
    let seconds = StowValue.double(date.timeIntervalSinceReferenceDate).description
    let text = value.description.split(separator: "\"")
    return "\(seconds) s\(text.count == 2 ? ", \(text[1])" : "")"
  }

  private static func decimal(_ reader: ByteReader, _ bytes: Range<Int>, _ value: StowValue) -> String {
    guard value.decimal?.isNaN != true, let exponent = try? reader.byte(at: bytes.lowerBound + 2),
      let tag = try? reader.byte(at: bytes.lowerBound)
    else { return "NaN" }
    var magnitude: UInt128 = 0
    for offset in ((bytes.lowerBound + 3)..<bytes.upperBound).reversed() {
      magnitude = magnitude << 8 | UInt128((try? reader.byte(at: offset)) ?? 0)
    }
    return "\(tag == 0x1C ? "-" : "")\(magnitude) × 10^\(Int8(bitPattern: exponent))"
  }

  /// Returns the beginning of a string, in quotes.
  static func beginning(_ reader: ByteReader, _ bytes: Range<Int>) -> String {
    let most = 60
    let first = bytes.prefix(4 * most + 4).map { (try? reader.byte(at: $0)) ?? 0 }
    return Words.quoted(String(decoding: first, as: UTF8.self), most)
  }
}

/// The names of element types, and the meaning of elements.
enum ElementWords {
  static func name(of type: UInt8) -> String {
    let width = Words.count(Int(type & 15), "byte")
    switch type {
    case 0x00: return "constant"
    case 0x01...0x08: return "integers of \(width)"
    case 0x09: return "floats of 4 bytes"
    case 0x0A: return "floats of 8 bytes"
    case 0x0B: return "Bools of a byte"
    case 0x0C: return "Bools as bits"
    case 0x0D: return "integers of own widths"
    case 0x0E: return "differences of own widths"
    case 0x0F: return "dates"
    case 0x10...0x9F where type & 15 > 8:
      return "noisy decimals, exponent \(type >> 4), \(Words.count(Int(type & 7), "byte")) and a residue"
    case 0x10...0x9F: return "decimals, exponent \(type >> 4), \(width)"
    case 0xA0...0xAF: return "integral floats of \(width)"
    case 0xB0...0xBF: return "differences of \(width)"
    case 0xC0...0xCF: return "integers of \(width) without a sign"
    default: return "offsets of \(width)"
    }
  }

  static func kind(of type: UInt8) -> PieceKind {
    switch type {
    case 0x0B, 0x0C: .bool
    case 0x0F: .date
    case 0x09, 0x0A, 0x10...0xAF: .float
    default: .integer
    }
  }

  /// Returns the meaning of a cell.
  ///
  /// - Parameter residue: Its last byte, if it has a residue.
  static func meaning(_ cell: Cell, residue: UInt8?) -> String {
    switch cell {
    case .integer(let value): "\(value)\(residue == nil ? "" : ", an integer")"
    case .double(let value):
      StowValue.double(value).description + (residue.map { ", residue \(Int8(bitPattern: $0))" } ?? "")
    case .singleNaN(let value): StowValue.float(value).description
    case .bool(let value): "\(value)"
    case .date(let seconds): "\(StowValue.double(seconds)) s"
    }
  }
}
