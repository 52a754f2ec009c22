#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state of one call of `decode`: the bytes, what their prelude defines, and where decoding is.
///
/// Nothing is built before it is asked for. Sessions are used again: what belongs to types (schemas,
/// plans, containers) stays, what belongs to a message goes.
final class DecodingSession {
  // Every access is a single load, store or call that does not come back here; checking that at run time
  // would cost more than the accesses.
  @exclusivity(unchecked) private(set) var reader = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
  @exclusivity(unchecked) private(set) var tables = MessageTables()
  /// Where the value of the message stands.
  @exclusivity(unchecked) private(set) var body = 0
  @exclusivity(unchecked) var path = DecodingPath()
  /// The strings of the symbols that were used so far, shared by all their uses.
  @exclusivity(unchecked) private var symbols: [String?] = []
  /// The URLs of those that were read as one, nil where they are none: their uses share it, so that few bytes
  /// cannot ask for many copies.
  @exclusivity(unchecked) private var urls: [Int: URL?] = [:]
  @exclusivity(unchecked) var longSymbols = LongSymbols()
  @exclusivity(unchecked) var keyCheck = KeyCheck()
  /// The first fault that was met where none can be thrown.
  @exclusivity(unchecked) private(set) var notedFault: (any Error)?
  /// The keys of the shapes whose names were needed so far.
  @exclusivity(unchecked) private var shapes: [ShapeNames?] = []
  /// Tells the messages of a session apart.
  @exclusivity(unchecked) private(set) var message = 0

  @exclusivity(unchecked) var schemas: [KeyTable] = []
  /// Those whose containers the message took.
  @exclusivity(unchecked) var usedSchemas = BorrowedList<KeyTable>()
  @exclusivity(unchecked) var schemaTable = TypeTable<Unmanaged<KeyTable>>()
  @exclusivity(unchecked) var plans = DecodingPlans()
  /// Whether containers are handed out again; no longer when the message is over.
  @exclusivity(unchecked) private(set) var reusesContainers: Bool
  /// Whether the message has been read, and a container outlived it.
  @exclusivity(unchecked) private var isOver = false

  // The options of the decoder, as they were when the call began.
  @exclusivity(unchecked) private(set) var userInfo = UserInfo()
  @exclusivity(unchecked) private(set) var maximumDepth = DepthLimit.standard
  @exclusivity(unchecked) var pathMemo = PathMemo()
  @exclusivity(unchecked) var countedArrays = CountedArrays()
  @exclusivity(unchecked) var recurringErrors = RecurringErrors()
  /// How many `init(from:)` are running.
  @exclusivity(unchecked) private var calls = 0
  @exclusivity(unchecked) private var stack = StackGuard()

  /// The bytes of the message, if a container has outlived it.
  @exclusivity(unchecked) private var kept: UnsafeMutableRawBufferPointer?

  init(reusesContainers: Bool) { self.reusesContainers = reusesContainers }

  deinit { kept?.deallocate() }

  /// Takes the options of a decoder, reads the prelude of a message, checks its outline, and returns where its value
  /// stands.
  func begin(
    _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, _ sharedUserInfo: borrowing SharedUserInfo
  ) throws -> Int {
    self.maximumDepth = maximumDepth
    sharedUserInfo.hand(to: &userInfo)
    message &+= 1
    reader.turn(to: bytes)
    do throws(FormatError) {
      body = try tables.read(reader)
      if tables.shapeCount > 0 { try checkShapes() }
      try DepthCheck.run(reader, tables: tables, from: body, limit: maximumDepth)
      return body
    } catch {
      throw self.error(error, path: [], expected: nil)
    }
  }

  /// Forgets the message.
  func reset() {
    reader.turn(to: UnsafeRawBufferPointer(start: nil, count: 0))
    tables.removeAll()
    path.reset()
    if !symbols.isEmpty { symbols.removeAll(keepingCapacity: symbols.count < 4096) }
    longSymbols.removeAll()
    if notedFault != nil { notedFault = nil }
    if !urls.isEmpty { urls = [:] }
    if !shapes.isEmpty { shapes.removeAll(keepingCapacity: shapes.count < 256) }
    usedSchemas.removeAll()
    countedArrays.removeAll()
    if !userInfo.isEmpty { userInfo = UserInfo() }
    pathMemo.reset()
    calls = 0
    stack.reset()
  }

  /// Gets ready to be used when the message is over, because a container was kept: it may read on when the
  /// bytes are gone, and whatever containers are made from now on hold the session themselves.
  func outlive() {
    isOver = true
    reusesContainers = false
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: reader.count, alignment: 1)
    copy.copyMemory(from: reader.buffer(at: 0, count: reader.count))
    kept = copy
    reader.turn(to: UnsafeRawBufferPointer(copy))
  }

  /// Notes a fault that was met in a call of `Codable` that cannot throw, as `allKeys`.
  ///
  /// The call of `decode` throws the first of them when it ends, so that nothing that could not be read is lost without
  /// a word.
  @inline(never)
  func note(_ error: FormatError, path: [any CodingKey]) {
    if notedFault == nil { notedFault = self.error(error, path: path, expected: nil) }
  }

  // MARK: values

  /// Decodes the value at `offset`, one step below `node`.
  @inline(__always)
  func decode<Value: Decodable>(
    _ type: Value.Type, at offset: Int, _ step: @autoclosure () -> PathStep
  ) throws -> Value {
    let entry = plans.entry(for: type)
    let mark = path.count
    let node = path.push(step())
    defer { path.pop(to: mark) }
    if entry.kind == .plain {
      return try decodePlain(type, ValueDecoder(session: self, offset: offset, node: node))
    }
    return try decodeKnown(type, entry, at: offset, node)
  }

  /// Calls the value's own `init(from:)`.
  @inline(__always)
  func decodePlain<Value: Decodable>(_ type: Value.Type, _ decoder: consuming some Decoder) throws -> Value {
    guard calls <= 2 &* maximumDepth else { throw tooDeep(decoder.codingPath) }
    if StackGuard.isDue(calls) { try checkStack(decoder) }
    calls &+= 1
    defer { calls &-= 1 }
    // Called on the type that was handed in, which may be a subclass of `Value`.
    return try type.init(from: decoder)
  }

  @inline(never)
  private func checkStack(_ decoder: some Decoder) throws {
    // What outlived its message may be read on any thread.
    guard stack.isLow(isElsewhere: isOver) else { return }
    let description =
      "Decoding calls itself \(calls) levels deep, and no more fit on the stack of this thread."
    throw DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: decoder.codingPath, debugDescription: description))
  }

  private func tooDeep(_ path: [any CodingKey]) -> DecodingError {
    let description =
      "Decoding calls itself more than \(2 * maximumDepth) levels deep (see maximumDepth)."
    return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: description))
  }

  // MARK: names

  /// The string of a symbol.
  @inline(__always)
  func symbol(_ index: Int, at offset: Int) throws(FormatError) -> String {
    if index < symbols.count, let string = symbols[index] { return string }
    return try makeSymbol(index, at: offset)
  }

  @inline(never)
  private func makeSymbol(_ index: Int, at offset: Int) throws(FormatError) -> String {
    guard index < tables.symbolCount else { try fail(.malformed, at: offset) }
    if symbols.isEmpty { symbols = Array(repeating: nil, count: tables.symbolCount) }
    let string = try reader.string(of: reader.text(at: tables.symbol(index)))
    symbols[index] = string
    if string.utf8.count >= Self.shortestLongSymbol { longSymbols.note(string, symbol: index) }
    return string
  }

  /// The URL that a symbol says; nil if it is none.
  func url(ofSymbol symbol: Int, _ string: String) -> URL? {
    if let known = urls[symbol] { return known }
    let url = URL(string: string)
    urls.updateValue(url, forKey: symbol)
    return url
  }

  /// The name of the key at `offset`, in a map or in a shape.
  func keyName(at offset: Int) throws(FormatError) -> String {
    var next = offset
    if let index = try tables.symbol(reader, ofKeyAt: &next) { return try symbol(index, at: offset) }
    return try reader.string(of: reader.text(at: offset))
  }

  /// The names of the keys of a shape, which the session keeps until the message is over.
  @inline(__always)
  func names(ofShape shape: Int) throws(FormatError) -> Unmanaged<ShapeNames> {
    if shape < shapes.count, let names = shapes[shape] { return .passUnretained(names) }
    return .passUnretained(try makeNames(ofShape: shape))
  }

  @inline(never)
  private func makeNames(ofShape shape: Int) throws(FormatError) -> ShapeNames {
    if shapes.isEmpty { shapes = Array(repeating: nil, count: tables.shapeCount) }
    var names: [String] = []
    for slot in 0..<tables.keyCount(ofShape: shape) {
      names.append(try keyName(at: tables.key(slot, ofShape: shape)))
    }
    let result = ShapeNames(names)
    shapes[shape] = result
    return result
  }

  /// The slot of a key of a shape.
  func slot(of name: String, inShape shape: Int) throws(FormatError) -> Int? {
    let names = try names(ofShape: shape).takeUnretainedValue()
    if names.areShort, names.names.count <= 8 { return names.names.firstIndex(of: name) }
    if names.slots.isEmpty {
      for slot in names.names.indices.reversed() {
        names.slots[try self.name(ofKeyAt: tables.key(slot, ofShape: shape))] = slot
      }
    }
    return names.slots[keyName(name)]
  }
}
