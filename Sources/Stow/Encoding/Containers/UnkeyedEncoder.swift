/// An array that is being recorded.
///
/// Three trivial words, as of a `RecordingEncoder`. Once the message is over, its elements go nowhere.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
  /// The token where the array begins.
  private let position: TapePosition
  /// The elements that this container knows of; another may have added to the same array.
  private var ownCount: Int

  @inline(__always)
  init(session: EncodingSession, begin: Int, count: Int) {
    position = TapePosition(session, token: begin)
    ownCount = count
  }

  /// The container of an array that goes nowhere.
  init() {
    position = TapePosition()
    ownCount = 0
  }

  @inline(__always)
  private var begin: Int { position.token }

  @inline(__always)
  private var session: Unmanaged<EncodingSession>? { position.session }

  var count: Int {
    session?._withUnsafeGuaranteedRef {
      $0.needsNormalizing ? $0.elementCount(ofArray: begin) : ownCount
    } ?? ownCount
  }

  var codingPath: [any CodingKey] {
    session?._withUnsafeGuaranteedRef { $0.path(ofContainer: begin) } ?? []
  }

  /// Makes this the container that is written to, and lets `body` record the next element, whose key it is handed; nil
  /// when the message is over.
  @inline(__always)
  @discardableResult
  private mutating func append<Result>(
    _ body: (EncodingSession, _ key: UInt64) throws -> Result
  ) rethrows -> Result? {
    let (index, begin) = (ownCount, begin)
    ownCount &+= 1
    return try session?._withUnsafeGuaranteedRef { session in
      if session.current != begin { session.resume(begin) }
      return try body(session, UInt64(truncatingIfNeeded: index) << 32)
    }
  }

  @inline(__always)
  private mutating func append<Value: RecordableScalar>(_ value: Value) {
    append { session, _ in session.record(value, key: 0) }
  }

  mutating func encodeNil() { append { session, _ in session.recordNil(level: 0, key: 0) } }
  mutating func encode(_ value: Bool) { append(value) }
  mutating func encode(_ value: Double) { append(value) }
  mutating func encode(_ value: Float) { append(value) }
  mutating func encode(_ value: Int) { append(value) }
  mutating func encode(_ value: Int8) { append(value) }
  mutating func encode(_ value: Int16) { append(value) }
  mutating func encode(_ value: Int32) { append(value) }
  mutating func encode(_ value: Int64) { append(value) }
  mutating func encode(_ value: UInt) { append(value) }
  mutating func encode(_ value: UInt8) { append(value) }
  mutating func encode(_ value: UInt16) { append(value) }
  mutating func encode(_ value: UInt32) { append(value) }
  mutating func encode(_ value: UInt64) { append(value) }

  mutating func encode(_ value: Int128) { append { session, _ in session.record(value, key: 0) } }
  mutating func encode(_ value: UInt128) { append { session, _ in session.record(value, key: 0) } }
  mutating func encode(_ value: String) { append { session, _ in session.record(value, key: 0) } }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    let before = ownCount
    do {
      try append { try $0.encode(value, key: $1) }
    } catch {
      ownCount = before
      throw error
    }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    let begin = begin
    return append { $0.nestedKeyedContainer(keyType, key: $1, parent: begin) }
      ?? EncodingSession.nowhere(keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let begin = begin
    return append { $0.nestedUnkeyedContainer(key: $1, parent: begin) } ?? UnkeyedEncoder()
  }

  mutating func superEncoder() -> any Encoder {
    let begin = begin
    return append { $0.deferValue(key: $1, parent: begin) } ?? RecordingEncoder()
  }
}

extension EncodingSession {
  /// An array for a key, new or continued.
  func nestedUnkeyedContainer(forKey key: UInt64, parent: Int) -> UnkeyedEncoder {
    let hasName = tape.count > 0 && tape[tape.count - 1].kind == .key
    if hasName { keepNames() }
    let name = hasName ? tape[tape.count - 1].index : -1
    if !isOver, let begin = array(forKey: key, name: name, parent: parent) {
      dropAnnouncement()
      needsNormalizing = true
      return UnkeyedEncoder(session: self, begin: begin, count: elementCount(ofArray: begin))
    }
    return nestedUnkeyedContainer(key: key, parent: parent)
  }

  /// From here on, the same name is always the same string of the pool.
  private func keepNames() {
    if strings.isForgetful { mergeStrings(isComplete: false) }
    strings.keepsAll = true
  }

  /// The array that is the last value for the key, if one was encoded before.
  private func array(forKey key: UInt64, name: Int, parent: Int) -> Int? {
    // A key that is new to the message, or in its turn, cannot have been there.
    guard name >= 0 ? strings[name].keyUses > 1 : needsNormalizing else { return nil }
    var found: Int?
    /// The last value for the key, or the place of one that comes late.
    var place = -1
    var outer: [Int] = []
    var pendingName = -1
    var filled = -1
    for index in parent..<tape.count {
      let token = tape[index]
      switch token.kind {
      case .key: pendingName = token.index
      case .end: _ = outer.popLast()
      case .segment: outer.append(token.index)
      case .fill: filled = token.index
      default:
        let isOwn =
          outer.last == parent && pendingName == name && (name >= 0 || token.slot == Int(key >> 8))
        if filled < 0, isOwn, !token.has(Token.Flags.dead) { place = index }
        if place >= 0, place == (filled < 0 ? index : filled), !token.has(Token.Flags.dead) {
          found = token.isArray ? index : nil
        }
        pendingName = -1
        filled = -1
        if token.begins { outer.append(index) }
      }
    }
    return found
  }

  func nestedUnkeyedContainer(key: UInt64, parent: Int) -> UnkeyedEncoder {
    let begin = openNested(ContainerStart(.array, key: key, parent: parent, flags: Token.Flags.nested))
    return UnkeyedEncoder(session: self, begin: begin, count: 0)
  }
}
