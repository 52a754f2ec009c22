/// The entries of a map or a record, one after the other.
struct ObjectEntries {
  struct Entry {
    let name: String
    /// Where the key stands.
    let key: TextLocation
    let value: Int
  }

  private let object: ObjectHeader
  /// The names of a record's keys. The message keeps them.
  private let names: Unmanaged<ShapeNames>?
  /// How many they are.
  private let nameCount: Int
  private var offset: Int
  private var index = 0

  init(_ object: ObjectHeader, _ message: Message) throws(FormatError) {
    self.object = object
    offset = object.body.lowerBound
    guard let shape = object.shape else {
      names = nil
      nameCount = 0
      return
    }
    guard shape < message.tables.shapeCount else { try fail(.malformed, at: offset) }
    names = try message.names(ofShape: shape)
    nameCount = message.tables.keyCount(ofShape: shape)
    guard object.isPartial else { return }
    offset = try Records.endOfPresence(message.reader, in: object.body, keyCount: nameCount)
  }

  /// Returns how many entries there are at most; in a map exactly, which takes a step for each.
  ///
  /// An estimate by the bytes would let every one of many maps within each other claim them all.
  func count(_ message: Message) throws(FormatError) -> Int {
    guard object.shape == nil else { return min(nameCount, object.body.upperBound - offset) }
    var count = 0
    var next = offset
    while next < object.body.upperBound {
      next = try message.reader.end(of: message.tables.endOfKey(message.reader, at: next))
      count &+= 1
    }
    return count
  }

  /// Returns the next entry, or nil behind the last.
  @inline(__always)
  mutating func next(_ message: Message) throws(FormatError) -> Entry? {
    if offset >= object.body.upperBound {
      try checkEnd(message)
      return nil
    }
    let key: TextLocation
    let value: Int
    let name: String
    if let shape = object.shape {
      while object.isPartial, index < nameCount,
        !message.reader.bit(index, at: object.body.lowerBound)
      { index &+= 1 }
      guard index < nameCount, let names else { try fail(.malformed, at: offset) }
      name = names._withUnsafeGuaranteedRef { $0.names[index] }
      key = message.tables.key(index, ofShape: shape)
      value = offset
      index &+= 1
    } else {
      key = TextLocation(offset)
      name = try message.keyString(at: key)
      value = try message.tables.endOfKey(message.reader, at: offset)
    }
    offset = try message.reader.end(of: value)
    guard offset <= object.body.upperBound else { try fail(.malformed, at: value) }
    return Entry(name: name, key: key, value: value)
  }

  /// Checks that no key of a record is left without its value.
  private func checkEnd(_ message: Message) throws(FormatError) {
    for index in index..<max(index, nameCount) {
      let isAbsent = object.isPartial && !message.reader.bit(index, at: object.body.lowerBound)
      guard isAbsent else { try fail(.malformed, at: offset) }
    }
  }
}
