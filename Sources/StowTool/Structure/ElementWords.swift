import Stow

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
