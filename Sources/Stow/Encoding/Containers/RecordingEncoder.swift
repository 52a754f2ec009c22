/// The encoder that a value is handed: the place on the tape where the value goes.
///
/// Three trivial words, so that it sits inside its existential and nothing is counted. It may outlive the `encode(to:)`
/// it was made for; once the message is over, what is encoded to it goes nowhere, and it has no path.
struct RecordingEncoder: Encoder {
  private let position: TapePosition
  /// The container of the value, and the key.
  private let place: UInt64

  /// Tells that a key is an index, not a slot.
  private static let isIndex: UInt32 = 1 << 31

  /// - Parameters:
  ///   - start: The token where the value begins, or the mark that it comes later.
  ///   - parent: The container of the value; negative at the top.
  ///   - key: The slot or the index of the value in its parent, as tokens hold them.
  @inline(__always)
  init(session: EncodingSession, start: Int, parent: Int, key: UInt64) {
    let parent = UInt32(truncatingIfNeeded: max(parent, -1))
    let index = UInt32(truncatingIfNeeded: key >> 32)
    let key = index == 0 ? UInt32(truncatingIfNeeded: key) : index | Self.isIndex
    position = TapePosition(session, token: start)
    place = UInt64(parent) | UInt64(key) << 32
  }

  /// The encoder of a value that goes nowhere.
  init() {
    position = TapePosition()
    place = 0
  }

  @inline(__always)
  var start: Int { position.token }
  @inline(__always)
  var parent: Int { Int(Int32(truncatingIfNeeded: place)) }

  /// The slot or the index of the value in its parent, as tokens hold them.
  @inline(__always)
  var key: UInt64 {
    let key = UInt32(truncatingIfNeeded: place >> 32)
    return key & Self.isIndex == 0 ? UInt64(key) : UInt64(key & ~Self.isIndex) << 32
  }

  /// Nil when the message is over.
  @inline(__always)
  var session: Unmanaged<EncodingSession>? { position.session }

  var codingPath: [any CodingKey] {
    session?._withUnsafeGuaranteedRef { $0.path(parent: parent, key: key, start: start) } ?? []
  }

  var userInfo: [CodingUserInfoKey: Any] {
    session.map { $0._withUnsafeGuaranteedRef { $0.userInfo.values } } ?? [:]
  }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard let session else { return EncodingSession.nowhere(type) }
    return session._withUnsafeGuaranteedRef { $0.keyedContainer(type, at: self) }
  }

  @inline(__always)
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    guard let session else { return UnkeyedEncoder() }
    return session._withUnsafeGuaranteedRef { $0.unkeyedContainer(at: self) }
  }

  @inline(__always)
  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValueEncoder(encoder: self) }
}

extension EncodingSession {
  /// A container of a message that is over.
  @inline(never)
  static func nowhere<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncodingContainer<Key> {
    let session = EncodingSession(reusesContainers: false)
    session.outlive()
    return session.nestedKeyedContainer(keyType, key: 0, parent: -1)
  }

  @inline(__always)
  fileprivate func unkeyedContainer(at place: RecordingEncoder) -> UnkeyedEncoder {
    let container = ContainerStart(.array, key: place.key, parent: place.parent)
    guard awaits(place.start) else {
      reopenEmpty(place.start, isKeyed: false)
      let begin = containerOutOfLine(at: place, container)
      return UnkeyedEncoder(session: self, begin: begin, count: elementCount(ofArray: begin))
    }
    occupy(container)
    return UnkeyedEncoder(session: self, begin: place.start, count: 0)
  }

  /// The container of a place that no longer awaits its first token: the one that is there already, or a
  /// late one.
  func containerOutOfLine(at place: RecordingEncoder, _ container: ContainerStart) -> Int {
    if isUnfilled(place.start) {
      fill(place.start)
      return openNested(container)
    }
    var begin = place.start
    if tape[begin].kind == .deferred { begin = tape[begin].index }
    let isKeyed = container.token.kind != .array
    switch tape[begin].kind {
    case .object, .map: precondition(isKeyed, Self.otherKind)
    case .array, .integers, .doubles, .bools: precondition(!isKeyed, Self.otherKind)
    default: preconditionFailure(Self.otherKind)
    }
    needsNormalizing = true
    return begin
  }

  private static let otherKind: String =
    "Attempt to get a container of another kind than the value that was already encoded."

  /// How many elements an array has that was written to in several places.
  ///
  /// A walk over the tape from the beginning of the array on.
  func elementCount(ofArray begin: Int) -> Int {
    let isWhole = tape[begin].isArray && tape[begin].kind != .array
    var count = isWhole ? retained[tape[begin].index].count : 0
    var outer: [Int] = []
    // The value of a late place was counted with the place.
    var isLate = false
    for index in begin..<tape.count {
      let token = tape[index]
      switch token.kind {
      case .end: _ = outer.popLast()
      case .segment: outer.append(token.index)
      case .key: break
      case .fill: isLate = true
      default:
        if outer.last == begin, !isLate, !token.has(Token.Flags.dead) { count += 1 }
        isLate = false
        if token.begins { outer.append(index) }
      }
    }
    // So does a place that awaits its value again, because one threw.
    return count + (outer.last == begin && awaits(tape.count) ? 1 : 0)
  }
}
