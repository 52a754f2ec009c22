extension DecodingSession: PooledSession {
  /// Sessions that are free, for all decoders of the process.
  private static let pool = SessionPool<DecodingSession>()

  /// Whether decoding containers can be used again.
  private static let reusesContainers = ContainerReuse.isPossible {
    let session = DecodingSession(reusesContainers: false)
    let reader = ObjectReader(session.message, DecodingKeyTable(PathKey.self))
    return KeyedDecodingContainer(KeyedDecoder<PathKey>(reader, session: session))
  }

  /// Reads one message in a session of its own.
  static func run<Result>(
    _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, _ userInfo: borrowing SharedUserInfo,
    _ body: (DecodingSession, _ offset: Int) throws -> Result
  ) throws -> Result {
    let pool = pool
    let session = pool.take() ?? .passRetained(DecodingSession(reusesContainers: reusesContainers))
    defer { pool.takeBack(session) }
    return try session._withUnsafeGuaranteedRef { session in
      try session.begin(bytes, maximumDepth: maximumDepth, userInfo)
      let result = try body(session, session.message.body)
      try session.throwNotedFault()
      return result
    }
  }

  func takeContainersBack() -> Bool { types.takeContainersBack() }
}
