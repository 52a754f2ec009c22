/// The entries of a map or a record, one after the other.
struct ObjectEntries {
  struct Entry {
    let name: String
    /// Where the key stands.
    let key: Int
    let value: Int
  }

  private let object: ObjectHeader
  /// The names of a record's keys. The session keeps them.
  private let names: Unmanaged<ShapeNames>?
  /// How many they are.
  private let nameCount: Int
  private var offset: Int
  private var slot = 0

  init(_ object: ObjectHeader, _ session: DecodingSession) throws(FormatError) {
    self.object = object
    offset = object.body.lowerBound
    guard let shape = object.shape else {
      names = nil
      nameCount = 0
      return
    }
    guard shape < session.tables.shapeCount else { try fail(.malformed, at: offset) }
    names = try session.names(ofShape: shape)
    nameCount = session.tables.keyCount(ofShape: shape)
    guard object.isPartial else { return }
    offset = try session.reader.endOfPresence(in: object.body, keyCount: nameCount)
  }

  /// How many entries there are at most: in a map as many as there are, a step for each.
  ///
  /// An estimate by the bytes would let every one of many maps within each other claim them all.
  func count(_ session: DecodingSession) throws(FormatError) -> Int {
    guard object.shape == nil else { return min(nameCount, object.body.upperBound - offset) }
    var count = 0
    var next = offset
    while next < object.body.upperBound {
      next = try session.reader.end(of: session.tables.endOfKey(session.reader, at: next))
      count &+= 1
    }
    return count
  }

  /// The next entry; nil behind the last.
  @inline(__always)
  mutating func next(_ session: DecodingSession) throws(FormatError) -> Entry? {
    if offset >= object.body.upperBound {
      try checkEnd(session)
      return nil
    }
    let key: Int
    let value: Int
    let name: String
    if let shape = object.shape {
      while object.isPartial, slot < nameCount,
        !session.reader.bit(slot, at: object.body.lowerBound)
      { slot &+= 1 }
      guard slot < nameCount, let names else { try fail(.malformed, at: offset) }
      name = names._withUnsafeGuaranteedRef { $0.names[slot] }
      key = session.tables.key(slot, ofShape: shape)
      value = offset
      slot &+= 1
    } else {
      key = offset
      name = try session.keyName(at: offset)
      value = try session.tables.endOfKey(session.reader, at: offset)
    }
    offset = try session.reader.end(of: value)
    guard offset <= object.body.upperBound else { try fail(.malformed, at: value) }
    return Entry(name: name, key: key, value: value)
  }

  /// Checks that no key of a record is left without its value.
  private func checkEnd(_ session: DecodingSession) throws(FormatError) {
    for slot in slot..<max(slot, nameCount) {
      let isAbsent = object.isPartial && !session.reader.bit(slot, at: object.body.lowerBound)
      guard isAbsent else { try fail(.malformed, at: offset) }
    }
  }
}
