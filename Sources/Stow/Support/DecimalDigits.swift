/// The decimal digits of a number that is not negative, at hand to be written where there is room for them.
struct DecimalDigits: BitwiseCopyable {
  let number: Int
  let count: Int
  /// The first and the last of them, four at a time; the words overlap where there are fewer than eight.
  private let first: UInt32
  private let last: UInt32

  /// Numbers of this many digits and more are written one digit after the other.
  private static let manyDigits = 9

  init(_ number: Int) {
    self.number = number
    var (rest, count, digits) = (UInt(bitPattern: number), 0, UInt64(0))
    repeat {
      let digit = UInt64(truncatingIfNeeded: rest % 10) + UInt64(UInt8(ascii: "0"))
      digits = digits << 8 | digit
      rest /= 10
      count += 1
    } while rest > 0
    self.count = count
    first = UInt32(truncatingIfNeeded: digits)
    last = UInt32(truncatingIfNeeded: digits >> UInt64(8 * max(0, count - 4)))
  }

  /// Writes `count` bytes.
  @inline(__always)
  func write(to target: UnsafeMutablePointer<UInt8>) {
    guard count >= 4, count < Self.manyDigits else { return writeOneByOne(to: target) }
    let bytes = UnsafeMutableRawPointer(target)
    bytes.storeBytes(of: first.littleEndian, as: UInt32.self)
    bytes.storeBytes(of: last.littleEndian, toByteOffset: count &- 4, as: UInt32.self)
  }

  @inline(never)
  private func writeOneByOne(to target: UnsafeMutablePointer<UInt8>) {
    var rest = number
    for place in (0..<count).reversed() {
      target[place] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
  }
}
