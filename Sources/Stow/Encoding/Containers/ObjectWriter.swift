/// Which object a keyed container writes to, and how far it got.
///
/// A container refers to this by way of the standard library's own object, so that both can be used again for other
/// objects with the same keys.
final class ObjectWriter {
  // Both outlive every use: they belong to the session, which outlives every container (`SessionPool`).
  private let sessionReference: Unmanaged<EncodingSession>
  private let keyTableReference: Unmanaged<KeyTable>
  private let table: UnsafeMutablePointer<UInt16>
  /// The token where the object begins.
  @exclusivity(unchecked) private(set) var begin = 0
  /// The slot that the next key most likely has. Negative where keys are written as strings: `noKey`, and after a key
  /// its string, counted from one and inverted.
  @exclusivity(unchecked) private var expected = 0
  /// The session, if the pool does not keep it for this container.
  private let owner: EncodingSession?

  private static let noKey = ~0

  init(session: EncodingSession, keyTable: KeyTable, isOwner: Bool = false) {
    owner = isOwner ? session : nil
    sessionReference = Unmanaged.passUnretained(session)
    keyTableReference = Unmanaged.passUnretained(keyTable)
    table = keyTable.table
  }

  func start(at begin: Int, hasSlots: Bool) {
    self.begin = begin
    expected = hasSlots ? 0 : Self.noKey
  }

  private var hasSlots: Bool { expected >= 0 }

  @inline(__always)
  func withSession<Result>(_ body: (EncodingSession) throws -> Result) rethrows -> Result {
    try sessionReference._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Makes this the container that is written to, and returns the slot for `key` as tokens hold it.
  ///
  /// Keys nearly always come in the order in which they came before.
  @inline(__always)
  func place<Key: CodingKey>(_ key: Key) -> UInt64 {
    let byte = keyByte(key)
    let slot = Int(table[byte])
    guard slot == expected, withSession({ $0.current == begin }) else {
      return placeOutOfLine(key, byte: byte)
    }
    expected = slot &+ 1
    return UInt64(truncatingIfNeeded: slot) << 8
  }

  @inline(never)
  private func placeOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) -> UInt64 {
    guard hasSlots else {
      placeFreely(key)
      return 0
    }
    let slot = firstSlot(byte, isPresent: true)
    return slot >= 0 ? UInt64(truncatingIfNeeded: slot) << 8 : placeRarely(key, byte: byte)
  }

  /// Records a key that is written as a string.
  @inline(__always)
  private func placeFreely<Key: CodingKey>(_ key: Key) {
    withSession { session in
      if session.current != begin { session.resume(begin) }
      expected = ~(session.recordFreeKey(key, after: ~expected &- 1) &+ 1)
    }
  }

  @inline(never)
  private func placeRarely<Key: CodingKey>(_ key: Key, byte: Int) -> UInt64 {
    withSession { session in
      if session.current != begin { session.resume(begin) }
      let slot = keyTableReference._withUnsafeGuaranteedRef { session.slot(of: key, byte, $0, isPresent: true) }
      if slot < expected { session.needsNormalizing = true }
      expected = slot + 1
      return UInt64(truncatingIfNeeded: slot) << 8
    }
  }

  /// The slot of a key that the message asks for the first time, in the container that is written to; −1 if that is
  /// not so, or what the key is called is not known.
  @inline(never)
  private func firstSlot(_ byte: Int, isPresent: Bool) -> Int {
    sessionReference._withUnsafeGuaranteedRef { session in
      guard session.current == begin else { return -1 }
      return keyTableReference._withUnsafeGuaranteedRef { keyTable in
        let slot = keyTable.firstSlot(ofByte: byte, isPresent: isPresent)
        guard slot >= 0 else { return -1 }
        session.newSlots.append(keyTable.index)
        // It comes behind all others.
        expected = slot &+ 1
        return slot
      }
    }
  }

  /// Notes that `key` was asked for and has no value: it keeps its place among the others.
  @inline(__always)
  func skip<Key: CodingKey>(_ key: Key) {
    let byte = keyByte(key)
    if Int(table[byte] & ~KeyTable.absent) == expected {
      expected &+= 1
    } else {
      skipOutOfLine(key, byte: byte)
    }
  }

  @inline(never)
  private func skipOutOfLine<Key: CodingKey>(_ key: Key, byte: Int) {
    guard hasSlots else { return }
    guard firstSlot(byte, isPresent: false) < 0 else { return }
    let slot = withSession { session in
      keyTableReference._withUnsafeGuaranteedRef { session.slot(of: key, byte, $0, isPresent: false) }
    }
    expected = max(expected, slot + 1)
  }
}

extension EncodingSession {
  /// The slot of a key, which is new to the message or out of turn.
  fileprivate func slot<Key: CodingKey>(of key: Key, _ byte: Int, _ keyTable: KeyTable, isPresent: Bool) -> Int {
    let known = keyTable.slotCount
    let slot = keyTable.slot(of: key, byte: byte, isPresent: isPresent)
    if keyTable.slotCount > known { newSlots.append(keyTable.index) }
    return slot
  }
}
