/// The first byte of every value (FORMAT.md, "Tags").
///
/// A tag says what a value is and either how long it is or where its byte length stands, so that any
/// value can be skipped without being read. Each kind of value has its tags in its own file.
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
  static let kinds = [
    Nils.kind, Bools.kind, Integers.kind, Floats.kind, Dates.kind, UUIDs.kind, DataValues.kind, URLs.kind,
    Decimals.kind, Strings.kind, Symbols.kind, Arrays.kind, PackedArray.kind, Columns.kind, Maps.kind,
    Records.kind,
  ]

  /// By tag: the number of its kind in `kinds`, and behind all of them for a tag that no value has.
  static let kindNumbers: [Int] = (0...255).map { tag in
    kinds.firstIndex { $0.extent(UInt8(tag)) != nil } ?? kinds.count
  }

  /// By tag: the code of its extent. Never written after it was made, and never freed.
  nonisolated(unsafe) static let extents: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    for tag in UInt8.min...UInt8.max {
      let number = kindNumbers[Int(tag)]
      let extent = number < kinds.count ? kinds[number].extent(tag) : nil
      (table + Int(tag)).initialize(to: (extent ?? .none).code)
    }
    return UnsafePointer(table)
  }()

  /// Whether no number, of whatever kind, has the tag, nor anything else below strings.
  @inline(__always)
  static func isNoNumber(_ tag: UInt8) -> Bool {
    tag < Integers.sized || tag >= Strings.short && !Integers.isSmall(tag)
  }
}

extension ByteReader {
  /// A reader of some bytes, which must outlive its use.
  package init(_ bytes: UnsafeRawBufferPointer) { self.init(bytes, extents: Tag.extents) }

  /// The offset behind the value at `offset`: a step of constant cost, whatever the value holds.
  @inline(__always)
  package func end(of offset: Int) throws(FormatError) -> Int {
    let tag = try byte(at: offset)
    let size = extents[Int(tag)]
    if size == Extent.length.code {
      var next = offset &+ 1
      let length = try length(at: &next)
      return next &+ length
    }
    guard size < Extent.scale.code else { return try endOfOther(offset, tag: tag, size) }
    guard Int(size) <= count &- offset else { try fail(.truncated, at: offset) }
    return offset &+ Int(size)
  }

  @inline(never)
  private func endOfOther(_ offset: Int, tag: UInt8, _ extent: UInt8) throws(FormatError) -> Int {
    var next = offset + 1
    switch extent {
    case Extent.scale.code, Extent.scaleAndByte.code:
      let size = Int(try byte(at: next) & 15) + (extent == Extent.scale.code ? 0 : 1)
      try require(size, at: next + 1)
      return next + 1 + size
    case Extent.string.code:
      guard URLs.mayHold(try byte(at: next)) else { try fail(.malformed, at: next) }
      return try end(of: next)
    case Extent.uint.code:
      _ = try varint(at: &next)
      return next
    case Extent.uintAndLength.code:
      _ = try varint(at: &next)
      let length = try length(at: &next)
      return next + length
    default: try fail(tag == MessageTables.tag ? .malformed : .reserved, at: offset)
    }
  }
}

/// A kind of value: what errors call it, its tags, and how a value with one of them is skipped.
///
/// Each kind has a file of its own, which says all about its bytes; `Tag.kinds` lists them.
struct TaggedKind: Sendable {
  let name: String
  /// How a value with a tag is skipped; nil for the tags of other kinds.
  let extent: @Sendable (_ tag: UInt8) -> Extent?

  init(_ name: String, extent: @escaping @Sendable (_ tag: UInt8) -> Extent?) {
    self.name = name
    self.extent = extent
  }
}

/// How many bytes a value takes, or where the value says that: one byte for each tag.
struct Extent {
  let code: UInt8

  /// So many bytes, tag included: 1 to 127.
  static func fixed(_ size: UInt8) -> Extent { Extent(code: size) }
  /// A length, and as many bytes.
  static let length = Extent(code: 0)
  /// A scale byte, the low half of which is the number of bytes behind it.
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
