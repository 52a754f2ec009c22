// Arrays of strings that are all new when they come: they stand in the pool as they are written.

extension StringPool {
  /// The bytes that precede a string in the pool: its tag, and its length if that is one byte beside the tag. A longer
  /// string has no header there.
  @inline(__always)
  static func headerSize(_ length: Int) -> Int {
    length < Tag.shortStringLimit ? 1 : length < Varint.oneByteLimit ? 2 : 0
  }

  /// Writes the header, and perhaps a byte behind it.
  @inline(__always)
  static func writeHeader(of length: Int, to target: UnsafeMutableRawPointer) {
    let size = UInt16(truncatingIfNeeded: length)
    let isShort = length < Tag.shortStringLimit
    let header = isShort ? UInt16(Tag.shortString) &+ size : UInt16(Tag.string) | size &<< 8
    target.storeBytes(of: header.littleEndian, as: UInt16.self)
  }
}

extension Emitter {
  /// Writes the array whose elements are `range` of the tape, if they are strings that stand one behind the other in
  /// the pool, and none is a symbol.
  mutating func writeStrings(_ tape: TapeView, _ range: Range<Int>, _ session: EncodingSession) -> Bool {
    let tokens = UnsafeBufferPointer(rebasing: tape.tokens[range])
    let first = tokens[0].index
    for index in tokens.indices {
      guard tokens[index].kind == .string, tokens[index].index == first &+ index else { return false }
    }
    let entries = UnsafeMutableBufferPointer(rebasing: session.strings.all[first..<first + tokens.count])
    guard entries.allSatisfy({ $0.symbol == 0 }) else { return false }
    let end = writer.count
    var last = entries.count - 1
    while last >= 0 {
      if entries[last].length >= Varint.oneByteLimit {
        writer.reserve(BackwardWriter.margin)
        write(constant: tokens[last], tape, session)
        last -= 1
      } else {
        let run = entries[...last].lastIndex { $0.length >= Varint.oneByteLimit }.map { $0 + 1 } ?? 0
        writer.bytes(session.strings.written(first + run...first + last))
        last = run - 1
      }
    }
    writeArrayHeader(writer.count - end)
    return true
  }
}
