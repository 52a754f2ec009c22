extension DecodingSession: PooledSession {
  /// Sessions that are free, for all decoders of the process.
  private static let pool = SessionPool<DecodingSession>()

  /// Reads one message in a session of its own.
  static func run<Result>(
    _ bytes: UnsafeRawBufferPointer, _ configuration: DecoderConfiguration,
    _ body: (DecodingSession, _ offset: Int) throws -> Result
  ) throws -> Result {
    var session = pool.take() ?? DecodingSession(boxTaker: BoxTaker.forDecoding)
    defer {
      if session.isComplete(), isKnownUniquelyReferenced(&session) {
        session.reset()
        pool.give(session)
      } else {
        session.outlive()
        pool.keep(session)
      }
    }
    return try body(session, session.begin(bytes, configuration))
  }

  func isComplete() -> Bool {
    usedSchemas.allSatisfy { $0.pool.isComplete() }
  }
}
