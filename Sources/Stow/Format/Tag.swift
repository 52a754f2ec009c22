/// The first byte of every value (FORMAT.md, "Tags"): what the value is, and either how long it is or where its byte
/// length stands, so that any value can be skipped without being read.
///
///           0    1    2    3    4    5    6    7    8    9    A    B    C    D    E    F
///     00   nil  ─ Bool ─  ───────────────────── integer ─────────────────────  ─ float ─
///     10   ────────────── float ─────────  ─ date ─ UUID data URL  decimal  str  sym  prelude
///     20   ─────────────────────────────────── float ───────────────────────────────────
///     30   ─────────────────────────────────── string ──────────────────────────────────
///     40   ─────────────────────────────────── string ──────────────────────────────────
///     50   ─────────────────────────────────── symbol ──────────────────────────────────
///     60   ─────────────────────────────────── symbol ──────────────────────────────────
///     70   arr  map  ─ record  ─ packed  ·    ·    ·    ·   tab  mat  nil   ·    ·    ·
///     80   ─────────────────────────────────── integer ─────────────────────────────────
///      ⋮
///     C0   ───────────────────────────────────── map ───────────────────────────────────
///     D0   ───────────────────────────────────── map ───────────────────────────────────
///     E0   ──────────────────────────────────── array ──────────────────────────────────
///     F0   ──────────────────────────────────── record ─────────────────────────────────
enum Tag {
  /// What a value is.
  enum Kind: Int, CaseIterable {
    case null, bool, integer, floatingPoint, date, uuid, data, url, decimal, string, array, object
    /// No value has the tag.
    case reserved

    /// What errors call it.
    var name: String {
      switch self {
      case .null: "nil"
      case .bool: "a Bool"
      case .integer: "an integer"
      case .floatingPoint: "a floating-point number"
      case .date: "a date"
      case .uuid: "a UUID"
      case .data: "data"
      case .url: "a URL"
      case .decimal: "a decimal number"
      case .string: "a string"
      case .array: "an array"
      case .object: "an object"
      case .reserved: "a reserved tag"
      }
    }
  }

  /// How many bytes a value takes with its tag, 1 to 127, or one of these codes for where the value says that.
  enum Extent {
    /// A length, and as many bytes.
    static let length: UInt8 = 0
    /// A scale byte, whose low half is the number of bytes after it.
    static let scale: UInt8 = 0x80
    /// The same, and one more byte.
    static let scaleAndByte: UInt8 = 0x81
    static let uint: UInt8 = 0x82
    /// A uint, a length, and as many bytes.
    static let uintAndLength: UInt8 = 0x83
    /// A string value.
    static let string: UInt8 = 0x84
    /// No value has the tag.
    static let none: UInt8 = 0xFF
  }

  static func kind(of tag: UInt8) -> Kind { form(of: tag).kind }

  /// What a value with a tag is, and how it is skipped: the whole table.
  private static func form(of tag: UInt8) -> (kind: Kind, extent: UInt8) {
    switch tag {
    case Nils.tag: (.null, 1)
    case Nils.nested: (.null, 2)
    case Bools.false, Bools.true: (.bool, 1)
    case Integers.small...Integers.lastSmall: (.integer, 1)
    case Integers.sized...Integers.lastSized: (.integer, tag - Integers.sized + 2)
    case Integers.unsigned64: (.integer, 9)
    case Integers.signed128, Integers.unsigned128: (.integer, 17)
    case Floats.double: (.floatingPoint, 9)
    case Floats.float: (.floatingPoint, 5)
    case Floats.integral...Floats.lastIntegral: (.floatingPoint, tag - Floats.integral + 2)
    case Floats.decimal: (.floatingPoint, Extent.scale)
    case Floats.noisyDecimal: (.floatingPoint, Extent.scaleAndByte)
    case Floats.shortDecimal...Floats.lastShortDecimal: (.floatingPoint, (tag & 3) + 2)
    case Dates.tag: (.date, 9)
    case Dates.scaled: (.date, Extent.scale)
    case UUIDs.tag: (.uuid, 17)
    case DataValues.tag: (.data, Extent.length)
    case URLs.tag: (.url, Extent.string)
    case Decimals.positive, Decimals.negative: (.decimal, Extent.length)
    case Strings.short...Strings.lastShort: (.string, tag - Strings.short + 1)
    case Strings.long: (.string, Extent.length)
    case Symbols.short...Symbols.lastShort: (.string, 1)
    case Symbols.long: (.string, Extent.uint)
    case Arrays.short...Arrays.lastShort: (.array, tag - Arrays.short + 1)
    case Arrays.long, PackedArray.tag, PackedArray.floats, Columns.table, Columns.matrix:
      (.array, Extent.length)
    case Maps.short...Maps.lastShort: (.object, tag - Maps.short + 1)
    case Maps.long, Records.short...: (.object, Extent.length)
    case Records.long, Records.longPartial: (.object, Extent.uintAndLength)
    default: (.reserved, Extent.none)
    }
  }

  /// By tag: the code of its extent. Never written after it was made, and never freed.
  nonisolated(unsafe) static let extents: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    for tag in UInt8.min...UInt8.max { (table + Int(tag)).initialize(to: form(of: tag).extent) }
    return UnsafePointer(table)
  }()

  /// Whether no number of any kind has the tag, nor anything else below strings.
  static func isNoNumber(_ tag: UInt8) -> Bool {
    tag < Integers.sized || tag >= Strings.short && !Integers.isSmall(tag)
  }
}

extension ByteReader {
  /// The offset after the value at `offset`: a step of constant cost, whatever the value holds.
  package func end(of offset: Int) throws(FormatError) -> Int {
    let tag = try byte(at: offset)
    let size = extents[Int(tag)]
    if size == Tag.Extent.length {
      var next = offset &+ 1
      let length = try length(at: &next)
      return next &+ length
    }
    guard size < Tag.Extent.scale else { return try endOfOther(offset, tag: tag, size) }
    guard Int(size) <= count &- offset else { try fail(.truncated, at: offset) }
    return offset &+ Int(size)
  }

  @inline(never)
  private func endOfOther(_ offset: Int, tag: UInt8, _ extent: UInt8) throws(FormatError) -> Int {
    var next = offset + 1
    switch extent {
    case Tag.Extent.scale, Tag.Extent.scaleAndByte:
      let size = Int(try byte(at: next) & 15) + (extent == Tag.Extent.scale ? 0 : 1)
      try require(size, at: next + 1)
      return next + 1 + size
    case Tag.Extent.string:
      guard URLs.mayHold(try byte(at: next)) else { try fail(.malformed, at: next) }
      return try end(of: next)
    case Tag.Extent.uint:
      _ = try varint(at: &next)
      return next
    case Tag.Extent.uintAndLength:
      _ = try varint(at: &next)
      let length = try length(at: &next)
      return next + length
    default: try fail(tag == MessageTables.tag ? .malformed : .reserved, at: offset)
    }
  }
}
