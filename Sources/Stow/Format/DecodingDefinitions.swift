import Synchronization

/// The symbols and shapes that the reader of a message has before it begins to read (FORMAT.md, "Contexts").
///
/// Those of a context never change, and are shared by threads. Those of a log or a stream grow from record to record,
/// and belong to whoever reads it.
package final class DecodingDefinitions: @unchecked Sendable {
  /// Copies of the preludes that define them, one behind the other.
  private var bytes = GrowableBuffer<UInt8>(capacity: 64)
  private var byteCount = 0
  private(set) var reader = ByteReader(extents: Tag.extents)
  private var tables = TextTables()
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

  /// Adds what the prelude at `start` defines, and returns the offset behind it. Nothing is added if it is not valid.
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
    for index in first..<symbolCount { strings.append(try reader.string(of: reader.text(at: symbol(index)))) }
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
        let symbol = try message.symbol(ofKeyAt: key)
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

  /// Where the text of a symbol stands.
  func symbol(_ index: Int) -> Int { tables.symbol(index) }

  @inline(__always)
  func keyCount(ofShape shape: Int) -> Int { tables.keyCount(ofShape: shape) }

  /// Where the key at `slot` of a shape stands.
  func key(_ slot: Int, ofShape shape: Int) -> Int { tables.key(slot, ofShape: shape) }
}
