/// What the `Codable` of an enumeration made of values that were met, so that it need not be asked again: the byte of
/// the case, for a symbol, an integer or a short string.
///
/// There are a few slots. A value that has no slot of its own takes that of another.
final class EnumerationMemo {
  /// A value by its bytes, and where it is from: a symbol belongs to a message, or to what that relies on.
  struct Key: BitwiseCopyable {
    let bits: UInt64
    let source: Int

    fileprivate var slot: Int { Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) &>> 59) }
  }

  private let slots: UnsafeMutablePointer<(key: Key, byte: UInt8)>

  private static let count = 32
  /// The sources of values that say all themselves, and of the cells of columns, which have no tags. Messages are
  /// counted from one, and what they rely on has negative numbers.
  private static let (value, cell, none) = (0, Int.min, Int.min + 1)

  init() {
    slots = .allocate(capacity: Self.count)
    slots.initialize(repeating: (Key(bits: 0, source: Self.none), 0), count: Self.count)
  }

  deinit { slots.deallocate() }

  subscript(key: Key) -> UInt8? {
    let slot = slots[key.slot]
    return slot.key.bits == key.bits && slot.key.source == key.source ? slot.byte : nil
  }

  func note(_ byte: UInt8, for key: Key) { slots[key.slot] = (key, byte) }

  static func key(ofCell integer: Int64) -> Key { Key(bits: UInt64(bitPattern: integer), source: cell) }

  /// Returns the key of the value at an offset; nil for a long one, or one that holds others.
  @inline(__always)
  static func key(at offset: Int, _ message: Message) throws(FormatError) -> Key? {
    let reader = message.reader
    let (tag, end) = (try reader.byte(at: offset), try reader.end(of: offset))
    guard end &- offset <= 8 else { return nil }
    let bits = reader.firstBytes(at: offset, upTo: end)
    var next = offset
    if let symbol = try Symbols.read(reader, at: offset, next: &next) {
      return Key(bits: bits, source: message.source(ofSymbol: symbol))
    }
    let isString = tag >= Strings.short && tag <= Strings.lastShort
    return isString || Integers.isUsual(tag) || tag == Nils.tag ? Key(bits: bits, source: value) : nil
  }
}
