/// What the prelude of a message defines: symbols, and shapes (FORMAT.md, "Prelude").
///
/// Only places are remembered, 8 bytes for a symbol or a key of a shape; strings are made when first used.
///
/// Not arrays: every use of one in a session would count its references.
struct MessageTables: ~Copyable {
  /// Where the text of each symbol stands.
  private var symbols = GrowableBuffer<Int>(capacity: 16)
  /// Where each key of each shape stands, shape after shape.
  private var keys = GrowableBuffer<Int>(capacity: 16)
  /// Behind the last key of each shape in `keys`.
  private var ends = GrowableBuffer<Int>(capacity: 4)

  var symbolCount: Int { symbols.count }
  var shapeCount: Int { ends.count }

  /// Where the text of a symbol stands.
  func symbol(_ index: Int) -> Int { symbols[index] }

  @inline(__always)
  private func firstKey(ofShape shape: Int) -> Int { shape == 0 ? 0 : ends[shape &- 1] }

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

  /// Reads the prelude of a message, if it has one, and returns where the value begins.
  ///
  /// The texts of symbols and keys are checked here, whether or not they are used.
  mutating func read(_ reader: ByteReader) throws(FormatError) -> Int {
    removeAll()
    guard try reader.byte(at: 0) == Tag.prelude else { return 0 }
    var offset = 1
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
        if try symbol(reader, ofKeyAt: &next) == nil { next = try reader.checkText(at: offset) }
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

  /// The offset behind the key at `offset`, a text or a reference to a symbol.
  @inline(__always)
  func endOfKey(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Int {
    let header = try reader.byte(at: offset)
    if header < KeyText.symbol || header > KeyText.longSymbol { return try reader.endOfText(at: offset) }
    var next = offset
    _ = try symbol(reader, ofKeyAt: &next)
    return next
  }

  /// The symbol that the key at `offset` refers to; moves `offset` behind the key. Nil for a text, which is
  /// not passed.
  @inline(__always)
  func symbol(_ reader: ByteReader, ofKeyAt offset: inout Int) throws(FormatError) -> Int? {
    let start = offset
    let header = try reader.byte(at: start)
    let index: Int
    if (KeyText.symbol..<KeyText.longSymbol).contains(header) {
      index = Int(header - KeyText.symbol)
      offset = start + 1
    } else if header == KeyText.longSymbol {
      var next = start + 1
      index = try reader.varint(at: &next)
      offset = next
    } else {
      return nil
    }
    guard index < symbols.count else { try fail(.malformed, at: start) }
    return index
  }

  /// The bytes of the text that a key has, its own or its symbol's.
  func text(_ reader: ByteReader, ofKeyAt offset: Int) throws(FormatError) -> ByteReader.Text {
    var next = offset
    if let symbol = try symbol(reader, ofKeyAt: &next) { return try reader.text(at: symbols[symbol]) }
    return try reader.text(at: offset)
  }
}
