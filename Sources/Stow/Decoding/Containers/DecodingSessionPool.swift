extension DecodingSession: PooledSession {
  /// Sessions that are free, for all decoders of the process.
  private static let pool = SessionPool<DecodingSession>()

  /// Whether decoding containers can be used again.
  private static let reusesContainers = ContainerReuse.isPossible {
    let session = DecodingSession(reusesContainers: false)
    let reader = ObjectReader(session.message, DecodingKeyTable(PathKey.self))
    return KeyedDecodingContainer(KeyedDecoder<PathKey>(reader, session: session))
  }

  /// Decodes the value of a message, in a session that is free. `open` opens the message.
  @inline(__always)
  static func decode<Value: Decodable>(
    _ type: Value.Type, _ userInfo: borrowing SharedUserInfo,
    open: (Message) throws(FormatError) -> Void
  ) throws -> Value {
    let pool = pool
    let session = pool.take() ?? .passRetained(DecodingSession(reusesContainers: reusesContainers))
    defer { pool.takeBack(session) }
    return try session._withUnsafeGuaranteedRef { session in
      try session.begin(userInfo, open)
      let value = try session.decode(
        type, at: session.message.body, PathStep(.top, parent: .top))
      try session.throwNotedFault()
      return value
    }
  }

  func takeContainersBack() -> Bool { types.takeContainersBack() }
}
