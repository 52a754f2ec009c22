#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension EncodingSession: PooledSession {
  /// Sessions that are free, for all encoders of the process.
  private static let pool = SessionPool<EncodingSession>()

  /// Whether encoding containers can be used again.
  private static let reusesContainers = ContainerReuse.isPossible {
    let session = EncodingSession(reusesContainers: false)
    let cursor = ObjectWriter(session: session, keyTable: KeyTable(PathKey.self, index: 0))
    return KeyedEncodingContainer(KeyedEncoder<PathKey>(cursor: cursor))
  }

  /// Runs one message in a session of its own.
  @inline(__always)
  static func run<Result>(
    _ outputFormatting: StowEncoder.OutputFormatting, maximumDepth: Int, _ userInfo: borrowing SharedUserInfo,
    _ body: (EncodingSession) throws -> Result
  ) rethrows -> Result {
    let pool = pool
    let session = pool.take() ?? .passRetained(EncodingSession(reusesContainers: reusesContainers))
    defer { pool.takeBack(session) }
    return try session._withUnsafeGuaranteedRef {
      $0.begin(outputFormatting, maximumDepth: maximumDepth, userInfo)
      return try body($0)
    }
  }

  @inline(__always)
  func takeContainersBack() -> Bool {
    usedKeyTables.allSatisfy { $0.pool.isComplete() }
  }

  /// Turns what was recorded into bytes.
  func finish() -> Data {
    if strings.isForgetful { mergeStrings(isComplete: true) }
    if needsNormalizing || sortsKeys && maps.count > 0 { normalize() }
    if !planner.plan(self) {
      normalize()
      let isPlanned = planner.plan(self)
      assert(isPlanned)
    }
    return emitter.emit(self, planner)
  }

  /// Counts equal strings of the pool as one, and makes them one on the tape where that matters: for keys of maps, and
  /// for what looks strings up by their index. Elsewhere it is enough that all of them write the same.
  ///
  /// - Parameter isComplete: Whether the only strings that are still to be looked up are keys of keyTables.
  func mergeStrings(isComplete: Bool) {
    var keys: [UnsafeRawBufferPointer] = []
    activeKeyTables.borrowEach { keyTable in
      for slot in 0..<keyTable.slotCount { keys.append(keyTable.utf8(atSlot: slot)) }
    }
    strings.merge(keeping: isComplete ? keys : nil, &tape)
    guard strings.hasTwins, !isComplete || needsNormalizing || maps.count > 0 else { return }
    for index in 0..<tape.count {
      let token = tape[index]
      guard token.kind == .string || token.kind == .key || token.kind == .url else { continue }
      let string = strings.standIn(for: token.index)
      if string != token.index { tape[index].index = string }
    }
    strings.forgetTwins()
  }
}
