/// Where the symbols and the keys of shapes stand that some bytes define (FORMAT.md, "Prelude").
///
/// Only places are remembered, 8 bytes for a symbol or a key of a shape.
///
/// Not arrays: every use of one in a session would count its references.
struct TextTables: ~Copyable {
  /// Where the text of each symbol stands.
  private var symbols = GrowableBuffer<Int>(capacity: 16)
  /// Where each key of each shape stands, shape after shape.
  private var keys = GrowableBuffer<Int>(capacity: 16)
  /// Behind the last key of each shape in `keys`.
  private var ends = GrowableBuffer<Int>(capacity: 4)

  var symbolCount: Int { symbols.count }
  @inline(__always)
  var shapeCount: Int { ends.count }

  /// Where the text of a symbol stands.
  func symbol(_ index: Int) -> Int { symbols[index] }

  @inline(__always)
  private func firstKey(ofShape shape: Int) -> Int { shape == 0 ? 0 : ends[shape &- 1] }

  @inline(__always)
  func keyCount(ofShape shape: Int) -> Int { ends[shape] - firstKey(ofShape: shape) }

  /// Where the key at `slot` of a shape stands.
  @inline(__always)
  func key(_ slot: Int, ofShape shape: Int) -> Int { keys[firstKey(ofShape: shape) &+ slot] }

  mutating func removeAll() {
    // A prelude that broke off has keys that are of no shape yet.
    if symbols.count | keys.count == 0 { return }
    symbols.removeAll()
    keys.removeAll()
    ends.removeAll()
  }

  /// Adds what a prelude at `start` defines, and returns the offset behind it.
  ///
  /// The texts of symbols and keys are checked here, whether or not they are used.
  ///
  /// - Parameter firstSymbol: The number of the first symbol of these tables.
  mutating func read(_ reader: ByteReader, at start: Int, firstSymbol: Int) throws(FormatError) -> Int {
    var offset = start + 1
    for _ in 0..<(try count(reader, at: &offset)) {
      symbols.append(offset)
      offset = try reader.checkText(at: offset)
    }
    for _ in 0..<(try count(reader, at: &offset)) {
      let start = offset
      let keyCount = try count(reader, at: &offset)
      guard keyCount > 0 else { try fail(.malformed, at: start) }
      for _ in 0..<keyCount {
        keys.append(offset)
        var next = offset
        if let symbol = try reader.reference(at: &next) {
          guard symbol < firstSymbol + symbols.count else { try fail(.malformed, at: offset) }
        } else {
          next = try reader.checkText(at: offset)
        }
        offset = next
      }
      ends.append(keys.count)
    }
    return offset
  }

  /// A count of things of one byte or more.
  private func count(_ reader: ByteReader, at offset: inout Int) throws(FormatError) -> Int {
    let start = offset
    let count = try reader.varint(at: &offset)
    guard count <= reader.count - offset else { try fail(.malformed, at: start) }
    return count
  }
}
