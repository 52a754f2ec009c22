/// What an error says was found in place of a value of the type asked for.
enum ActualKind: UInt8 {
  case null, bool, integer, float, string, array, object, date, uuid, data, url, decimal, reserved
  /// An element without a tag.
  case element
  /// A number that the type cannot hold.
  case misfit

  static let count = Int(misfit.rawValue) + 1

  @inline(__always)
  init(tag: UInt8) {
    switch tag {
    case Tag.shortString...Tag.lastShortSymbol: self = .string
    case Tag.smallInteger...Tag.lastSmallInteger: self = .integer
    default: self.init(otherTag: tag)
    }
  }

  @inline(never)
  private init(otherTag tag: UInt8) {
    self =
      switch tag {
      case Tag.null, Tag.nestedNil: .null
      case Tag.false, Tag.true: .bool
      case Tag.integer...Tag.unsigned128: .integer
      case Tag.double...Tag.noisyDecimal, Tag.shortDecimal...Tag.lastShortDecimal: .float
      case Tag.date, Tag.scaledDate: .date
      case Tag.uuid: .uuid
      case Tag.data: .data
      case Tag.url: .url
      case Tag.positiveDecimal, Tag.negativeDecimal: .decimal
      case Tag.string, Tag.symbol: .string
      case Tag.array, Tag.packed, Tag.packedFloats, Tag.table, Tag.matrix, Tag.shortArray..<Tag.shortRecord:
        .array
      case Tag.map...Tag.partialRecord, Tag.shortMap..<Tag.shortArray, Tag.shortRecord...: .object
      default: .reserved
      }
  }

  /// Returns the kind of the value that could not be read as another, or nil if the error is a fault of the bytes.
  @inline(__always)
  init?(_ error: FormatError, _ reader: ByteReader) {
    switch error.kind {
    case .mismatch:
      guard error.offset < reader.count else { return nil }
      self.init(tag: reader.base[error.offset])
    case .cellMismatch: self = .element
    case .unrepresentable: self = .misfit
    default: return nil
    }
  }

  /// In words.
  var name: String {
    switch self {
    case .null: "nil"
    case .bool: "a Bool"
    case .integer: "an integer"
    case .float: "a floating-point number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .date: "a date"
    case .uuid: "a UUID"
    case .data: "data"
    case .url: "a URL"
    case .decimal: "a decimal number"
    case .reserved: "a reserved tag"
    case .element: "an element of another kind"
    case .misfit: "a number that does not fit"
    }
  }
}
