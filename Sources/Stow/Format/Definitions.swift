import Synchronization

/// The symbols and shapes that a reader has before it begins to read a message (FORMAT.md, "Contexts").
///
/// Threads share those of a context, which never change. Those of a log or a stream grow, and belong to its reader.
package final class DecodingDefinitions: @unchecked Sendable {
  struct State: ~Copyable {
    /// Copies of the preludes that define them, one after the other.
    fileprivate var bytes = GrowableBuffer<UInt8>(capacity: 64)
    fileprivate(set) var reader = ByteReader(extents: Tag.extents)
    fileprivate(set) var tables = TextTables()
  }
  // Unchecked because it is used for every key and symbol. Accesses call nothing of the user's.
  @exclusivity(unchecked) private(set) var state = State()
  /// The symbols by their numbers; nil for a short one that is made each time it is needed.
  private var strings: [String?] = []
  /// The hashes of symbols that are keys of shapes: a long name is hashed once, however many records refer to it.
  private var hashes = [Int: Int]()
  private let areShortStringsKept: Bool
  /// From this length on a string is always kept, so that references to it do not make a copy each.
  private static let leastLongString = 16
  /// Whether a container continues to read with these after its call, on whatever thread.
  private let areKept = Atomic<Bool>(false)
  /// Identifies these definitions, also among earlier ones that had the same address.
  let number = DecodingDefinitions.numbers.add(1, ordering: .relaxed).newValue

  private static let numbers = Atomic<Int>(0)

  /// - Parameter keepsShortStrings: Whether short symbols are strings at once: not worth it for few records.
  package init(keepsShortStrings: Bool = true) { areShortStringsKept = keepsShortStrings }

  /// - Parameter message: A valid one.
  init(ofContext message: [UInt8]) {
    areShortStringsKept = true
    let end = message.withUnsafeBytes { try? add(ByteReader($0), at: 0) }
    precondition(end == message.count - 1)
  }

  /// Makes a copy of others, or empty ones.
  convenience init(extending others: DecodingDefinitions?) throws(FormatError) {
    self.init()
    guard let others else { return }
    var next = 0
    while next < others.size { next = try add(others.state.reader, at: next) }
  }

  /// How many bytes of preludes they come from.
  package var size: Int { state.bytes.count }

  /// Notes that a container continues to read with these after its call, so that nothing may be added to them.
  func noteEscape() { areKept.store(true, ordering: .releasing) }

  /// Returns definitions to which those of a record can be added: a copy if a container still reads with these.
  package func extensible(by record: UnsafeRawBufferPointer) throws(FormatError) -> DecodingDefinitions {
    guard record.first == MessageTables.tag, areKept.load(ordering: .acquiring) else { return self }
    return try DecodingDefinitions(extending: self)
  }

  /// What a record or message may refer to, and where its value begins.
  package struct Scope: Sendable {
    /// Nil if there is nothing to refer to.
    let definitions: DecodingDefinitions?
    let extent: TextTables.Extent
    let body: Int
  }

  /// Adds what the prelude at `start` defines, and returns the offset after it. Nothing is added if it is not valid.
  func add(_ message: ByteReader, at start: Int, limit: Int = .max) throws(FormatError) -> Int {
    let before = state.tables.extent
    let end: Int
    do throws(FormatError) {
      end = try readTables(message, at: start, limit: limit, before)
    } catch {
      state.tables.removeAll(since: before)
      throw error
    }
    for byte in message.buffer(at: start, count: end - start) { state.bytes.append(byte) }
    state.reader.turn(to: UnsafeRawBufferPointer(state.bytes.buffer))
    for index in before.symbols..<state.tables.symbolCount {
      let text = try state.reader.text(at: state.tables.symbol(index))
      let isKept = areShortStringsKept || text.count >= Self.leastLongString
      strings.append(isKept ? try state.reader.string(of: text) : nil)
    }
    return end
  }

  /// Adds the places of a prelude, as they will be in `state.bytes`, and returns the offset after it.
  private func readTables(
    _ message: ByteReader, at start: Int, limit: Int, _ before: TextTables.Extent
  ) throws(FormatError) -> Int {
    let shift = state.bytes.count - start
    let end = try state.tables.read(message, at: start, firstSymbol: 0, movedBy: shift)
    guard end - start <= limit - state.bytes.count else { try fail(.tooManyDefinitions, at: start) }
    if state.tables.shapeCount > before.shapes {
      var names = NameNumbers()
      _ = try names.keys(of: state.tables, from: before.shapes, message, movedBy: shift) {
        symbol throws(FormatError) in
        guard symbol < before.symbols else {
          return HashedName(try message.string(ofTextAt: state.tables.symbol(symbol) - shift))
        }
        let name = HashedName(try string(ofSymbol: symbol), hash: hashes[symbol])
        hashes[symbol] = name.hash
        return name
      }
    }
    return end
  }

  func string(ofSymbol symbol: Int) throws(FormatError) -> String {
    if let string = strings[symbol] { return string }
    return try state.reader.string(ofTextAt: state.tables.symbol(symbol))
  }
}

private struct HashedName: Hashable {
  let name: ExactString
  let hash: Int

  init(_ string: String, hash: Int? = nil) {
    name = ExactString(string)
    self.hash = hash ?? name.hashValue
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// Numbers names by their bytes. Each symbol, which may take half of a prelude, is looked at once for all of its keys.
private struct NameNumbers {
  private(set) var names: [String] = []
  private var numbers = [HashedName: Int]()
  private var ofSymbols = [Int: Int]()

  mutating func number(of name: HashedName) -> Int {
    let number = numbers[name, default: names.count]
    if number == names.count {
      numbers[name] = number
      names.append(name.name.string)
    }
    return number
  }

  /// Returns the numbers of the keys of each shape, which must have each key once.
  ///
  /// - Parameters:
  ///   - first: The first shape to look at.
  ///   - shift: The amount added to the places of keys in the bytes of the reader.
  mutating func keys(
    of tables: borrowing TextTables, from first: Int = 0, _ reader: ByteReader, movedBy shift: Int = 0,
    symbol name: (_ number: Int) throws(FormatError) -> HashedName
  ) throws(FormatError) -> [[Int]] {
    var shapes: [[Int]] = []
    // The last shape that has each key.
    var lastShapes = [Int: Int]()
    for shape in first..<tables.shapeCount {
      var keys: [Int] = []
      for slot in 0..<tables.keyCount(ofShape: shape) {
        let key = tables.key(slot, ofShape: shape) - shift
        var next = key
        let symbol = try reader.reference(at: &next)
        var number = symbol.flatMap { ofSymbols[$0] }
        if number == nil {
          let name = if let symbol { try name(symbol) } else { HashedName(try reader.string(ofTextAt: key)) }
          number = self.number(of: name)
          if let symbol { ofSymbols[symbol] = number }
        }
        guard let number, lastShapes.updateValue(shape, forKey: number) != shape else {
          try fail(.repeatedKey, at: key)
        }
        keys.append(number)
      }
      shapes.append(keys)
    }
    return shapes
  }
}

/// The contexts that messages may rely on (FORMAT.md, "Contexts").
struct DecodingContexts: Sendable {
  /// The contexts by their ids; nil for an id that several contexts have.
  let named: [UInt32: DecodingDefinitions?]
  let implicit: DecodingDefinitions?

  /// Returns the definitions that a message relies on, or nil; moves `start` past the name of the context.
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

/// The symbols and shapes of a context, and its message: a prelude and nil (FORMAT.md, "Contexts").
struct ContextMessage {
  let symbols: [String]
  let shapes: [[String]]
  /// The keys of each shape as numbers: that of a symbol, or one above those of the symbols.
  let keyNumbers: [[Int]]
  let bytes: [UInt8]

  /// Makes the one message of symbols and shapes, which must be distinct, as must the keys of each shape.
  init(symbols: [String], shapes: [[String]]) {
    var numbers = NameNumbers()
    for symbol in symbols { _ = numbers.number(of: HashedName(symbol)) }
    let keys = shapes.map { $0.map { numbers.number(of: HashedName($0)) } }
    self.init(symbolCount: symbols.count, numbers, keys)
  }

  private init(symbolCount: Int, _ numbers: NameNumbers, _ keyNumbers: [[Int]]) {
    symbols = Array(numbers.names[..<symbolCount])
    shapes = keyNumbers.map { $0.map { numbers.names[$0] } }
    self.keyNumbers = keyNumbers
    var writer = BackwardWriter(capacity: 1024)
    writer.byte(Nils.tag)
    for keys in keyNumbers.reversed() {
      for key in keys.reversed() {
        writer.reserve(BackwardWriter.margin)
        if key < symbolCount { writer.text(symbol: key) } else { writer.text(numbers.names[key]) }
      }
      writer.count(keys.count)
    }
    writer.count(keyNumbers.count)
    for symbol in symbols.reversed() { writer.text(symbol) }
    writer.count(symbolCount)
    writer.byte(MessageTables.tag)
    bytes = [UInt8](writer.written)
  }

  /// Reads a message, which must be the one of its symbols and shapes.
  static func read(_ reader: ByteReader) throws(FormatError) -> ContextMessage {
    guard try reader.byte(at: 0) == MessageTables.tag else { try fail(.malformed, at: 0) }
    var tables = TextTables()
    let value = try tables.read(reader, at: 0, firstSymbol: 0)
    guard try reader.byte(at: value) == Nils.tag, reader.count == value + 1 else { try fail(.malformed, at: value) }
    var numbers = NameNumbers()
    for symbol in 0..<tables.symbolCount {
      let start = tables.symbol(symbol)
      guard numbers.number(of: HashedName(try reader.string(ofTextAt: start))) == symbol else {
        try fail(.malformed, at: start)
      }
    }
    let names = numbers.names
    let keys = try numbers.keys(of: tables, reader) { HashedName(names[$0]) }
    let message = ContextMessage(symbolCount: tables.symbolCount, numbers, keys)
    let isCanonical = message.bytes.withUnsafeBytes { equalBytes($0, reader.buffer(at: 0, count: reader.count)) }
    let order = sortedIndices(keys.count) { keys[$0].lexicographicallyPrecedes(keys[$1]) }
    let areDistinct = order.indices.dropFirst().allSatisfy { keys[order[$0 - 1]] != keys[order[$0]] }
    guard isCanonical, areDistinct else { try fail(.malformed, at: 0) }
    return message
  }

  static func text(ofID id: UInt32) -> String {
    let digits = String(id, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

/// The prelude of a record, in parts to be joined with those of others (Format/Logs.md, "Records of one block").
package struct RecordPrelude {
  /// The first byte of a record with a prelude, and of no other.
  package static let tag = MessageTables.tag

  package var symbolCount = 0
  package var symbols: [UInt8] = []
  package var shapeCount = 0
  /// The shapes, each with the number of its keys.
  package var shapes: [UInt8] = []
  /// How many bytes it takes in the record.
  package private(set) var size = 0

  package var isEmpty: Bool { symbolCount == 0 && shapeCount == 0 }

  package init() {}

  /// Reads the prelude at the front of a record, if there is one.
  init(_ reader: ByteReader) throws(FormatError) {
    guard try reader.byte(at: 0) == MessageTables.tag else { return }
    var tables = TextTables()
    // How many symbols precede those of the record is not known here.
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
