/// The kinds of values that a message distinguishes.
///
/// ```swift
/// if try message.kind(at: ["people"]) == .array { … }
/// ```
///
/// These are the kinds of version 1 of the format; a later version may add some, so a `switch` over them has a `default`.
public enum StowKind: String, Hashable, Sendable, CaseIterable {
  /// The nil of an optional, at any level.
  case null
  /// A Bool, which is not a number.
  case bool
  /// An integer of any size.
  case integer
  /// A floating-point number of any size.
  case floatingPoint
  /// A string.
  case string
  /// Bytes.
  case data
  /// A point in time.
  case date
  /// A UUID.
  case uuid
  /// A URL.
  case url
  /// A decimal number.
  case decimal
  /// Values in order.
  case array
  /// Values by their keys.
  case object
}

/// The first byte of every value (FORMAT.md, "Tags"): what the value is, and either how long it is or where
/// its byte length is, so that any value can be skipped without being read.
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
  /// How many bytes a value takes, or where the value states it: one byte for each tag.
  struct Extent {
    let code: UInt8

    /// A fixed number of bytes, tag included: 1 to 127.
    static func fixed(_ size: UInt8) -> Extent { Extent(code: size) }
    /// A length, and as many bytes.
    static let length = Extent(code: 0)
    /// A scale byte, whose low half is the number of bytes after it.
    static let scale = Extent(code: 0x80)
    /// The same, and one more byte.
    static let scaleAndByte = Extent(code: 0x81)
    /// A uint.
    static let uint = Extent(code: 0x82)
    /// A uint, a length, and as many bytes.
    static let uintAndLength = Extent(code: 0x83)
    /// A string value.
    static let string = Extent(code: 0x84)
    /// No value has the tag.
    static let none = Extent(code: 0xFF)
  }

  static func kind(of tag: UInt8) -> StowKind? { form(of: tag).kind }

  /// Returns what kind a value with a tag is, and how it is skipped: the whole table.
  private static func form(of tag: UInt8) -> (kind: StowKind?, extent: Extent) {
    switch tag {
    case Nils.tag: (.null, .fixed(1))
    case Nils.nested: (.null, .fixed(2))
    case Bools.false, Bools.true: (.bool, .fixed(1))
    case Integers.small...Integers.lastSmall: (.integer, .fixed(1))
    case Integers.sized...Integers.lastSized: (.integer, .fixed(tag - Integers.sized + 2))
    case Integers.unsigned64: (.integer, .fixed(9))
    case Integers.signed128, Integers.unsigned128: (.integer, .fixed(17))
    case Floats.double: (.floatingPoint, .fixed(9))
    case Floats.float: (.floatingPoint, .fixed(5))
    case Floats.integral...Floats.lastIntegral: (.floatingPoint, .fixed(tag - Floats.integral + 2))
    case Floats.decimal: (.floatingPoint, .scale)
    case Floats.noisyDecimal: (.floatingPoint, .scaleAndByte)
    case Floats.shortDecimal...Floats.lastShortDecimal: (.floatingPoint, .fixed((tag & 3) + 2))
    case Dates.tag: (.date, .fixed(9))
    case Dates.scaled: (.date, .scale)
    case UUIDs.tag: (.uuid, .fixed(17))
    case DataValues.tag: (.data, .length)
    case URLs.tag: (.url, .string)
    case Decimals.positive, Decimals.negative: (.decimal, .length)
    case Strings.short...Strings.lastShort: (.string, .fixed(tag - Strings.short + 1))
    case Strings.long: (.string, .length)
    case Symbols.short...Symbols.lastShort: (.string, .fixed(1))
    case Symbols.long: (.string, .uint)
    case Arrays.short...Arrays.lastShort: (.array, .fixed(tag - Arrays.short + 1))
    case Arrays.long, PackedArray.tag, PackedArray.floats, Columns.table, Columns.matrix: (.array, .length)
    case Maps.short...Maps.lastShort: (.object, .fixed(tag - Maps.short + 1))
    case Maps.long, Records.short...: (.object, .length)
    case Records.long, Records.longPartial: (.object, .uintAndLength)
    default: (nil, Extent.none)
    }
  }

  /// The codes of extents, by tag. Never written after it was made, and never freed.
  nonisolated(unsafe) static let extents: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    for tag in UInt8.min...UInt8.max { (table + Int(tag)).initialize(to: form(of: tag).extent.code) }
    return UnsafePointer(table)
  }()
}

extension ByteReader {
  /// A reader of some bytes, which must outlive its use.
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.init(extents: Tag.extents)
    turn(to: bytes)
  }

  /// Returns the offset after the value at `offset`: a step of constant cost, whatever the value holds.
  @inline(__always)
  package func end(of offset: Int) throws(FormatError) -> Int {
    let tag = try byte(at: offset)
    let size = extents[Int(tag)]
    if size == Tag.Extent.length.code {
      var next = offset &+ 1
      let length = try length(at: &next)
      return next &+ length
    }
    guard size < Tag.Extent.scale.code else { return try endOfOther(offset, tag: tag, size) }
    guard Int(size) <= count &- offset else { try fail(.truncated, at: offset) }
    return offset &+ Int(size)
  }

  @inline(never)
  private func endOfOther(_ offset: Int, tag: UInt8, _ extent: UInt8) throws(FormatError) -> Int {
    var next = offset + 1
    switch extent {
    case Tag.Extent.scale.code, Tag.Extent.scaleAndByte.code:
      let size = Int(try byte(at: next) & 15) + (extent == Tag.Extent.scale.code ? 0 : 1)
      try require(size, at: next + 1)
      return next + 1 + size
    case Tag.Extent.string.code:
      guard URLs.mayHold(try byte(at: next)) else { try fail(.malformed, at: next) }
      return try end(of: next)
    case Tag.Extent.uint.code:
      _ = try varint(at: &next)
      return next
    case Tag.Extent.uintAndLength.code:
      _ = try varint(at: &next)
      let length = try length(at: &next)
      return next + length
    default: try fail(tag == MessageTables.tag ? .malformed : .reserved, at: offset)
    }
  }
}
