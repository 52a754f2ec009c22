#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message that is open for reading: its bytes, and the definitions in its prelude.
///
/// The object is reused for the next message. Strings, URLs and names of shapes are made when first needed, and shared.
final class Message {
  private(set) var reader = ByteReader(extents: Tag.extents)
  /// Where the value of the message is.
  private(set) var body = 0
  /// Distinguishes the messages that one object reads one after the other.
  private(set) var number = 0
  private(set) var maximumDepth = DepthLimit.standard

  /// What the message defines, and what was made of it so far.
  struct State: ~Copyable {
    var tables = MessageTables()
    var strings = MessageStrings()
    var known = KnownNames()
    /// The keys that are being checked, or indexed.
    var keys: [TextIndex.Key] = []

    /// As `LongTexts.text`, for a text of these tables.
    mutating func longText(_ text: LocatedText, _ reader: ByteReader) -> (hash: UInt64, first: TextLocation) {
      known.longTexts.text(text, tables, reader)
    }
  }
  // Unchecked because it is used for every object and every repeated string. Accesses never call the user's code.
  @exclusivity(unchecked) private var state = State()
  var tables: MessageTables { @inline(__always) _read { yield state.tables } }
  /// The message's own copy of its bytes, if a container escaped the call that lent them.
  private var detachedBytes: UnsafeMutableRawBufferPointer?

  deinit { detachedBytes?.deallocate() }

  /// Reads the prelude of a message, and checks that the message ends where its value does.
  ///
  /// A reader of a value must check its depth first.
  ///
  /// - Parameter contexts: The contexts that the message may rely on.
  func open(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int, _ contexts: DecodingContexts?) throws(FormatError) {
    begin(bytes, maximumDepth: maximumDepth)
    var start = 0
    if let contexts, let context = try contexts.context(of: reader, &start) {
      rely(on: context, context.state.tables.extent)
    }
    body = try state.tables.read(reader, at: start)
    if tables.shapeCount > tables.firstShape { try checkShapes() }
    try checkOutline()
  }

  /// Opens a message whose prelude has already been added to the definitions that it relies on.
  func open(
    _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, _ scope: DecodingDefinitions.Scope
  ) throws(FormatError) {
    begin(bytes, maximumDepth: maximumDepth)
    if let definitions = scope.definitions { rely(on: definitions, scope.extent) }
    body = scope.body
    try checkOutline()
  }

  /// Opens a message, and returns what opens it again without reading its prelude.
  func openForParts(
    _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, _ contexts: DecodingContexts?
  ) throws(FormatError) -> DecodingDefinitions.Scope {
    begin(bytes, maximumDepth: maximumDepth)
    var start = 0
    var definitions = try contexts?.context(of: reader, &start)
    if try reader.byte(at: start) == MessageTables.tag {
      let extended = try DecodingDefinitions(extending: definitions)
      start = try extended.add(reader, at: start)
      definitions = extended
    }
    body = start
    try checkOutline()
    let extent = definitions?.state.tables.extent ?? TextTables.Extent()
    return DecodingDefinitions.Scope(definitions: definitions, extent: extent, body: start)
  }

  private func begin(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
    self.maximumDepth = maximumDepth
    number &+= 1
    reader.turn(to: bytes)
  }

  @inline(__always)
  private func checkOutline() throws(FormatError) {
    let end = try reader.end(of: body)
    guard end == reader.count else { try fail(.surplus, at: end) }
  }

  /// Checks that a value inside `depth` containers does not nest too deeply; without an offset, that of the message.
  @inline(__always)
  func checkDepth(ofValueAt offset: Int? = nil, within depth: Int = 0) throws(FormatError) {
    // Each level takes at least a byte, and the message was seen to end with its value.
    if offset == nil, reader.count &- body <= maximumDepth { return }
    try DepthCheck.run(reader, tables: tables, from: offset ?? body, limit: maximumDepth - depth)
  }

  private func rely(on definitions: DecodingDefinitions, _ extent: TextTables.Extent) {
    if tables.definitions !== definitions { state.known = KnownNames() }
    state.tables.rely(on: definitions, extent)
  }

  /// Replaces what is known of names, and returns it: an open message keeps it from one read to the next.
  func exchangeNames(for names: KnownNames) -> KnownNames {
    defer { state.known = names }
    return state.known
  }

  /// Returns a number that identifies the source of a shape: negative for what messages rely on, and the same
  /// in every message that relies on it. With the number of the shape, it identifies the shape in all messages.
  func source(ofShape shape: Int) -> Int { shape < tables.firstShape ? sourceOfDefinitions : number }

  /// The same for a symbol.
  func source(ofSymbol symbol: Int) -> Int { symbol < tables.firstSymbol ? sourceOfDefinitions : number }

  private var sourceOfDefinitions: Int { ~(tables.definitions?.number ?? 0) }

  func close() {
    reader.turn(to: UnsafeRawBufferPointer(start: nil, count: 0))
    removeKeys()
    let hasNames = tables.symbolCount > 0 || tables.shapeCount > 0 || tables.definitions != nil
    state.tables.removeAll()
    // Everything else was made of definitions.
    guard hasNames else { return }
    state.strings.removeAll()
    state.known.removeLong()
    if let definitions = tables.definitions, definitions.size > Self.mostKeptDefinitions {
      state.tables.forgetDefinitions()
      state.known = KnownNames()
    }
  }

  /// The most bytes of definitions that are kept: larger ones may be those of a message that nobody opens again.
  private static let mostKeptDefinitions = 1 << 16

  /// Copies the bytes, so that the message can be read when the caller's are gone.
  func detach() {
    tables.definitions?.noteEscape()
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: reader.count, alignment: 1)
    copy.copyMemory(from: reader.buffer(at: 0, count: reader.count))
    detachedBytes = copy
    reader.turn(to: UnsafeRawBufferPointer(copy))
  }

  /// Checks that no shape of the prelude names a key twice.
  private func checkShapes() throws(FormatError) {
    for shape in tables.firstShape..<tables.shapeCount {
      try takeKeys(ofShape: shape)
      _ = try TextIndex.checking(state.keys, self)
    }
  }

  // MARK: symbols

  /// Returns the string of a symbol; `offset` is where it is used.
  func symbol(_ index: Int, at offset: Int) throws(FormatError) -> String {
    let own = index &- tables.firstSymbol
    if own >= 0, own < state.strings.symbols.count, let string = state.strings.symbols[own] { return string }
    return try makeSymbol(index, at: offset)
  }

  @inline(never)
  private func makeSymbol(_ index: Int, at offset: Int) throws(FormatError) -> String {
    guard index < tables.symbolCount else { try fail(.malformed, at: offset) }
    let string: String
    let text = tables.symbol(index)
    if index < tables.firstSymbol, let definitions = tables.definitions {
      string = try definitions.string(ofSymbol: index)
    } else {
      let first = tables.firstSymbol
      if state.strings.symbols.isEmpty {
        state.strings.symbols = Array(repeating: nil, count: tables.symbolCount - first)
      }
      string = try tables.text(reader, at: text).string()
      state.strings.symbols[index - first] = string
    }
    state.known.longTexts.note(string, madeFrom: text)
    return string
  }

  func url(ofSymbol symbol: Int, _ string: String) -> URL? {
    if let known = state.strings.urls[symbol] { return known }
    let url = URL(string: string)
    state.strings.urls[symbol] = .some(url)
    return url
  }

  // MARK: keys

  func keyString(at key: TextLocation) throws(FormatError) -> String {
    if let index = try tables.symbol(reader, ofKeyAt: key) { return try symbol(index, at: key.offset) }
    return try tables.text(reader, at: key).string()
  }

  /// Returns the text of a key, its own or its symbol's.
  @inline(never)
  func keyText(at key: TextLocation) throws(FormatError) -> HashedText {
    keyText(try tables.text(reader, ofKeyAt: key))
  }

  /// Returns the key text of a text. A long one of a prelude, to which any number of keys may refer, is hashed once.
  func keyText(_ found: LocatedText) -> HashedText {
    guard found.text.count >= LongTexts.shortest, !found.isInMessage || found.text.start < body else {
      return HashedText(bytes: found.bytes, hash: found.hash, first: nil)
    }
    let (hash, first) = state.longText(found, reader)
    return HashedText(bytes: found.bytes, hash: hash, first: first)
  }

  /// Passes the text of a requested name to `body`. A string made from a text of a prelude is not hashed again.
  func withText<Result>(
    of name: String, _ body: (HashedText) throws(FormatError) -> Result
  ) throws(FormatError) -> Result {
    if let text = state.known.longTexts.text(madeAs: name) { return try body(keyText(tables.text(reader, at: text))) }
    let text = SearchedText(name)
    defer { text.deallocate() }
    return try body(HashedText(text))
  }

  /// Returns whether a key, a text or a symbol, has the given text.
  func hasKey(_ text: UnsafeRawBufferPointer, at key: TextLocation) throws(FormatError) -> Bool {
    // Nearly all keys are looked at in the message itself.
    if key.isInMessage {
      if reader.matches(text, at: key.offset) { return true }
      guard try reader.byte(at: key.offset) >= KeyText.symbol else { return false }
    }
    return try tables.text(reader, ofKeyAt: key).matches(text)
  }

  private func takeKeys(ofShape shape: Int) throws(FormatError) {
    removeKeys()
    for index in 0..<tables.keyCount(ofShape: shape) { try take(tables.key(index, ofShape: shape)) }
  }

  private func takeKeys(ofMap map: Range<Int>) throws(FormatError) {
    removeKeys()
    var entries = Children(ofMap: map)
    while let key = try entries.next(self)?.key { try take(key) }
  }

  private func take(_ key: TextLocation) throws(FormatError) {
    state.keys.append(TextIndex.Key(location: key, hash: try keyText(at: key).hash))
  }

  private func removeKeys() { if !state.keys.isEmpty { state.keys.removeAll(keepingCapacity: state.keys.count <= 64) } }

  /// Checks that no two keys of a map are the same, and returns their number. If they are many, also returns an index.
  func checkKeys(ofMap map: Range<Int>) throws(FormatError) -> (count: Int, index: TextIndex?) {
    try takeKeys(ofMap: map)
    return (state.keys.count, try TextIndex.checking(state.keys, self))
  }

  func index(ofMap map: Range<Int>) throws(FormatError) -> TextIndex {
    try takeKeys(ofMap: map)
    return try TextIndex(state.keys, self)
  }

  // MARK: shapes

  func names(ofShape shape: Int) throws(FormatError) -> ShapeNames {
    let own = shape &- tables.firstShape
    if own >= 0, own < state.strings.shapes.count, let names = state.strings.shapes[own] { return names }
    if own < 0, let names = state.known.names(ofShape: shape) { return names }
    var names: [String] = []
    for index in 0..<tables.keyCount(ofShape: shape) {
      let key = tables.key(index, ofShape: shape)
      let name = try keyString(at: key)
      if try tables.symbol(reader, ofKeyAt: key) == nil { state.known.longTexts.note(name, madeFrom: key) }
      names.append(name)
    }
    let result = ShapeNames(names)
    if own < 0 {
      state.known.add(result, ofShape: shape)
    } else {
      if state.strings.shapes.isEmpty {
        state.strings.shapes = Array(repeating: nil, count: tables.shapeCount - tables.firstShape)
      }
      state.strings.shapes[own] = result
    }
    return result
  }

  /// Returns the index of the key called `name` in a shape, or nil if the shape has no such key.
  ///
  /// - Parameter likely: The most likely index.
  func keyIndex(of name: String, inShape shape: Int, likely: Int? = nil) throws(FormatError) -> Int? {
    let names = try names(ofShape: shape)
    // Comparing long names may take long.
    if names.areShort {
      if let likely, names.names.indices.contains(likely), names.names[likely].hasSameBytes(as: name) { return likely }
      if names.names.count <= 8 { return names.names.firstIndex { $0.hasSameBytes(as: name) } }
    }
    if names.index == nil {
      try takeKeys(ofShape: shape)
      names.index = try TextIndex(state.keys, self)
    }
    return try withText(of: name) { text throws(FormatError) in try names.index?.number(of: text, self) }
  }
}

/// The strings, URLs and names that were made from the symbols and shapes of a message so far.
struct MessageStrings {
  /// The strings, by the numbers of the message's own symbols; empty until one is needed.
  var symbols: [String?] = []
  /// The URLs that symbols are; nil for a symbol that is no URL. Shared, so that few bytes cannot ask for many copies.
  var urls = [Int: URL?]()
  /// The names of the message's own shapes; empty until some are needed.
  var shapes: [ShapeNames?] = []

  /// Forgets everything. Memory is kept for the next message, unless it is large.
  mutating func removeAll() {
    if !symbols.isEmpty { symbols.removeAll(keepingCapacity: symbols.count < 4096) }
    if !urls.isEmpty { urls = .init() }
    if !shapes.isEmpty { shapes.removeAll(keepingCapacity: shapes.count < 256) }
  }
}

// MARK: what records define, for whoever reads files and streams of them: with the errors that users see

extension DecodingDefinitions {
  /// Adds the definitions of a record, if it has any.
  ///
  /// Must not be called while another thread reads a record that relies on them (``extensible(by:)``).
  ///
  /// - Parameter limit: The most bytes of preludes that are allowed.
  /// - Throws: `DecodingError.dataCorrupted` if its prelude is not valid, and `TooMany` if there would be more than the
  ///   limit; then nothing is added.
  package func add(record: UnsafeRawBufferPointer, limit: Int = .max) throws -> Scope {
    try reading(record) { reader throws(FormatError) in
      let hasPrelude = try reader.byte(at: 0) == MessageTables.tag
      let body = hasPrelude ? try add(reader, at: 0, limit: limit) : 0
      return Scope(definitions: self, extent: state.tables.extent, body: body)
    }
  }

  /// Returns what a record without definitions may refer to.
  ///
  /// - Parameter earlier: The result of adding the last record before it that has definitions; nil if there
  ///   is no such record.
  /// - Throws: `DecodingError.dataCorrupted` if the record is empty.
  package func scope(of record: UnsafeRawBufferPointer, after earlier: Scope?) throws -> Scope {
    try reading(record) { reader throws(FormatError) in
      _ = try reader.byte(at: 0)
      return Scope(definitions: self, extent: earlier?.extent ?? TextTables.Extent(), body: 0)
    }
  }

  /// The error of a record that defines more than allowed.
  package struct TooMany: Error {}
}

extension RecordPrelude {
  /// Reads the prelude at the front of a record, if there is one.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if it is not valid.
  package init(of record: UnsafeRawBufferPointer) throws {
    self = try reading(record) { reader throws(FormatError) in try RecordPrelude(reader) }
  }
}

private func reading<Result>(
  _ record: UnsafeRawBufferPointer, _ body: (ByteReader) throws(FormatError) -> Result
) throws -> Result {
  do throws(FormatError) {
    return try body(ByteReader(record))
  } catch {
    if error.kind == .tooManyDefinitions { throw DecodingDefinitions.TooMany() }
    throw DecodingError.corrupted("The definitions of a record break the format.", path: [])
  }
}

/// The values within an array, a map or a record, one after the other.
///
///     array               value  value  …
///     map            key  value  key  value  …
///     record    [bits]    value  value  …        the keys are those of the shape, or those whose bit is set
struct Children: Sendable {
  struct Child {
    /// Where the key is; nil in an array.
    let key: TextLocation?
    /// The number of the element or the entry; in a record, that of its key in the shape.
    let number: Int
    let value: Int
  }

  /// Nil if this is an array.
  let object: ObjectHeader?
  private let keyCount: Int
  let end: Int
  /// Where the next element is, or the next entry with its key.
  private(set) var offset: Int
  /// The number of the next child; in a record, of a key, which `peek` moves to one that has a value.
  private(set) var number = 0

  /// Makes the children of the value at `offset`; nil if it is not an array, map or record.
  init?(of offset: Int, _ message: Message) throws(FormatError) {
    if Arrays.isArray(try message.reader.byte(at: offset)) {
      self.init(nil, try Arrays.read(message.reader, at: offset))
    } else if let object = try ObjectHeader.read(message.reader, at: offset) {
      try self.init(object, message)
    } else {
      return nil
    }
  }

  init(_ object: ObjectHeader, _ message: Message) throws(FormatError) {
    guard let shape = object.shape else {
      self.init(object, object.body)
      return
    }
    guard shape < message.tables.shapeCount else { try fail(.malformed, at: object.body.lowerBound) }
    self.init(object, object.body, keyCount: message.tables.keyCount(ofShape: shape))
    guard object.isPartial else { return }
    offset = try Records.endOfPresence(message.reader, in: object.body, keyCount: keyCount)
  }

  init(ofMap body: Range<Int>) { self.init(ObjectHeader(shape: nil, isPartial: false, body: body), body) }

  private init(_ object: ObjectHeader?, _ body: Range<Int>, keyCount: Int = 0) {
    self.object = object
    self.keyCount = keyCount
    (offset, end) = (body.lowerBound, body.upperBound)
  }

  /// The entries of a map; nil for an array or a record.
  var map: Range<Int>? { object?.shape == nil ? object?.body : nil }

  /// Returns the next child, or nil after the last; then a record must have had a value for each of its keys.
  @inline(__always)
  mutating func next(_ message: Message) throws(FormatError) -> Child? {
    guard let child = try peek(message) else {
      try checkEnd(message)
      return nil
    }
    try pass(child, to: message.reader.end(of: child.value))
    return child
  }

  @inline(__always)
  mutating func peek(_ message: Message) throws(FormatError) -> Child? {
    if offset >= end { return nil }
    var key: TextLocation?
    var value = offset
    if let shape = object?.shape {
      number = nextKey(message.reader)
      guard number < keyCount else { try fail(.malformed, at: offset) }
      key = message.tables.key(number, ofShape: shape)
    } else if object != nil {
      key = TextLocation(offset)
      value = try message.tables.endOfKey(message.reader, at: offset)
    }
    return Child(key: key, number: number, value: value)
  }

  /// Moves past the child that `peek` returned, which ends at `next`.
  @inline(__always)
  mutating func pass(_ child: Child, to next: Int) throws(FormatError) {
    guard next <= end else { try fail(.malformed, at: child.value) }
    offset = next
    number &+= 1
  }

  /// Checks that a record has had a value for each of its keys.
  func checkEnd(_ message: Message) throws(FormatError) {
    guard nextKey(message.reader) >= keyCount else { try fail(.malformed, at: offset) }
  }

  /// Returns the first key of the shape from `number` on that has a value, or the number of keys.
  private func nextKey(_ reader: ByteReader) -> Int {
    guard let object, object.isPartial else { return number }
    var key = number
    while key < keyCount, !reader.bit(key, at: object.body.lowerBound) { key &+= 1 }
    return key
  }

  func name(of child: Child, _ message: Message) throws(FormatError) -> String {
    if let shape = object?.shape { return try message.names(ofShape: shape).names[child.number] }
    guard let key = child.key else { return "" }
    return try message.keyString(at: key)
  }

  /// Returns the names of the keys with values that are left.
  func names(_ message: Message) throws(FormatError) -> [String] {
    var names: [String] = []
    var rest = self
    while let child = try rest.next(message) { names.append(try rest.name(of: child, message)) }
    return names
  }

  /// Returns the most entries that may be left; in a map the exact number, because every one of many nested maps could
  /// claim all bytes.
  func count(_ message: Message) throws(FormatError) -> Int {
    guard object?.shape == nil else { return min(keyCount, end - offset) }
    var (count, next) = (0, offset)
    while next < end {
      next = try message.reader.end(of: message.tables.endOfKey(message.reader, at: next))
      count &+= 1
    }
    return count
  }
}
