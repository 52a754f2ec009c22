/// The symbols and shapes of a context, and the message that is made of them: a prelude and nil (FORMAT.md, "Contexts").
struct ContextMessage {
  let symbols: [String]
  let shapes: [[String]]

  /// The message, which says the same symbols and shapes in one way only.
  var bytes: [UInt8] {
    let numbers = Dictionary(uniqueKeysWithValues: symbols.enumerated().map { (Array($1.utf8), $0) })
    var writer = BackwardWriter(capacity: 1024)
    writer.byte(Nils.tag)
    for shape in shapes.reversed() {
      for key in shape.reversed() {
        if let symbol = numbers[Array(key.utf8)] {
          writer.reference(toSymbol: symbol)
        } else {
          writer.text(key)
        }
      }
      writer.count(shape.count)
    }
    writer.count(shapes.count)
    for symbol in symbols.reversed() { writer.text(symbol) }
    writer.count(symbols.count)
    writer.reserve(BackwardWriter.margin)
    writer.byte(MessageTables.tag)
    return [UInt8](writer.written)
  }

  init(symbols: [String], shapes: [[String]]) {
    self.symbols = symbols
    self.shapes = shapes
  }

  /// Reads the message of a context.
  static func read(_ reader: ByteReader) throws(FormatError) -> ContextMessage {
    guard try reader.byte(at: 0) == MessageTables.tag else { try fail(.malformed, at: 0) }
    var tables = MessageTables()
    let value = try tables.read(reader, at: 0)
    guard try reader.byte(at: value) == Nils.tag, reader.count == value + 1 else {
      try fail(.malformed, at: value)
    }
    var symbols: [String] = []
    for symbol in 0..<tables.symbolCount {
      symbols.append(try tables.text(reader, at: tables.symbol(symbol)).string())
    }
    var shapes: [[String]] = []
    for shape in 0..<tables.shapeCount { shapes.append(try keys(ofShape: shape, tables, reader)) }
    guard Set(symbols.map { Array($0.utf8) }).count == symbols.count,
      Set(shapes.map { $0.map { Array($0.utf8) } }).count == shapes.count
    else {
      try fail(.malformed, at: 0)
    }
    let message = ContextMessage(symbols: symbols, shapes: shapes)
    let isCanonical = message.bytes.withUnsafeBytes {
      equalBytes($0, reader.buffer(at: 0, count: reader.count))
    }
    guard isCanonical else { try fail(.malformed, at: 0) }
    return message
  }

  private static func keys(
    ofShape shape: Int, _ tables: borrowing MessageTables, _ reader: ByteReader
  ) throws(FormatError) -> [String] {
    var keys: [String] = []
    for slot in 0..<tables.keyCount(ofShape: shape) {
      keys.append(try tables.text(reader, ofKeyAt: tables.key(slot, ofShape: shape)).string())
    }
    guard Set(keys).count == keys.count else {
      try fail(.repeatedKey, at: tables.key(0, ofShape: shape).offset)
    }
    return keys
  }
}

extension BackwardWriter {
  fileprivate mutating func count(_ count: Int) {
    reserve(Self.margin)
    varint(count)
  }

  fileprivate mutating func text(_ string: String) {
    var string = string
    string.withUTF8 { text(UnsafeRawBufferPointer($0)) }
  }

  /// A key that is a symbol.
  fileprivate mutating func reference(toSymbol symbol: Int) {
    reserve(Self.margin)
    if symbol < Symbols.shortLimit {
      byte(KeyText.symbol + UInt8(symbol))
    } else {
      varint(symbol)
      byte(KeyText.longSymbol)
    }
  }
}

extension ContextMessage {
  /// The id of a context, as it is said to people.
  static func text(ofID id: UInt32) -> String {
    let digits = String(id, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
