// Arrays of strings that are all new when they come: they stand in the pool as they are written.

extension Emitter {
  /// Writes the array whose elements are `range` of the tape, if they are strings that stand one after the other in
  /// the pool, and none is a symbol.
  mutating func writeStrings(_ tape: TapeView, _ range: Range<Int>, _ recording: inout Recording) -> Bool {
    let tokens = UnsafeBufferPointer(rebasing: tape.tokens[range])
    let first = tokens[0].index
    for index in tokens.indices {
      guard tokens[index].kind == .string, tokens[index].index == first &+ index else { return false }
    }
    let entries = UnsafeMutableBufferPointer(rebasing: recording.strings.all[first..<first + tokens.count])
    guard entries.allSatisfy({ $0.symbol == 0 }) else { return false }
    let end = writer.count
    var last = entries.count - 1
    while last >= 0 {
      if entries[last].length >= Strings.headerLimit {
        writer.reserve(BackwardWriter.margin)
        write(constant: tokens[last], tape, &recording)
        last -= 1
      } else {
        let run = entries[...last].lastIndex { $0.length >= Strings.headerLimit }.map { $0 + 1 } ?? 0
        writer.bytes(recording.strings.written(first + run...first + last))
        last = run - 1
      }
    }
    Arrays.writeHeader(writer.count - end, to: &writer)
    return true
  }
}
