/// The kinds of values that a message distinguishes.
///
/// ```swift
/// if try message.kind(at: ["people"]) == .array { … }
/// ```
///
/// These are the kinds of version 1 of the format; a later version may add some, so a `switch` over them has a
/// `default`.
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
enum Tag {
  /// What follows the tag of a value whose size the tag does not state. Any other extent is that size: 1 to 127.
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

  static func kind(of tag: UInt8) -> StowKind? { form(of: tag).kind }

  /// The table of FORMAT.md: what kind a value with a tag is, and how it is skipped.
  private static func form(of tag: UInt8) -> (kind: StowKind?, extent: UInt8) {
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
    default: (nil, Extent.none)
    }
  }

  /// Extents by tag. Never written after it was made, and never freed.
  nonisolated(unsafe) static let extents: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    for tag in UInt8.min...UInt8.max { (table + Int(tag)).initialize(to: form(of: tag).extent) }
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
