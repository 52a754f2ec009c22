/// An integer of 256 bits, which converts, compares and shifts words. It does not calculate.
struct WideInteger: BinaryInteger, SignedInteger {
  private(set) var words: [UInt]

  init(words: [UInt]) { self.words = words }

  init(truncatingIfNeeded source: some BinaryInteger) {
    let rest = source < 0 ? UInt.max : 0
    words = Array((Array(source.words) + [UInt](repeating: rest, count: 4)).prefix(4))
  }

  init(_ source: some BinaryInteger) { self.init(truncatingIfNeeded: source) }
  init(clamping source: some BinaryInteger) { self.init(truncatingIfNeeded: source) }
  init?(exactly source: some BinaryInteger) { self.init(truncatingIfNeeded: source) }
  init(integerLiteral value: Int) { self.init(truncatingIfNeeded: value) }
  init(_ source: some BinaryFloatingPoint) { fatalError("not an integer") }
  init?(exactly source: some BinaryFloatingPoint) { nil }

  var bitWidth: Int { 256 }
  var trailingZeroBitCount: Int { words.first { $0 != 0 }?.trailingZeroBitCount ?? bitWidth }
  var magnitude: WideInteger { self < 0 ? -self : self }
  private var isNegative: Bool { Int(bitPattern: words[3]) < 0 }

  static func < (left: WideInteger, right: WideInteger) -> Bool {
    if left.isNegative != right.isNegative { return left.isNegative }
    return left.words.reversed().lexicographicallyPrecedes(right.words.reversed())
  }

  private static func none() -> Never { fatalError("no calculations") }

  static func + (left: WideInteger, right: WideInteger) -> WideInteger { none() }
  static func - (left: WideInteger, right: WideInteger) -> WideInteger { none() }
  static func * (left: WideInteger, right: WideInteger) -> WideInteger { none() }
  static func / (left: WideInteger, right: WideInteger) -> WideInteger { none() }
  static func % (left: WideInteger, right: WideInteger) -> WideInteger { none() }
  static func *= (left: inout WideInteger, right: WideInteger) { none() }
  static func /= (left: inout WideInteger, right: WideInteger) { none() }
  static func %= (left: inout WideInteger, right: WideInteger) { none() }
  static func &= (left: inout WideInteger, right: WideInteger) { none() }
  static func |= (left: inout WideInteger, right: WideInteger) { none() }
  static func ^= (left: inout WideInteger, right: WideInteger) { none() }
  static prefix func ~ (value: WideInteger) -> WideInteger { none() }
  static func <<= (left: inout WideInteger, right: some BinaryInteger) { none() }

  /// By whole words, as the standard library does it.
  static func >>= (left: inout WideInteger, right: some BinaryInteger) {
    precondition(right >= 0 && right % 64 == 0)
    let rest = left.isNegative ? UInt.max : 0
    left.words = Array((left.words.dropFirst(Int(right) / 64) + [UInt](repeating: rest, count: 4)).prefix(4))
  }
}
