import Synchronization

/// The symbols and shapes that the reader of a message has before it begins to read (FORMAT.md, "Contexts").
///
/// Those of a context never change, and are shared by threads. Those of a log or a stream grow from record to record,
/// and belong to whoever reads it.
package final class DecodingDefinitions: @unchecked Sendable {
  /// Copies of the preludes that define them, one after the other.
  private var bytes = GrowableBuffer<UInt8>(capacity: 64)
  private var byteCount = 0
  private(set) var reader = ByteReader(extents: Tag.extents)
  private(set) var tables = TextTables()
  private(set) var extent = Extent()
  /// The symbols by their numbers.
  private(set) var strings: [String] = []
  /// Whether a container reads on with these when its call is over, on whatever thread.
  private let areKept = Atomic<Bool>(false)
  /// What tells these definitions from all others, also from those that had their address before.
  let number = DecodingDefinitions.newNumber()

  private static let numbers = Atomic<Int>(0)
  private static func newNumber() -> Int { numbers.add(1, ordering: .relaxed).newValue }

  /// No definitions yet, to which records add theirs.
  package init() {}

  /// The definitions of the message of a context, which is valid.
  init(ofContext message: [UInt8]) {
    let end = message.withUnsafeBytes { try? add(ByteReader($0, extents: Tag.extents), at: 0) }
    precondition(end == message.count - 1)
  }

  /// The same definitions as some others, or none, to which more can be added.
  convenience init(extending others: DecodingDefinitions?) throws(FormatError) {
    self.init()
    guard let others else { return }
    var next = 0
    while next < others.size { next = try add(others.reader, at: next) }
  }

  private var symbolCount: Int { tables.symbolCount }
  /// How many bytes of preludes they come from.
  package var size: Int { byteCount }

  /// How many symbols and shapes there are: a message may refer to those that were there before it.
  struct Extent: BitwiseCopyable {
    var symbols = 0
    var shapes = 0
  }

  /// Notes that a container reads on with these when its call is over. From now on nothing may be added to them.
  func noteEscape() { areKept.store(true, ordering: .releasing) }

  /// Returns the definitions that what a record defines can be added to: these, or a copy if somebody reads on with
  /// these.
  package func extensible(by record: UnsafeRawBufferPointer) throws(FormatError) -> DecodingDefinitions {
    guard record.first == MessageTables.tag, areKept.load(ordering: .acquiring) else { return self }
    return try DecodingDefinitions(extending: self)
  }

  /// What a record may refer to, and where its value begins.
  package struct Scope: Sendable {
    let extent: Extent
    let body: Int
  }

  /// Adds what a record defines, if it does. Nothing is added if its prelude is not valid.
  ///
  /// Not while another thread reads a record that relies on these definitions (``extensible(by:)``).
  ///
  /// - Parameter limit: The most bytes of preludes that there may be.
  func add(_ record: ByteReader, limit: Int) throws(FormatError) -> Scope {
    let hasPrelude = try record.byte(at: 0) == MessageTables.tag
    let body = hasPrelude ? try add(record, at: 0, limit: limit) : 0
    return Scope(extent: extent, body: body)
  }

  /// Adds what the prelude at `start` defines, and returns the offset after it. Nothing is added if it is not valid.
  func add(_ message: ByteReader, at start: Int, limit: Int = .max) throws(FormatError) -> Int {
    var checked = TextTables()
    let end = try checked.read(message, at: start, firstSymbol: symbolCount)
    guard end - start <= limit - byteCount else { try fail(.tooManyDefinitions, at: start) }
    try checkKeys(checked, message)
    let first = symbolCount
    let (offset, count) = (byteCount, end - start)
    bytes.reserve(count)
    UnsafeMutableRawPointer(bytes.base + offset).copyMemory(
      from: message.pointer(at: start), byteCount: count)
    byteCount = offset + count
    bytes.extend(to: byteCount)
    reader.turn(to: UnsafeRawBufferPointer(bytes.buffer))
    _ = try tables.read(reader, at: offset, firstSymbol: 0)
    extent = Extent(symbols: tables.symbolCount, shapes: tables.shapeCount)
    // Their texts were checked above.
    for index in first..<symbolCount {
      strings.append(try reader.string(of: reader.text(at: tables.symbol(index))))
    }
    return end
  }

  /// Checks that no new shape names a key twice.
  ///
  /// A key takes a byte where its symbol may take half of the prelude: each symbol is looked at once, for all the keys.
  private func checkKeys(_ new: borrowing TextTables, _ message: ByteReader) throws(FormatError) {
    var names: [ExactString: Int] = [:]
    var symbols: [Int: Int] = [:]
    for shape in 0..<new.shapeCount {
      var numbers = Set<Int>()
      for slot in 0..<new.keyCount(ofShape: shape) {
        let key = new.key(slot, ofShape: shape)
        var next = key
        let symbol = try message.reference(at: &next)
        var number = -1
        if let symbol, let known = symbols[symbol] {
          number = known
        } else {
          let name = ExactString(try name(ofKeyAt: key, symbol, new, message))
          number = names[name, default: names.count]
          names[name] = number
          if let symbol { symbols[symbol] = number }
        }
        guard numbers.insert(number).inserted else { try fail(.repeatedKey, at: key) }
      }
    }
  }

  /// The name of a new key, which may be a symbol that is new itself.
  private func name(
    ofKeyAt key: Int, _ symbol: Int?, _ new: borrowing TextTables, _ message: ByteReader
  ) throws(FormatError) -> String {
    guard let symbol else { return try message.string(of: message.text(at: key)) }
    if symbol < symbolCount { return strings[symbol] }
    return try message.string(of: message.text(at: new.symbol(symbol - symbolCount)))
  }
}

/// The contexts that messages may rely on (FORMAT.md, "Contexts").
final class DecodingContexts: Sendable {
  /// By their ids; nil where several have one.
  private let named: [UInt32: DecodingDefinitions?]
  /// What messages rely on that name none.
  private let implicit: DecodingDefinitions?

  init(named: [UInt32: DecodingDefinitions?], implicit: DecodingDefinitions?) {
    self.named = named
    self.implicit = implicit
  }

  /// Returns what a message relies on, or nil if that is nothing; moves `start` past the name of the context.
  func context(of message: ByteReader, _ start: inout Int) throws(FormatError) -> DecodingDefinitions? {
    guard try message.byte(at: 0) == MessageTables.otherMessage, message.count > 1,
      message.base[1] == MessageTables.contextMessage
    else { return implicit }
    let id = try message.halfWord(at: 2)
    guard let found = named[id] else { try fail(.reserved, at: 0) }
    guard let context = found else { try fail(.ambiguous, at: 0) }
    start = 6
    return context
  }
}

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
        writer.reserve(BackwardWriter.margin)
        if let symbol { writer.text(symbol: symbol) } else { writer.text(key) }
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
}

extension ContextMessage {
  /// The id of a context, as it is said to people.
  static func text(ofID id: UInt32) -> String {
    let digits = String(id, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

/// The prelude of a record, in parts that can be put together with those of other records (FORMAT.md, "Records of one
/// block").
package struct RecordPrelude {
  /// What a record with a prelude begins with, and no other.
  package static let tag: UInt8 = 0x1F

  package var symbolCount = 0
  /// The texts of the symbols.
  package var symbols: [UInt8] = []
  package var shapeCount = 0
  /// The shapes, each with the number of its keys.
  package var shapes: [UInt8] = []
  /// How many bytes it takes in the record.
  package private(set) var size = 0

  package init() {}

  /// The prelude that a record begins with, if there is one.
  init(_ reader: ByteReader) throws(FormatError) {
    guard try reader.byte(at: 0) == MessageTables.tag else { return }
    var tables = TextTables()
    // Which symbols there are before those of the record is not known here.
    size = try tables.read(reader, at: 0, firstSymbol: Int.max / 2)
    var offset = 1
    symbolCount = try reader.varint(at: &offset)
    let firstSymbol = offset
    for _ in 0..<symbolCount { offset = try reader.endOfText(at: offset) }
    symbols = [UInt8](reader.buffer(at: firstSymbol, count: offset - firstSymbol))
    shapeCount = try reader.varint(at: &offset)
    shapes = [UInt8](reader.buffer(at: offset, count: size - offset))
  }
}
