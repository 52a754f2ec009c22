/// The encoder that a value is handed: the place on the tape where the value goes.
///
/// Three words, so that it sits inside its existential. It keeps the session alive and may outlive the
/// `encode(to:)` it was made for.
struct PlaceEncoder: Encoder {
  let session: EncodingSession
  private let position: UInt64
  /// The slot or the index of the value in its parent, as tokens hold them.
  let key: UInt64

  /// - Parameters:
  ///   - start: The token where the value begins, or the mark that it comes later.
  ///   - parent: The container of the value; negative at the top.
  @inline(__always)
  init(session: EncodingSession, start: Int, parent: Int, key: UInt64) {
    self.session = session
    let parent = UInt32(truncatingIfNeeded: max(parent, -1))
    position = UInt64(UInt32(truncatingIfNeeded: start)) | UInt64(parent) << 32
    self.key = key
  }

  @inline(__always)
  var start: Int { Int(UInt32(truncatingIfNeeded: position)) }
  @inline(__always)
  var parent: Int { Int(Int32(truncatingIfNeeded: position >> 32)) }

  var codingPath: [any CodingKey] { session.path(parent: parent, key: key, start: start) }
  var userInfo: [CodingUserInfoKey: Any] { session.configuration.userInfo.values }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    session.keyedContainer(type, at: self)
  }

  @inline(__always)
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    guard session.awaits(start) else {
      session.reopenEmpty(start, isKeyed: false)
      let begin = session.containerOutOfLine(
        at: self, ContainerStart(.array, key: key, parent: parent))
      return UnkeyedEncoder(session: session, begin: begin, count: session.elementCount(ofArray: begin))
    }
    session.occupy(ContainerStart(.array, key: key, parent: parent))
    return UnkeyedEncoder(session: session, begin: start, count: 0)
  }

  @inline(__always)
  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValueEncoder(encoder: self) }
}

extension EncodingSession {
  /// The container of a place that no longer awaits its first token: the one that is there already, or a
  /// late one.
  func containerOutOfLine(at place: PlaceEncoder, _ container: ContainerStart) -> Int {
    if isUnfilled(place.start) {
      fill(place.start)
      return openNested(container)
    }
    // The message is written; this goes nowhere.
    if isOver { return openNested(container) }
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
    guard !isOver else { return 0 }
    var count = tape[begin].kind == .array ? 0 : retained[tape[begin].index].count
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
