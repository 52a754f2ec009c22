#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension EncodingSession {
  /// Sessions that are free, for all encoders of the process.
  private static let pool = SessionPool<EncodingSession>()

  /// Runs one message in a session of its own.
  static func run<Result>(
    _ configuration: EncoderConfiguration, _ body: (EncodingSession) throws -> Result
  ) rethrows -> Result {
    var session = pool.take() ?? EncodingSession()
    session.begin(configuration)
    defer {
      if session.isComplete(), isKnownUniquelyReferenced(&session) {
        session.reset()
        pool.give(session)
      } else {
        session.retire()
      }
    }
    return try body(session)
  }

  /// Whether every keyed container has been given back.
  private func isComplete() -> Bool {
    usedSchemas.allSatisfy { $0.pool.isComplete() }
  }

  /// Lets go of the containers, because one of them was kept: it will keep the session.
  private func retire() {
    isOver = true
    for schema in schemas { schema.pool.retire(self) }
  }

  /// Turns what was recorded into bytes.
  func finish() -> Data {
    if needsNormalizing || configuration.sortsKeys && mapCount > 0 { normalize() }
    if !planner.plan(self) {
      normalize()
      let isPlanned = planner.plan(self)
      assert(isPlanned)
    }
    return emitter.emit(self, planner)
  }
}
