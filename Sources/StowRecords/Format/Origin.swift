/// Where the records of a compacted log came from, so that whoever follows the log finds its place in the new file.
struct Origin: Sendable, Hashable {
  /// The identity of the file that was compacted.
  let identity: UInt64
  /// How many of its records were kept; they have the numbers below this.
  let count: Int

  static let size = 16

  init(identity: UInt64, count: Int) {
    self.identity = identity
    self.count = count
  }

  init?(_ bytes: [UInt8], _ payload: Range<Int>) {
    guard payload.count == Self.size,
      let count = Int(exactly: bytes.littleEndian(at: payload.lowerBound + 8, size: 8)),
      count < BlockHead.recordLimit
    else { return nil }
    self.init(identity: bytes.littleEndian(at: payload.lowerBound, size: 8), count: count)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendLittleEndian(identity)
    bytes.appendLittleEndian(UInt64(count))
  }
}
