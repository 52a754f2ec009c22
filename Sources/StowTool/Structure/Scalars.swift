import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
    guard let tag = try? reader.byte(at: bytes.lowerBound), let value = value(reader, bytes) else {
      return ""
    }
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
