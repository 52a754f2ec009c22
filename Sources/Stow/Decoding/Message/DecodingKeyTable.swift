/// The keys of one key type, as a decoder asks for them.
///
/// For a key type that is one trivial byte there is a table for every shape of the message it meets: the
/// byte of a key gives its index. The text of each key, as an encoder writes it, is kept from message to
/// message, to be compared with the message's bytes.
final class DecodingKeyTable {
  let hasBytes: Bool
  /// By the byte of a key.
  private let texts: UnsafeMutablePointer<SearchedText?>
  private let makeFromByte: (Int) -> (any CodingKey)?
  /// The keys that names stand for.
  let makeKeyList: ([String]) -> AnyKeyList

  /// The tables of the shapes that the message defines, and of those that it relies on.
  private var own = ShapeTables()
  private var relied = ShapeTables()
  /// The shape of the last object, what defined it, and its table.
  private var lastShape = -1
  private var lastSource = 0
  private var lastTable: UnsafeMutablePointer<UInt16>
  /// A table in which nothing was looked up, for objects without a shape and shapes without a table. Never written.
  let emptyTable: UnsafeMutablePointer<UInt16>

  /// The entry of a key whose key index has not been looked up.
  static let unknown = UInt16.max
  /// The entry of a key that the shape does not have, or has beyond what an entry can say.
  static let missing = UInt16.max - 1
  fileprivate static let tableSize = 256

  init<Key: CodingKey>(_ keyType: Key.Type) {
    hasBytes = MemoryLayout<Key>.size <= 1 && _isPOD(Key.self)
    texts = .allocate(capacity: Self.tableSize)
    texts.initialize(repeating: nil, count: Self.tableSize)
    makeFromByte = { byte in keyFromByte(byte, as: Key.self) }
    makeKeyList = { names in KeyList<Key>(names) }
    emptyTable = .allocate(capacity: Self.tableSize)
    emptyTable.initialize(repeating: Self.unknown, count: Self.tableSize)
    lastTable = emptyTable
  }

  deinit {
    emptyTable.deallocate()
    own.deallocate()
    relied.deallocate()
    for byte in 0..<Self.tableSize { texts[byte]?.deallocate() }
    texts.deallocate()
  }

  func key(ofByte byte: Int) -> (any CodingKey)? { makeFromByte(byte) }

  /// Returns the text of the key with the given byte, or nil if it was not asked for before.
  @inline(__always)
  func knownText(ofByte byte: Int) -> SearchedText? { texts[byte] }

  /// Returns the text of the key with the given byte.
  @inline(__always)
  func text<Key: CodingKey>(of key: Key, byte: Int) -> SearchedText {
    texts[byte] ?? addText(of: key, byte: byte)
  }

  @inline(never)
  private func addText<Key: CodingKey>(of key: Key, byte: Int) -> SearchedText {
    let text = SearchedText(key.stringValue)
    texts[byte] = text
    return text
  }

  /// Returns the indices of the keys of a shape by their bytes, as far as they were looked up.
  @inline(__always)
  func table(forShape shape: Int, _ message: Message) -> UnsafeMutablePointer<UInt16> {
    let source = message.source(ofShape: shape)
    if shape == lastShape, source == lastSource { return lastTable }
    return findTable(forShape: shape, source)
  }

  @inline(never)
  private func findTable(forShape shape: Int, _ source: Int) -> UnsafeMutablePointer<UInt16> {
    guard hasBytes else { return emptyTable }
    lastShape = shape
    lastSource = source
    let table = source < 0 ? relied.table(forShape: shape, source) : own.table(forShape: shape, source)
    lastTable = table ?? emptyTable
    return lastTable
  }
}

/// Tables of the indices of a key type's keys, for the shapes that one message or one context defines.
private struct ShapeTables {
  /// Those behind `count` are free.
  private var tables: [(shape: Int, table: UnsafeMutablePointer<UInt16>)] = []
  private var count = 0
  private var source = 0

  /// No more shapes than these have tables, so that a message of very many cannot fill the memory with them.
  private static let mostTables = 64

  func deallocate() {
    for (_, table) in tables { table.deallocate() }
  }

  /// Returns the table of a shape; nil if too many have one.
  mutating func table(forShape shape: Int, _ source: Int) -> UnsafeMutablePointer<UInt16>? {
    if source != self.source {
      self.source = source
      count = 0
    }
    if let found = tables[..<count].first(where: { $0.shape == shape }) { return found.table }
    if count == Self.mostTables { return nil }
    if count == tables.count { tables.append((shape, .allocate(capacity: DecodingKeyTable.tableSize))) }
    let table = tables[count].table
    table.initialize(repeating: DecodingKeyTable.unknown, count: DecodingKeyTable.tableSize)
    tables[count].shape = shape
    count += 1
    return table
  }
}

/// Returns the key with the given byte, of a type that is a trivial byte or nothing.
private func keyFromByte<Key: CodingKey>(_ byte: Int, as _: Key.Type) -> (any CodingKey)? {
  guard MemoryLayout<Key>.size <= 1, _isPOD(Key.self) else { return nil }
  return withUnsafeBytes(of: UInt8(truncatingIfNeeded: byte)) { $0.load(as: Key.self) }
}
