/// The keys of one key type, as a decoder asks for them.
///
/// For a key type that is one trivial byte there is a table for every shape of the message it meets: the
/// byte of a key gives its index. The text of each key, as an encoder writes it, is kept from message to
/// message, to be compared with the message's bytes.
final class DecodingKeyTable {
  let hasBytes: Bool
  /// By the byte of a key.
  private let texts: UnsafeMutablePointer<SearchedText?>
  let keyOfByte: (Int) -> (any CodingKey)?
  /// The keys that names stand for.
  let makeKeyList: ([String]) -> AnyKeyList

  /// The tables of some shapes, each at a place that its number and its source tell. A message of very many shapes cannot fill
  /// the memory with them: of two shapes for one place the second has no table.
  private var tables: [ShapeTable] = []
  /// The shape of the last object, what defined it, and its table.
  private var last = ShapeTable()
  /// A table in which nothing was looked up, for objects without a shape and shapes without a table. Never written.
  let emptyTable: UnsafeMutablePointer<UInt16>

  /// The entry of a key whose key index has not been looked up.
  static let unknown = UInt16.max
  /// The entry of a key that the shape does not have, or has beyond what an entry can say.
  static let missing = UInt16.max - 1
  private static let tableSize = 256
  /// A power of two.
  private static let mostTables = 64

  init<Key: CodingKey>(_ keyType: Key.Type) {
    hasBytes = MemoryLayout<Key>.size <= 1 && _isPOD(Key.self)
    texts = .allocate(capacity: Self.tableSize)
    texts.initialize(repeating: nil, count: Self.tableSize)
    keyOfByte = { byte in
      guard MemoryLayout<Key>.size <= 1, _isPOD(Key.self) else { return nil }
      return withUnsafeBytes(of: UInt8(truncatingIfNeeded: byte)) { $0.load(as: Key.self) }
    }
    makeKeyList = { names in KeyList<Key>(names) }
    emptyTable = .allocate(capacity: Self.tableSize)
    emptyTable.initialize(repeating: Self.unknown, count: Self.tableSize)

  }

  deinit {
    emptyTable.deallocate()
    for table in tables { table.indices?.deallocate() }
    for byte in 0..<Self.tableSize { texts[byte]?.deallocate() }
    texts.deallocate()
  }

  /// Returns the text of the key with the given byte, or nil if it was not asked for before.
  func knownText(ofByte byte: Int) -> SearchedText? { texts[byte] }

  /// Returns the text of the key with the given byte.
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
  func table(forShape shape: Int, _ message: Message) -> UnsafeMutablePointer<UInt16> {
    let source = message.source(ofShape: shape)
    if shape == last.shape, source == last.source { return last.indices ?? emptyTable }
    return hasBytes ? findTable(forShape: shape, source) : emptyTable
  }

  @inline(never)
  private func findTable(forShape shape: Int, _ source: Int) -> UnsafeMutablePointer<UInt16> {
    let place = (shape &* 2 &+ (source < 0 ? 1 : 0)) & (Self.mostTables - 1)
    while tables.count <= place { tables.append(ShapeTable()) }
    if tables[place].source != source {
      // Of another message, so nobody reads it any more.
      let indices = tables[place].indices ?? .allocate(capacity: Self.tableSize)
      indices.initialize(repeating: Self.unknown, count: Self.tableSize)
      tables[place] = ShapeTable(shape: shape, source: source, indices: indices)
    }
    last = tables[place].shape == shape ? tables[place] : ShapeTable(shape: shape, source: source)
    return last.indices ?? emptyTable
  }
}

/// The indices of a key type's keys in one shape, by the bytes of the keys.
private struct ShapeTable {
  var shape = -1
  /// What defined the shape; see `Message.source(ofShape:)`.
  var source = 0
  var indices: UnsafeMutablePointer<UInt16>?
}

/// The names of the keys of a shape, for key types that are known by their strings.
final class ShapeNames {
  let names: [String]
  let areShort: Bool
  /// The same for the objects of `StowValue`, which share them.
  private(set) lazy var objectKeys = ObjectKeys(names)
  /// The keys of the last partial records, by the presence bits that stand for them.
  private var partialKeys: [UInt64: ObjectKeys] = [:]

  /// More than these are not kept, as a shape may be known for long.
  private static let mostPartial = 64
  /// Where each is, once that of one was asked for.
  var index: TextIndex?
  /// The keys with these names, of the type that asked for them last: records of one shape share them.
  private var keys: AnyKeyList?
  private var keyTable: ObjectIdentifier?

  init(_ names: [String]) {
    self.names = names
    areShort = names.allSatisfy { $0.utf8.count < LongSymbols.shortest }
  }

  /// Returns the keys of all names, of the type that `keyTable` is of.
  func keys(_ keyTable: DecodingKeyTable) -> AnyKeyList {
    if let keys, self.keyTable == ObjectIdentifier(keyTable) { return keys }
    let list = keyTable.makeKeyList(names)
    (keys, self.keyTable) = (list, ObjectIdentifier(keyTable))
    return list
  }

  /// Returns the names of which `isPresent` is true.
  ///
  /// - Parameter bits: What it is for all of them; nil for names that are too many for that.
  func objectKeys(presence bits: UInt64?, _ isPresent: (Int) -> Bool) -> ObjectKeys {
    if let bits, let known = partialKeys[bits] { return known }
    let keys = ObjectKeys(names.indices.filter(isPresent).map { names[$0] })
    guard let bits else { return keys }
    if partialKeys.count == Self.mostPartial { partialKeys = [:] }
    partialKeys[bits] = keys
    return keys
  }
}

/// Keys of one type, which is not known here.
class AnyKeyList {}

/// Those keys of one type that some names stand for.
final class KeyList<Key: CodingKey>: AnyKeyList {
  private let names: [String]

  init(_ names: [String]) { self.names = names }

  /// Made by hand: `compactMap` is not compiled for a key type that is known only here.
  private(set) lazy var keys: [Key] = [Key].filled(count: names.count) { buffer, count in
    for name in names {
      guard let key = Key(stringValue: name) else { continue }
      (buffer + count).initialize(to: key)
      count &+= 1
    }
  }
}
