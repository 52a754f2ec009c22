extension DecodingSession: PooledSession {
  /// Sessions that are free, for all decoders of the process.
  private static let pool = SessionPool<DecodingSession>()

  /// Whether decoding containers can be used again.
  private static let reusesContainers = ContainerReuse.isPossible {
    let session = DecodingSession(reusesContainers: false)
    let reader = ObjectReader(session.message, DecodingKeyTable(PathKey.self))
    return KeyedDecodingContainer(KeyedDecoder<PathKey>(reader, session: session))
  }

  /// Runs `body` in a session that is free, with a message that `open` opens.
  @inline(__always)
  static func run<Value>(
    _ userInfo: UserInfo, open: (Message) throws(FormatError) -> Void,
    _ body: (DecodingSession) throws -> Value
  ) throws -> Value {
    let pool = pool
    var session: DecodingSession? = pool.take() ?? DecodingSession(reusesContainers: reusesContainers)
    defer { pool.takeBack(&session) }
    return try session.unsafelyUnwrapped.run(userInfo, open, body)
  }

  @inline(__always)
  private func run<Value>(
    _ userInfo: UserInfo, _ open: (Message) throws(FormatError) -> Void,
    _ body: (DecodingSession) throws -> Value
  ) throws -> Value {
    try begin(userInfo, open)
    let value = try body(self)
    try throwNotedFault()
    return value
  }

  /// Decodes the value of the message.
  @inline(__always)
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try decode(type, at: message.body, PathStep(.top, parent: .top))
  }

  /// Decodes the value of the message by `make`, which is handed a decoder of it.
  func decode<Value>(by make: (any Decoder) throws -> Value) throws -> Value {
    let mark = path.count
    let node = path.push(PathStep(.top, parent: .top))
    defer { path.pop(to: mark) }
    return try make(ValueDecoder(session: self, offset: message.body, node: node))
  }

  func takeContainersBack() -> Bool { types.takeContainersBack() }
}
