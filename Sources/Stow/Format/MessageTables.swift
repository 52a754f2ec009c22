/// The symbols and shapes that a message may refer to: those of the definitions that it relies on, and after them those
/// of its own prelude (FORMAT.md, "Prelude", "Contexts").
struct MessageTables: ~Copyable {
  /// The first byte of a message that has a prelude.
  static let tag: UInt8 = 0x1F
  /// The first byte of a message that is more than a value; the next byte is its kind.
  static let otherMessage: UInt8 = 0x7F
  /// The kind of a message that relies on a context.
  static let contextMessage: UInt8 = 0x01

  private var own = TextTables()
  private(set) var definitions: DecodingDefinitions?
  /// How many symbols and shapes of the definitions the message may refer to.
  private(set) var firstSymbol = 0
  private(set) var firstShape = 0

  var symbolCount: Int { firstSymbol + own.symbolCount }
  var shapeCount: Int { firstShape &+ own.shapeCount }

  /// Removes all but the definitions, which the next message often relies on, too.
  mutating func removeAll() {
    own.removeAll()
    firstSymbol = 0
    firstShape = 0
  }

  /// - Parameter extent: What the message may refer to.
  mutating func rely(on definitions: DecodingDefinitions, _ extent: TextTables.Extent) {
    // Most messages rely on the same ones as the last.
    if self.definitions !== definitions { self.definitions = definitions }
    firstSymbol = extent.symbols
    firstShape = extent.shapes
  }

  mutating func forgetDefinitions() { definitions = nil }

  /// Reads the prelude at `start`, if there is one, and returns where the value begins.
  mutating func read(_ reader: ByteReader, at start: Int) throws(FormatError) -> Int {
    guard try reader.byte(at: start) == MessageTables.tag else { return start }
    return try own.read(reader, at: start, firstSymbol: firstSymbol)
  }

  private var relied: DecodingDefinitions {
    guard let definitions else { preconditionFailure("a number of definitions that are not there") }
    return definitions
  }

  func symbol(_ index: Int) -> TextLocation {
    index < firstSymbol
      ? TextLocation(relied.state.tables.symbol(index), isInMessage: false)
      : TextLocation(own.symbol(index - firstSymbol))
  }

  func keyCount(ofShape shape: Int) -> Int {
    shape < firstShape ? relied.state.tables.keyCount(ofShape: shape) : own.keyCount(ofShape: shape &- firstShape)
  }

  func key(_ index: Int, ofShape shape: Int) -> TextLocation {
    shape < firstShape
      ? TextLocation(relied.state.tables.key(index, ofShape: shape), isInMessage: false)
      : TextLocation(own.key(index, ofShape: shape - firstShape))
  }

  func reader(of location: TextLocation, _ reader: ByteReader) -> ByteReader {
    location.isInMessage ? reader : relied.state.reader
  }

  func endOfKey(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Int {
    var next = offset
    return try symbol(reader, ofKeyAt: &next) == nil ? reader.endOfText(at: offset) : next
  }

  /// As `ByteReader.reference(at:)`; the symbol must exist.
  @inline(__always)
  private func symbol(_ reader: ByteReader, ofKeyAt offset: inout Int) throws(FormatError) -> Int? {
    let start = offset
    guard let symbol = try reader.reference(at: &offset) else { return nil }
    guard symbol < symbolCount else { try fail(.malformed, at: start) }
    return symbol
  }

  /// Returns the symbol that a key refers to; nil for a text.
  @inline(__always)
  func symbol(_ reader: ByteReader, ofKeyAt key: TextLocation) throws(FormatError) -> Int? {
    var next = key.offset
    // In definitions every reference has been checked.
    guard key.isInMessage else { return try self.reader(of: key, reader).reference(at: &next) }
    return try symbol(reader, ofKeyAt: &next)
  }

  func text(_ reader: ByteReader, at location: TextLocation) throws(FormatError) -> LocatedText {
    let reader = self.reader(of: location, reader)
    return LocatedText(reader: reader, text: try reader.text(at: location.offset), isInMessage: location.isInMessage)
  }

  func text(_ reader: ByteReader, ofKeyAt key: TextLocation) throws(FormatError) -> LocatedText {
    if let symbol = try symbol(reader, ofKeyAt: key) { return try text(reader, at: self.symbol(symbol)) }
    return try text(reader, at: key)
  }
}

/// The places of the symbols, and of the keys of shapes, that some bytes define (FORMAT.md, "Prelude").
///
/// Not in arrays, because every use of one in a session would count its references.
struct TextTables: ~Copyable {
  private var symbols = GrowableBuffer<Int>(capacity: 16)
  /// Where each key of each shape is, shape after shape.
  private var keys = GrowableBuffer<Int>(capacity: 16)
  /// The index in `keys` after the last key of each shape.
  private var ends = GrowableBuffer<Int>(capacity: 4)

  var symbolCount: Int { symbols.count }
  var shapeCount: Int { ends.count }

  func symbol(_ index: Int) -> Int { symbols[index] }

  private func firstKey(ofShape shape: Int) -> Int { shape == 0 ? 0 : ends[shape &- 1] }

  func keyCount(ofShape shape: Int) -> Int { ends[shape] - firstKey(ofShape: shape) }

  func key(_ index: Int, ofShape shape: Int) -> Int { keys[firstKey(ofShape: shape) &+ index] }

  mutating func removeAll() {
    // A prelude that broke off has keys that belong to no shape yet.
    if symbols.count | keys.count == 0 { return }
    symbols.removeAll()
    keys.removeAll()
    ends.removeAll()
  }

  /// How far the tables were filled at one time: a message may refer to what existed before it.
  struct Extent: BitwiseCopyable {
    fileprivate(set) var symbols = 0
    fileprivate(set) var shapes = 0
    fileprivate var keys = 0
  }

  var extent: Extent { Extent(symbols: symbols.count, shapes: ends.count, keys: keys.count) }

  mutating func removeAll(since extent: Extent) {
    symbols.truncate(to: extent.symbols)
    keys.truncate(to: extent.keys)
    ends.truncate(to: extent.shapes)
  }

  /// Adds what a prelude at `start` defines, all of whose texts are checked, and returns the offset after it. If
  /// it is not valid, a part of it is added.
  ///
  /// - Parameters:
  ///   - firstSymbol: The number of the first symbol of these tables.
  ///   - shift: The amount added to all places, for a prelude that will be elsewhere.
  mutating func read(
    _ reader: ByteReader, at start: Int, firstSymbol: Int, movedBy shift: Int = 0
  ) throws(FormatError) -> Int {
    var offset = start + 1
    for _ in 0..<(try count(reader, at: &offset)) {
      symbols.append(offset &+ shift)
      offset = try reader.checkText(at: offset)
    }
    for _ in 0..<(try count(reader, at: &offset)) {
      let start = offset
      let keyCount = try count(reader, at: &offset)
      guard keyCount > 0 else { try fail(.malformed, at: start) }
      for _ in 0..<keyCount {
        keys.append(offset &+ shift)
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

  /// Reads a count of things that take at least one byte each.
  private func count(_ reader: ByteReader, at offset: inout Int) throws(FormatError) -> Int {
    let start = offset
    let count = try reader.varint(at: &offset)
    guard count <= reader.count - offset else { try fail(.malformed, at: start) }
    return count
  }
}

/// Where a key or a symbol is: not a plain offset, so that nobody reads the message in place of its definitions.
struct TextLocation: BitwiseCopyable, Equatable {
  let offset: Int
  let isInMessage: Bool

  init(_ offset: Int, isInMessage: Bool = true) {
    self.offset = offset
    self.isInMessage = isInMessage
  }

  /// Both in a number, for dictionaries.
  var code: Int { isInMessage ? offset : ~offset }

  init(code: Int) { self.init(code < 0 ? ~code : code, isInMessage: code >= 0) }
}

/// A text in the message or in the definitions.
struct LocatedText {
  let reader: ByteReader
  let text: ByteReader.Text
  let isInMessage: Bool

  var bytes: UnsafeRawBufferPointer { reader.buffer(at: text.start, count: size) }
  var hash: UInt64 { TextKey.make(reader.pointer(at: text.start), size, ByteHash()).hash }
  var size: Int { text.end - text.start }
  var location: TextLocation { TextLocation(text.start, isInMessage: isInMessage) }

  func string() throws(FormatError) -> String { try reader.string(of: text) }

  func matches(_ other: UnsafeRawBufferPointer) -> Bool { reader.matches(other, at: text.start) }
}
