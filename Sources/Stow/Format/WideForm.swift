/// The bytes of a scalar that no word holds, as they stand in a message, tag and all: up to eight, and up to sixteen
/// behind them.
struct WideForm: BitwiseCopyable {
  private let head: UInt64
  private let headSize: UInt8
  private let width: UInt8
  private let low: UInt64
  private let high: UInt64

  /// The tag, and `width` bytes of `bits`, the lowest first.
  init(_ bits: UInt128, width: Int, tag: UInt8) { self.init(bits, width: width, head: UInt64(tag), size: 1) }

  /// - Parameter head: The first `size` bytes, the first of them lowest.
  init(_ bits: UInt128, width: Int, head: UInt64, size: Int) {
    self.head = head
    headSize = UInt8(size)
    self.width = UInt8(width)
    low = UInt64(truncatingIfNeeded: bits)
    high = UInt64(truncatingIfNeeded: bits >> 64)
  }

  /// Writes the bytes. Within a reserve.
  func write(to writer: inout BackwardWriter) {
    if width > 8 { writer.littleEndian(high, width: Int(width) - 8) }
    writer.littleEndian(low, width: min(8, Int(width)))
    writer.littleEndian(head, width: Int(headSize))
  }
}
