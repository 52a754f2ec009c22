extension DecodingSession {
  /// Sessions that are free, for all decoders of the process.
  private static let pool = SessionPool<DecodingSession>()

  /// Reads one message in a session of its own.
  static func run<Result>(
    _ bytes: UnsafeRawBufferPointer, _ configuration: DecoderConfiguration,
    _ body: (DecodingSession, _ offset: Int) throws -> Result
  ) throws -> Result {
    var session = pool.take() ?? DecodingSession(boxTaker: BoxTaker.shared)
    defer {
      if session.isComplete(), isKnownUniquelyReferenced(&session) {
        session.reset()
        pool.give(session)
      } else {
        session.retire()
      }
    }
    return try body(session, session.begin(bytes, configuration))
  }

  /// Whether every keyed container has been given back.
  private func isComplete() -> Bool {
    usedSchemas.allSatisfy { $0.pool.isComplete() }
  }

  /// Lets go of the containers, because one of them was kept: it will keep the session and its bytes.
  private func retire() {
    keepBytes()
    for schema in schemas { schema.pool.retire(self) }
  }
}
