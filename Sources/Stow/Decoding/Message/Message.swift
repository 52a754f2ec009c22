#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message that is open for reading: its bytes, what its prelude defines, and the names that were made of that so
/// far.
///
/// A message object is used again for the next message. Strings, URLs and names of shapes are made when they are first
/// asked for, and shared by all their uses.
final class Message {
  private(set) var reader = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
  // Used for every object, whose access calls nothing of the user's.
  @exclusivity(unchecked) private(set) var tables = MessageTables()
  /// Where the value of the message stands.
  private(set) var body = 0
  /// Tells the messages that one object reads apart.
  private(set) var number = 0
  /// How many containers may be nested.
  private(set) var maximumDepth = DepthLimit.standard

  // Used for every repeated string, whose access calls nothing of the user's.
  @exclusivity(unchecked) private var symbols: [String?] = []
  /// The URLs of the symbols that were read as one, nil where they are none: few bytes cannot ask for many copies.
  private var urls: [Int: URL?] = [:]
  private var longSymbols = LongSymbols()
  private var shapes: [ShapeNames?] = []
  var keyCheck = KeyCheck()
  /// The message's own copy of its bytes, if a container escaped the call that lent them.
  private var detachedBytes: UnsafeMutableRawBufferPointer?

  deinit { detachedBytes?.deallocate() }

  /// Reads the prelude of a message and checks its outline.
  func open(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) throws(FormatError) {
    self.maximumDepth = maximumDepth
    number &+= 1
    reader.turn(to: bytes)
    body = try tables.read(reader)
    if tables.shapeCount > 0 { try checkShapes() }
    try DepthCheck.run(reader, tables: tables, from: body, limit: maximumDepth)
  }

  /// Forgets the bytes and all that was made of them.
  func close() {
    reader.turn(to: UnsafeRawBufferPointer(start: nil, count: 0))
    tables.removeAll()
    if !symbols.isEmpty { symbols.removeAll(keepingCapacity: symbols.count < 4096) }
    longSymbols.removeAll()
    if !urls.isEmpty { urls = [:] }
    if !shapes.isEmpty { shapes.removeAll(keepingCapacity: shapes.count < 256) }
  }

  /// Copies the bytes, so that the message can be read when the caller's are gone.
  func detach() {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: reader.count, alignment: 1)
    copy.copyMemory(from: reader.buffer(at: 0, count: reader.count))
    detachedBytes = copy
    reader.turn(to: UnsafeRawBufferPointer(copy))
  }

  /// Checks that no shape of the prelude names a key twice.
  private func checkShapes() throws(FormatError) {
    for shape in 0..<tables.shapeCount {
      keyCheck.removeAll()
      for index in 0..<tables.keyCount(ofShape: shape) {
        _ = try keyCheck.add(keyAt: tables.key(index, ofShape: shape), reader, tables)
      }
      try finishKeyCheck()
    }
  }

  /// Checks that the keys that `keyCheck` took in are distinct.
  func finishKeyCheck() throws(FormatError) {
    try keyCheck.finish(reader) { offset throws(FormatError) in try name(ofKeyAt: offset) }
  }

  // MARK: symbols

  /// Returns the string of a symbol; `offset` is where it is used.
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
    if string.utf8.count >= LongSymbols.shortest { longSymbols.note(string, symbol: index) }
    return string
  }

  /// Returns the URL that a symbol says, or nil if it says none.
  func url(ofSymbol symbol: Int, _ string: String) -> URL? {
    if let known = urls[symbol] { return known }
    let url = URL(string: string)
    urls.updateValue(url, forKey: symbol)
    return url
  }

  /// Returns what is known of the text of a key if it is a long symbol, to which any number of keys may refer.
  func longSymbol(_ text: ByteReader.Text) -> LongSymbols.Text? {
    guard text.count >= LongSymbols.shortest, text.start < body else { return nil }
    return longSymbols.text(text, reader)
  }

  /// Returns the long symbol that a string was made of, or nil if it was made of none.
  func longSymbol(madeAs string: String) -> Int? {
    string.utf8.count >= LongSymbols.shortest ? longSymbols.symbol(madeAs: string) : nil
  }

  // MARK: keys

  /// Returns the string of the key at `offset`, in a map or in a shape.
  func keyString(at offset: Int) throws(FormatError) -> String {
    var next = offset
    if let index = try tables.symbol(reader, ofKeyAt: &next) { return try symbol(index, at: offset) }
    return try reader.string(of: reader.text(at: offset))
  }

  /// Returns the name of the key at `offset`, to be compared with others.
  func name(ofKeyAt offset: Int) throws(FormatError) -> KeyName {
    let string = try keyString(at: offset)
    var next = offset
    guard string.utf8.count >= LongSymbols.shortest,
      let symbol = try tables.symbol(reader, ofKeyAt: &next)
    else { return KeyName(string) }
    return longSymbols.name(string, ofSymbol: symbol)
  }

  /// Returns the name that somebody asks for. One that is a string of the message is not hashed again.
  func name(_ string: String) -> KeyName {
    longSymbol(madeAs: string).map { longSymbols.name(string, ofSymbol: $0) } ?? KeyName(string)
  }

  /// Returns whether the key at `offset`, a text or a symbol, has the given text.
  @inline(__always)
  func hasKey(_ text: UnsafeRawBufferPointer, at offset: Int) throws(FormatError) -> Bool {
    if reader.matches(text, at: offset) { return true }
    guard try reader.byte(at: offset) >= KeyText.symbol else { return false }
    return try isSymbol(text, at: offset)
  }

  @inline(never)
  private func isSymbol(_ text: UnsafeRawBufferPointer, at offset: Int) throws(FormatError) -> Bool {
    var next = offset
    guard let symbol = try tables.symbol(reader, ofKeyAt: &next) else { return false }
    return reader.matches(text, at: tables.symbol(symbol))
  }

  /// Returns whether the key at `offset` has characters beyond ASCII, so that a string of other bytes could equal it.
  @inline(__always)
  func isBeyondASCII(keyAt offset: Int) throws(FormatError) -> Bool {
    guard try reader.byte(at: offset) >= KeyText.plain else { return false }
    let text = try tables.text(reader, ofKeyAt: offset)
    return !(longSymbol(text)?.isASCII ?? reader.isASCII(text))
  }

  // MARK: shapes

  /// Returns the names of the keys of a shape. The message keeps them until it is closed.
  @inline(__always)
  func names(ofShape shape: Int) throws(FormatError) -> Unmanaged<ShapeNames> {
    if shape < shapes.count, let names = shapes[shape] { return .passUnretained(names) }
    return .passUnretained(try makeNames(ofShape: shape))
  }

  @inline(never)
  private func makeNames(ofShape shape: Int) throws(FormatError) -> ShapeNames {
    if shapes.isEmpty { shapes = Array(repeating: nil, count: tables.shapeCount) }
    var names: [String] = []
    for index in 0..<tables.keyCount(ofShape: shape) {
      names.append(try keyString(at: tables.key(index, ofShape: shape)))
    }
    let result = ShapeNames(names)
    shapes[shape] = result
    return result
  }

  /// Returns the index of the key called `name` in a shape, or nil if the shape has none.
  func keyIndex(of name: String, inShape shape: Int) throws(FormatError) -> Int? {
    let names = try names(ofShape: shape).takeUnretainedValue()
    if names.areShort, names.names.count <= 8 { return names.names.firstIndex(of: name) }
    if names.indices.isEmpty {
      for index in names.names.indices.reversed() {
        names.indices[try self.name(ofKeyAt: tables.key(index, ofShape: shape))] = index
      }
    }
    return names.indices[self.name(name)]
  }
}
