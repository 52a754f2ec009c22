// How keys are compared by their texts, byte by byte, without making strings: one that is looked for with
// another, the few keys of a shape or a map with each other, and many through an index. Then what is known
// about the keys of a type, their former names among it.

/// The text of a key that is looked for, as an encoder writes it (FORMAT.md, "Texts").
///
/// Keys are compared with it byte by byte, so that no strings are made.
struct SearchedText: BitwiseCopyable {
  let bytes: UnsafeRawBufferPointer
  /// The first bytes as a word, and the bits of it that count.
  private let word: UInt64
  private let mask: UInt64

  /// Copies the text of a name. The caller must deallocate it.
  init(_ name: String) {
    let text = KeyText.bytes(of: name)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    copy.copyBytes(from: text)
    bytes = UnsafeRawBufferPointer(copy)
    word = text.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    mask = text.count < 8 ? ~(.max << UInt64(8 * text.count)) : .max
  }

  func deallocate() { bytes.deallocate() }

  @inline(__always)
  func stands(at offset: Int, in reader: ByteReader) -> Bool {
    guard offset <= reader.count &- 8 else { return reader.matches(bytes, at: offset) }
    let found = UInt64(littleEndian: reader.pointer(at: offset).loadUnaligned(as: UInt64.self))
    return (found ^ word) & mask == 0 && (bytes.count <= 8 || reader.matches(bytes, at: offset))
  }
}

/// What is known about the long texts of preludes, symbols and keys of shapes, found out once for all keys.
///
/// A key takes a byte even if its text takes half of the message. Looking at all of a text for every key
/// would take time quadratic in the message.
struct LongTexts {
  /// The size from which on a text is long, in bytes.
  static let shortest = KeyText.limit

  /// The hash of each, and where the first text with the same bytes is.
  private var texts: [(hash: UInt64, first: TextLocation)] = []
  /// The indices of texts, by where they are.
  private var indices = [Int: Int]()
  /// Where the first text with a hash is.
  private var firsts = [Int: Int]()
  /// Where the text of a string is, and its length, by the address of the characters, which copies share.
  private var strings = [Int: Int]()
  private var lengths = [Int: Int]()
  private(set) var isEmpty = true

  /// Notes the string that was made from a text, if it is long. It stays as long as what is known here.
  mutating func note(_ string: String, madeFrom text: TextLocation) {
    guard string.utf8.count >= Self.shortest, let address = string.address else { return }
    isEmpty = false
    (strings[address], lengths[address]) = (text.code, string.utf8.count)
  }

  func text(madeAs string: String) -> TextLocation? {
    guard string.utf8.count >= Self.shortest, let address = string.address, lengths[address] == string.utf8.count
    else { return nil }
    return strings[address].map { TextLocation(code: $0) }
  }

  mutating func text(
    _ text: LocatedText, _ tables: borrowing MessageTables, _ reader: ByteReader
  ) -> (hash: UInt64, first: TextLocation) {
    let place = text.location
    if let known = indices[place.code] { return texts[known] }
    isEmpty = false
    let hash = text.hash
    let other = TextLocation(code: firsts[Int(truncatingIfNeeded: hash)] ?? place.code)
    if other == place { firsts[Int(truncatingIfNeeded: hash)] = place.code }
    let isSame = other != place && (try? tables.text(reader, at: other))?.matches(text.bytes) == true
    indices[place.code] = texts.count
    texts.append((hash, isSame ? other : place))
    return texts[texts.count - 1]
  }
}

extension String {
  /// Where its characters are; nil if they are not contiguous.
  fileprivate var address: Int? { utf8.withContiguousStorageIfAvailable { Int(bitPattern: $0.baseAddress) } }
}

/// A hash index of the keys of a map or a shape, by their texts.
///
/// Built when keys are requested out of order and are too many to search one by one. Takes one walk over
/// them, and 24 to 32 bytes for each, but no strings. Building it finds two keys with the same text.
struct TextIndex {
  struct Key: BitwiseCopyable {
    let location: TextLocation
    let hash: UInt64
  }

  private let keys: [Key]
  /// The numbers of the keys, counted from one; 0 where free.
  private var slots: [UInt32]

  init(_ keys: [Key], _ message: Message) throws(FormatError) {
    self.keys = keys
    var size = 16
    while size < keys.count * 2 { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    for (index, key) in keys.enumerated() {
      let slot = try slot(of: key.hash) { other throws(FormatError) in
        try message.keyText(at: other).isSame(as: message.keyText(at: key.location))
      }
      guard slots[slot] == 0 else { try fail(.repeatedKey, at: key.location.offset) }
      slots[slot] = UInt32(index + 1)
    }
  }

  /// The most keys that are compared with each other. The keys of structs are few.
  private static let mostCompared = 64

  /// Checks that the texts of some keys differ. If they are many, building an index checks that, which is returned.
  static func checking(_ keys: [Key], _ message: Message) throws(FormatError) -> TextIndex? {
    if keys.count > mostCompared { return try TextIndex(keys, message) }
    for (index, key) in keys.enumerated() {
      for other in 0..<index where keys[other].hash == key.hash {
        let text = try message.keyText(at: key.location)
        guard try !message.keyText(at: keys[other].location).isSame(as: text) else {
          try fail(.repeatedKey, at: key.location.offset)
        }
      }
    }
    return nil
  }

  func number(of text: HashedText, _ message: Message) throws(FormatError) -> Int? {
    let slot = try slot(of: text.hash) { other throws(FormatError) in
      try message.keyText(at: other).isSame(as: text)
    }
    return slots[slot] == 0 ? nil : Int(slots[slot]) - 1
  }

  func key(_ text: HashedText, _ message: Message) throws(FormatError) -> TextLocation? {
    try number(of: text, message).map { keys[$0].location }
  }

  /// Returns the slot of the key for which `isSame` is true, or a free one if there is no such key.
  private func slot(of hash: UInt64, _ isSame: (TextLocation) throws(FormatError) -> Bool) throws(FormatError) -> Int {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      let key = keys[Int(slots[slot]) - 1]
      if key.hash == hash, try isSame(key.location) { return slot }
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }
}

/// The text of a key, header included, and its hash.
struct HashedText {
  let bytes: UnsafeRawBufferPointer
  let hash: UInt64
  /// For a long text of a prelude: where the first one with these bytes is.
  let first: TextLocation?

  /// Returns whether both have the same bytes. Long texts are not compared again and again.
  func isSame(as other: HashedText) -> Bool {
    if let first, first == other.first { return true }
    return equalBytes(bytes, other.bytes)
  }
}

extension HashedText {
  /// Makes the text of a key that is looked for.
  init(_ text: SearchedText) {
    let hash = text.bytes.baseAddress.map { TextKey.make($0, text.bytes.count, ByteHash()).hash }
    self.init(bytes: text.bytes, hash: hash ?? 0, first: nil)
  }
}

// MARK: the keys of a type

/// The keys of one key type, as a decoder asks for them.
///
/// For a key type of one trivial byte, the text of each key, as an encoder writes it, is kept from message to
/// message, to be compared with the message's bytes.
final class DecodingKeyTable {
  let hasBytes: Bool
  let keyOfByte: (Int) -> (any CodingKey)?
  private let keyType: any CodingKey.Type
  private let isObserved: Bool
  struct State: ~Copyable {
    /// The texts by the bytes of keys, as far as these were requested: most types have few keys, with the lowest bytes.
    var texts = GrowableBuffer<SearchedText?>(capacity: 8)
    /// Whether two keys have the same text.
    var hasEqualTexts = false
    /// The former names; nil until a key is missing, because the cast takes long.
    var formerNames: FormerNames??
  }
  // Unchecked because every key looks here. Accesses call nothing that comes back here.
  @exclusivity(unchecked) private var state = State()

  /// How many keys of a byte there can be.
  static let size = 256

  init<Key: CodingKey>(_ keyType: Key.Type, isObserved: Bool = false) {
    hasBytes = isByte(keyType)
    self.isObserved = isObserved
    self.keyType = keyType
    keyOfByte = { byte in
      guard isByte(keyType) else { return nil }
      return withUnsafeBytes(of: UInt8(truncatingIfNeeded: byte)) { $0.load(as: Key.self) }
    }
  }

  deinit { for text in state.texts.buffer { text?.deallocate() } }

  /// Returns the text of the key with the given byte, or nil if it was not requested before.
  func knownText(ofByte byte: Int) -> SearchedText? { byte < state.texts.count ? state.texts.base[byte] : nil }

  func text<Key: CodingKey>(of key: Key, byte: Int) -> SearchedText {
    if let text = knownText(ofByte: byte) { return text }
    let text = SearchedText(key.stringValue)
    if state.texts.buffer.contains(where: { $0.map { equalBytes($0.bytes, text.bytes) } == true }) {
      state.hasEqualTexts = true
    }
    while byte >= state.texts.count { state.texts.append(nil) }
    state.texts[byte] = text
    return text
  }

  var hasEqualTexts: Bool { state.hasEqualTexts }

  /// Whether a missing key may have a former name, or an observer that must hear of it.
  var mayHaveFormerNames: Bool { isObserved || formerNames != nil }

  var formerNames: FormerNames? {
    if let known = state.formerNames { return known }
    let names = FormerNames(of: keyType)
    state.formerNames = .some(names)
    return names
  }
}

// MARK: names

/// The names of the keys of a shape, for key types that are known by their strings.
final class ShapeNames {
  let names: [String]
  let areShort: Bool
  /// The same names for the objects of `StowValue`, which share them.
  let objectKeys: ObjectKeys
  /// An index of the names, once one was looked up.
  var index: TextIndex?

  init(_ names: [String]) {
    self.names = names
    areShort = names.allSatisfy { $0.utf8.count < LongTexts.shortest }
    objectKeys = ObjectKeys(names)
  }
}

/// What was found out about the names in the definitions that messages rely on, and about the long texts of a message.
struct KnownNames {
  /// The names of the shapes of the definitions, by the numbers of these.
  private var shapes: [ShapeNames?] = []
  var longTexts = LongTexts()
  private var areShort = true

  func names(ofShape shape: Int) -> ShapeNames? { shape < shapes.count ? shapes[shape] : nil }

  mutating func add(_ names: ShapeNames, ofShape shape: Int) {
    while shapes.count <= shape { shapes.append(nil) }
    shapes[shape] = names
    if !names.areShort { areShort = false }
  }

  /// Forgets what belongs to one message: long texts, and the names of shapes that are found by them.
  mutating func removeLong() {
    if longTexts.isEmpty { return }
    longTexts = LongTexts()
    if !areShort { self = KnownNames() }
  }
}

// MARK: former names

/// Coding keys that had other names in earlier versions of a program.
///
/// ```swift
/// enum CodingKeys: String, CodingKey, StowFormerNames {
///   case customer, total
///   static let formerNames: [CodingKeys: [String]] = [.customer: ["customerName", "client"]]
/// }
/// ```
///
/// If an object lacks a key, a `StowDecoder` takes the value of the first former name that the object has. If the
/// object has the key, that counts, and former names are unknown keys. Encoders write present names only, and paths
/// know no others. The cases of an enumeration with associated values are keys, too. With other coders the protocol
/// does nothing.
public protocol StowFormerNames: CodingKey, Hashable {
  /// The former names of keys, by the keys, those that are looked for first in front.
  ///
  /// Each must belong to one key, and must not be the name of another. Otherwise decoding an object that lacks a key of
  /// this type throws the error of ``checkFormerNames()``.
  static var formerNames: [Self: [String]] { get }
}

extension StowFormerNames {
  /// Checks in a test that each former name belongs to one key.
  ///
  /// ```swift
  /// @Test func formerNames() throws { try Order.CodingKeys.checkFormerNames() }
  /// ```
  ///
  /// - Throws: `DecodingError.dataCorrupted`, whose description names the keys, if two keys have one former name, or if
  ///   a former name is the name of another key.
  public static func checkFormerNames() throws {
    if let conflict = FormerNames(Self.self).conflict { throw DecodingError.corrupted(conflict, path: []) }
  }
}

/// The former names of the keys of one type.
package final class FormerNames: Sendable {
  private let names: [(present: String, former: [String])]
  /// Why the names are ambiguous; nil if they are not.
  package let conflict: String?

  /// Returns nil for a type without former names.
  package convenience init?(of keyType: any CodingKey.Type) {
    guard let type = keyType as? any StowFormerNames.Type else { return nil }
    self.init(type)
  }

  fileprivate init<Key: StowFormerNames>(_ type: Key.Type) {
    let former = Key.formerNames.sorted { $0.key.stringValue < $1.key.stringValue }
    names = former.map { ($0.key.stringValue, $0.value) }
    // A type that makes a key of any string does not say which names its keys have.
    let areNamesKnown = Key(stringValue: "") == nil
    var (keys, flaw) = ([(name: String, key: Key)](), String?.none)
    for (key, names) in former {
      for name in names where name != key.stringValue {
        let other = areNamesKnown ? Key(stringValue: name) : former.map(\.key).first { $0.stringValue == name }
        if let other, other != key {
          flaw = "\"\(name)\" is a former name of \"\(key.stringValue)\", and the name of another key."
        } else if let other = keys.last(where: { $0.name.hasSameBytes(as: name) })?.key, other != key {
          flaw = "\"\(name)\" is a former name of both \"\(other.stringValue)\" and \"\(key.stringValue)\"."
        }
        keys.append((name, key))
      }
    }
    conflict = flaw.map { "The former names of \(String(reflecting: Key.self)) are ambiguous: \($0)" }
  }

  func names(of name: String) -> [String] { names.first { $0.present.hasSameBytes(as: name) }?.former ?? [] }

  /// Returns the names of an object's keys, with the present name in place of each former one whose value counts.
  package func present(_ names: [String]) -> [String] {
    func index(of name: String) -> Int? { names.firstIndex { $0.hasSameBytes(as: name) } }
    var result = names
    for (present, former) in self.names where index(of: present) == nil {
      for case let index? in former.map(index) {
        result[index] = present
        break
      }
    }
    return result
  }
}
