/// The symbols and shapes of a context, and the message that is made of them: a prelude and nil (FORMAT.md, "Contexts").
struct ContextMessage {
  let symbols: [String]
  let shapes: [[String]]
  /// For each key of each shape, which symbol it is; nil for those that are none.
  ///
  /// A key takes a byte where its symbol may take half of the message. Whoever looks at all keys looks at each symbol
  /// once by these numbers.
  let keySymbols: [[Int?]]
  /// The message, which says the same symbols and shapes in one way only.
  let bytes: [UInt8]

  /// - Parameters:
  ///   - symbols: The symbols, each once.
  ///   - shapes: The keys of each shape, each once.
  init(symbols: [String], shapes: [[String]]) {
    let numbers = Dictionary(uniqueKeysWithValues: symbols.enumerated().map { (ExactString($1), $0) })
    self.init(symbols, shapes, shapes.map { $0.map { numbers[ExactString($0)] } })
  }

  private init(_ symbols: [String], _ shapes: [[String]], _ keySymbols: [[Int?]]) {
    self.symbols = symbols
    self.shapes = shapes
    self.keySymbols = keySymbols
    var writer = BackwardWriter(capacity: 1024)
    writer.byte(Nils.tag)
    for (shape, keySymbols) in zip(shapes, keySymbols).reversed() {
      for (key, symbol) in zip(shape, keySymbols).reversed() {
        if let symbol { writer.reference(toSymbol: symbol) } else { writer.text(key) }
      }
      writer.count(shape.count)
    }
    writer.count(shapes.count)
    for symbol in symbols.reversed() { writer.text(symbol) }
    writer.count(symbols.count)
    writer.reserve(BackwardWriter.margin)
    writer.byte(MessageTables.tag)
    bytes = [UInt8](writer.written)
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
    guard var check = ContextCheck(symbols) else { try fail(.malformed, at: 0) }
    var shapes: [[String]] = []
    var keySymbols: [[Int?]] = []
    for shape in 0..<tables.shapeCount {
      var (keys, numbers) = ([String](), [Int?]())
      for slot in 0..<tables.keyCount(ofShape: shape) {
        let key = tables.key(slot, ofShape: shape)
        let symbol = try tables.symbol(reader, ofKeyAt: key)
        if let symbol {
          keys.append(symbols[symbol])
        } else {
          keys.append(try tables.text(reader, at: key).string())
        }
        numbers.append(symbol)
      }
      guard check.accepts(keys, numbers) else {
        try fail(.malformed, at: tables.key(0, ofShape: shape).offset)
      }
      shapes.append(keys)
      keySymbols.append(numbers)
    }
    let message = ContextMessage(symbols, shapes, keySymbols)
    let isCanonical = message.bytes.withUnsafeBytes {
      equalBytes($0, reader.buffer(at: 0, count: reader.count))
    }
    guard isCanonical else { try fail(.malformed, at: 0) }
    return message
  }
}

/// Checks that symbols and shapes are distinct, and so are the keys of each shape.
private struct ContextCheck {
  private let symbolCount: Int
  /// Symbols, and after them the keys that are not symbols.
  private var numbers: [ExactString: Int] = [:]
  private var shapes = Set<[Int]>()

  /// Nil if two symbols are the same.
  init?(_ symbols: [String]) {
    symbolCount = symbols.count
    for symbol in symbols { numbers[ExactString(symbol)] = numbers.count }
    if numbers.count < symbolCount { return nil }
  }

  /// Takes in a shape; false if there is another like it, a key occurs twice, or a key is a symbol and should be a
  /// reference.
  mutating func accepts(_ keys: [String], _ symbols: [Int?]) -> Bool {
    var shape: [Int] = []
    for (key, symbol) in zip(keys, symbols) {
      let number = symbol ?? numbers[ExactString(key), default: numbers.count]
      if symbol == nil {
        if number < symbolCount { return false }
        numbers[ExactString(key)] = number
      }
      shape.append(number)
    }
    return Set(shape).count == shape.count && shapes.insert(shape).inserted
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
