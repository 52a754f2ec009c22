import Stow

/// Walks over the bytes of a message from the front to the end, and tells a visitor what each is (FORMAT.md).
///
/// Reports a message as broken exactly if the library refuses it. Makes no values, and needs memory for the
/// definitions of the prelude, and for the keys of one map at a time for each level of nesting.
struct MessageWalk<Visitor: StructureVisitor> {
  let reader: ByteReader
  var visitor: Visitor
  var definitions = Definitions()

  /// As many levels as the decoder accepts.
  static var maximumDepth: Int { 512 }

  init(_ reader: ByteReader, _ visitor: Visitor) {
    self.reader = reader
    self.visitor = visitor
  }

  // MARK: messages

  /// Walks over a message.
  ///
  /// - Parameter context: The context that it may rely on.
  /// - Returns: What is wrong with it; nil if it is valid.
  mutating func message(_ context: StowContext?) -> Broken? { walk { walk throws in try walk.whole(context) } }

  /// Walks over a record, which may refer to the definitions of those before it.
  mutating func record(_ number: Int, _ bytes: Range<Int>) -> Broken? {
    let depth = visitor.depth
    visitor.enter(.record(number))
    defer { visitor.leave(to: depth) }
    return walk { walk throws in try walk.body(at: bytes.lowerBound, before: bytes.upperBound) }
  }

  /// Returns what is wrong where `body` breaks off; nil if it does not.
  mutating func walk(_ body: (inout Self) throws -> Void) -> Broken? {
    do {
      try body(&self)
      return nil
    } catch let error as FormatError {
      return Broken(error)
    } catch {
      return error as? Broken
    }
  }

  private mutating func whole(_ context: StowContext?) throws {
    if reader.count == 0 { throw Broken("no bytes, so not a message", at: 0) }
    guard try reader.byte(at: 0) == 0x7F else { return try body(at: 0, before: reader.count) }
    guard reader.count > 1, try reader.byte(at: 1) == 0x01 else {
      throw Broken("a kind of message that is not known", at: 0)
    }
    visitor.piece(0..<2, .head, "relies on a context")
    let id = try reader.halfWord(at: 2)
    visitor.piece(2..<6, .head, "its id: \(Words.hex(id))")
    guard let context, context.id == id else {
      throw Broken("it relies on the context \(Words.hex(id)); name its message with --context", at: 0)
    }
    definitions = Definitions(context)
    try body(at: 6, before: reader.count)
  }

  /// Walks over a prelude, if there is one, and a value.
  private mutating func body(at start: Int, before end: Int) throws {
    var offset = start
    if start < end, try reader.byte(at: start) == 0x1F { offset = try prelude(at: start, before: end) }
    guard offset < end else { throw Broken("no value", at: offset) }
    offset = try value(at: offset, before: end, depth: 0)
    if offset < end { throw Broken("\(Words.count(end - offset, "byte")) after the message", at: offset) }
  }

  // MARK: passing over what is not wanted

  /// Thrown after the only piece that is wanted.
  private struct Passed: Error {}

  /// Ends the walk if an offset is after the only one that is wanted.
  func stop(at offset: Int) throws { if let wanted = visitor.wanted, offset > wanted { throw Passed() } }

  /// Returns where a value ends that is before the only offset that is wanted; nil for one that must be walked over.
  func end(ofUnwanted offset: Int, before end: Int) throws -> Int? {
    guard let wanted = visitor.wanted else { return nil }
    try stop(at: offset)
    // A walk says what is wrong with a value that has no end.
    guard let next = try? reader.end(of: offset), next <= min(wanted, end) else { return nil }
    return next
  }

  /// The same for an entry of a map.
  func end(ofUnwantedEntry offset: Int, before end: Int) throws -> Int? {
    guard let wanted = visitor.wanted else { return nil }
    try stop(at: offset)
    var value = offset
    if try reader.reference(at: &value) == nil { value = try reader.text(at: offset).end }
    return value <= wanted ? try self.end(ofUnwanted: value, before: end) : nil
  }

  /// Returns whether the only offset that is wanted, or any, may be before an end.
  func isWanted(before end: Int) -> Bool { visitor.wanted.map { $0 < end } ?? true }

  /// Returns how many parts of one size are before the only offset that is wanted.
  func unwantedCount(from start: Int, stride: Int, before end: Int) -> Int {
    guard let wanted = visitor.wanted else { return 0 }
    return max(0, min(wanted, end - 1) - start) / stride
  }

  // MARK: the prelude

  private mutating func prelude(at start: Int, before end: Int) throws -> Int {
    var offset = start + 1
    let symbols = try count(at: &offset, before: end)
    visitor.piece(start..<offset, .symbols, "prelude, \(Words.count(symbols, "symbol"))")
    visitor.enter(.part)
    for _ in 0..<symbols {
      let text = try text(at: offset, before: end)
      let number = definitions.symbols.count
      visitor.piece(offset..<text.end, .symbols, "\(number): \(Words.quoted(text.string, 20)), \(text.form)")
      definitions.add(symbol: text.string)
      offset = text.end
    }
    visitor.leave()
    let second = offset
    let shapes = try count(at: &offset, before: end)
    visitor.piece(second..<offset, .shapes, "\(Words.count(shapes, "shape"))")
    visitor.enter(.part)
    for _ in 0..<shapes { offset = try shape(at: offset, before: end) }
    visitor.leave()
    if symbols + shapes == 0 { visitor.flaw(at: start, "a prelude with nothing in it") }
    return offset
  }

  private mutating func shape(at start: Int, before end: Int) throws -> Int {
    var offset = start
    let count = try count(at: &offset, before: end)
    let number = definitions.shapes.count
    visitor.piece(start..<offset, .shapes, "\(number): \(Words.count(count, "key"))")
    if count == 0 { throw Broken("a shape without keys", at: start) }
    visitor.enter(.part)
    var keys: [String] = []
    var known = Definitions.Keys()
    for _ in 0..<count { keys.append(try key(at: &offset, before: end, .shapes, &known)) }
    visitor.leave()
    definitions.add(shape: keys)
    return offset
  }

  /// Reads a count of things that take at least one byte each.
  private mutating func count(at offset: inout Int, before end: Int) throws -> Int {
    let start = offset
    let count = try uint(at: &offset, before: end)
    guard count <= end - offset else { throw Broken("a count of more than there are bytes for", at: start) }
    return count
  }

  // MARK: keys

  private func text(at offset: Int, before end: Int) throws -> (string: String, form: String, end: Int) {
    guard offset < end else { throw Broken("the bytes end before this does", at: offset) }
    let text = try reader.text(at: offset)
    guard text.end <= end else { throw Broken("a text extends beyond its container", at: offset) }
    let form =
      switch text.form {
      case .plain: "plain"
      case .sixBit: "6-bit"
      case .fiveBit: "5-bit"
      }
    return (try reader.string(of: text), form, text.end)
  }

  /// Reads a key, which must differ from those before it in its object.
  mutating func key(
    at offset: inout Int, before end: Int, _ kind: PieceKind, _ known: inout Definitions.Keys
  ) throws -> String {
    let start = offset
    guard start < end else { throw Broken("the bytes end before this does", at: start) }
    let name: String
    let isNew: Bool
    if let symbol = try reader.reference(at: &offset) {
      guard offset <= end else { throw Broken("a key extends beyond its container", at: start) }
      guard symbol < definitions.symbols.count else { throw Broken("there is no symbol \(symbol)", at: start) }
      if offset - start > 1, symbol < 32 { visitor.flaw(at: start, "a reference that fits in its header") }
      name = definitions.symbols[symbol]
      isNew = known.insert(symbol: symbol, definitions)
      visitor.piece(start..<offset, kind, "\(Words.quoted(name, 20)), symbol \(symbol)")
    } else {
      let text = try text(at: start, before: end)
      (name, offset) = (text.string, text.end)
      isNew = known.insert(text: name, definitions)
      visitor.piece(start..<offset, kind, "\(Words.quoted(name, 20)), \(text.form)")
    }
    guard isNew else { throw Broken("a key that its object has already", at: start) }
    return name
  }

  /// Returns where the content is of something that states its length.
  func content(_ length: Int, at start: Int, from offset: Int, before end: Int) -> Content {
    let left = end - start
    guard length > left else { return Content(lowerBound: start, upperBound: start + length, cut: nil) }
    let reason =
      "\(Words.count(length, "byte")) should follow, and there \(left == 1 ? "is" : "are") \(Words.number(left))"
    return Content(lowerBound: start, upperBound: end, cut: Broken(reason, at: offset))
  }

  /// Reads a number of variable size.
  mutating func uint(at offset: inout Int, before end: Int) throws -> Int {
    let start = offset
    let value = try reader.varint(at: &offset)
    if Visitor.seeksFlaws, offset - start != Varint.size(value) {
      visitor.flaw(at: start, "a number that is wider than need be")
    }
    guard offset <= end else { throw Broken("a number extends beyond its container", at: start) }
    return value
  }
}

/// The bytes of a container or a string. If it is cut off, they end where the bytes end: a walk continues to
/// there, and then reports the fault.
struct Content {
  let lowerBound: Int
  let upperBound: Int
  let cut: Broken?

  var range: Range<Int> { lowerBound..<upperBound }

  func checkEnd() throws { if let cut { throw cut } }
}

/// The symbols and shapes that a message may refer to.
struct Definitions {
  private(set) var symbols: [String] = []
  private(set) var shapes: [[String]] = []
  /// The number of the first symbol that is the same string, by symbol.
  private var names: [Int] = []
  private var numbers: [ExactString: Int] = [:]

  /// Makes empty definitions.
  init() {}

  init(_ context: StowContext) {
    for symbol in context.symbols { add(symbol: symbol) }
    shapes = context.shapes
  }

  mutating func add(symbol: String) {
    let number = numbers[ExactString(symbol), default: symbols.count]
    numbers[ExactString(symbol)] = number
    names.append(number)
    symbols.append(symbol)
  }

  mutating func add(shape: [String]) { shapes.append(shape) }

  /// The keys of one object, none of which may occur twice.
  ///
  /// A key may take a byte even if its symbol takes many: each symbol is looked at once, however many keys refer to it.
  struct Keys {
    private var numbers = Set<Int>()
    private var texts = Set<ExactString>()

    /// Adds the key that a symbol is, and returns whether it differs from all before it.
    mutating func insert(symbol: Int, _ definitions: Definitions) -> Bool {
      numbers.insert(definitions.names[symbol]).inserted
    }

    /// The same for the text of a key.
    mutating func insert(text: String, _ definitions: Definitions) -> Bool {
      let text = ExactString(text)
      if let number = definitions.numbers[text] { return numbers.insert(number).inserted }
      return texts.insert(text).inserted
    }
  }
}
