/// What the prelude of a message defines: symbols, and shapes (FORMAT.md, "Prelude").
///
/// Only places are remembered, 8 bytes for a symbol or a key of a shape; strings are made when first used.
struct MessageTables {
  /// Where the text of each symbol stands.
  private(set) var symbols: [Int] = []
  /// Where each key of each shape stands, shape after shape.
  private var keys: [Int] = []
  /// The first key of each shape in `keys`, and behind them the count of all.
  private var firstKeys: [Int] = [0]

  var shapeCount: Int { firstKeys.count - 1 }

  func keyCount(ofShape shape: Int) -> Int { firstKeys[shape + 1] - firstKeys[shape] }

  /// Where the key at `slot` of a shape stands.
  @inline(__always)
  func key(_ slot: Int, ofShape shape: Int) -> Int { keys[firstKeys[shape] + slot] }

  mutating func removeAll() {
    if symbols.isEmpty, shapeCount == 0 { return }
    // A large table is not kept for the messages to come.
    let keep = symbols.count + keys.count < 4096
    symbols.removeAll(keepingCapacity: keep)
    keys.removeAll(keepingCapacity: keep)
    firstKeys.removeAll(keepingCapacity: keep)
    firstKeys.append(0)
  }

  /// Reads the prelude of a message, if it has one, and returns where the value begins.
  mutating func read(_ reader: ByteReader) throws(FormatError) -> Int {
    removeAll()
    guard try reader.byte(at: 0) == Tag.prelude else { return 0 }
    var offset = 1
    for _ in 0..<(try count(reader, at: &offset)) {
      symbols.append(offset)
      offset = try reader.text(at: offset).end
    }
    for _ in 0..<(try count(reader, at: &offset)) {
      let start = offset
      let keyCount = try count(reader, at: &offset)
      guard keyCount > 0 else { throw FormatError(.malformed, at: start) }
      for _ in 0..<keyCount {
        keys.append(offset)
        offset = try endOfKey(reader, at: offset)
      }
      firstKeys.append(keys.count)
    }
    return offset
  }

  /// A count of things of one byte or more.
  private func count(_ reader: ByteReader, at offset: inout Int) throws(FormatError) -> Int {
    let start = offset
    let count = try reader.varint(at: &offset)
    guard count <= reader.count - offset else { throw FormatError(.malformed, at: start) }
    return count
  }

  /// The offset behind the key at `offset`, a text or a reference to a symbol.
  @inline(__always)
  func endOfKey(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Int {
    let header = try reader.byte(at: offset)
    if header < KeyText.symbol || header > KeyText.longSymbol { return try reader.text(at: offset).end }
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
    guard index < symbols.count else { throw FormatError(.malformed, at: start) }
    return index
  }

  /// The bytes of the text that a key has, its own or its symbol's.
  func text(_ reader: ByteReader, ofKeyAt offset: Int) throws(FormatError) -> ByteReader.Text {
    var next = offset
    if let symbol = try symbol(reader, ofKeyAt: &next) { return try reader.text(at: symbols[symbol]) }
    return try reader.text(at: offset)
  }
}
