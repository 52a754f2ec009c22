import NIOCore
import Stow
import StowRecords
import Synchronization

/// A connection to another system.
///
/// What both sides send is one stream of records each, so that the names of methods, of keys and of actors go over it
/// once.
final class Connection: Sendable {
  private struct State {
    var calls: [Int: CheckedContinuation<[StowValue], any Error>] = [:]
    var lastNumber = 0
    var node: String?
    var greeted: (@Sendable (Result<String, any Error>) -> Void)?
    var isClosed = false
  }

  /// How many calls of the peer may run at once.
  private static let mostCalls = 1000

  let system: StowActorSystem
  private let channel: any Channel
  private let state = Mutex(State())
  /// Used while `state` is locked.
  private nonisolated(unsafe) let encoder: RecordStreamEncoder
  private let running = Atomic(0)

  init(_ system: StowActorSystem, _ channel: any Channel, _ coders: CallCoders) {
    self.system = system
    self.channel = channel
    encoder = RecordStreamEncoder(encoder: coders.encoder)
  }

  /// Calls `body` with the node of the peer, once it has said it, or why it never will.
  func whenGreeted(_ body: @escaping @Sendable (Result<String, any Error>) -> Void) {
    state.withLock { $0.greeted = body }
  }

  // MARK: out

  /// Encodes a frame as the next record, and sends it.
  ///
  /// - Throws: What encoding throws; then nothing was sent.
  func send(_ frame: Frame) throws {
    try state.withLock { _ in try sendLocked(frame) }
  }

  private func sendLocked(_ frame: Frame) throws {
    let bytes = ByteBuffer(bytes: try encoder.encode(frame))
    // Not written here, where this may be the thread of the channel and earlier records may be due on it.
    channel.eventLoop.execute { [channel] in channel.writeAndFlush(bytes, promise: nil) }
  }

  func close() { channel.close(promise: nil) }

  /// Calls a method of the peer, and waits for what comes of it.
  func call(_ actor: String, _ target: String, _ arguments: [any Encodable]) async throws -> [StowValue] {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let frame = Frame.call(number: number, actor: actor, target: target, arguments: Values(arguments))
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let failure: (any Error)? = state.withLock { state in
          if state.isClosed { return ConnectionLost(node: state.node) }
          if Task.isCancelled { return CancellationError() }
          do { try sendLocked(frame) } catch { return error }
          state.calls[number] = continuation
          return nil
        }
        if let failure { continuation.resume(throwing: failure) }
      }
    } onCancel: {
      finish(number, .failure(CancellationError()))
    }
  }

  private func finish(_ number: Int, _ result: Result<[StowValue], any Error>) {
    // An answer to nothing is that of a call that was cancelled.
    state.withLock { $0.calls.removeValue(forKey: number) }?.resume(with: result)
  }

  // MARK: in

  func opened() throws { try send(.hello(node: system.node)) }

  func receive(_ frame: Frame) throws {
    switch frame {
    case .hello(let node):
      let greeted = try state.withLock { state in
        guard state.node == nil, system.add(self, to: node) else { throw RemoteError("a second hello") }
        state.node = node
        return state.greeted.take()
      }
      greeted?(.success(node))
    case .call(let number, let actor, let target, let arguments):
      let handler = CallResultHandler(number: number, connection: self)
      guard running.add(1, ordering: .relaxed).newValue <= Self.mostCalls else {
        running.subtract(1, ordering: .relaxed)
        return handler.fail(RemoteError("Too many calls at once."))
      }
      let values = arguments.received
      Task {
        await system.execute(actor, target, values, handler)
        running.subtract(1, ordering: .relaxed)
      }
    case .result(let number, let values): finish(number, .success(values.received))
    case .failure(let number, let error): finish(number, .failure(error.wrappedValue))
    }
  }

  /// Fails all that waits for the peer.
  func closed() {
    let (node, calls, greeted) = state.withLock { state in
      defer { state.calls = [:] }
      state.isClosed = true
      return (state.node, state.calls, state.greeted.take())
    }
    if let node { system.removeConnection(to: node) }
    for call in calls.values { call.resume(throwing: ConnectionLost(node: node)) }
    greeted?(.failure(ConnectionLost(node: nil)))
  }
}

/// Reads the frames of a connection, and closes it at the first that is broken.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let connection: Connection
  /// Nil after an error: no more is read.
  private var decoder: RecordStreamDecoder?

  init(_ connection: Connection, _ decoder: StowDecoder) {
    self.connection = connection
    self.decoder = RecordStreamDecoder(decoder: decoder, maximumRecordSize: 1 << 20)
  }

  func channelActive(context: ChannelHandlerContext) {
    do { try connection.opened() } catch { close(context) }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let decoder else { return }
    unwrapInboundIn(data).withUnsafeReadableBytes { decoder.feed($0) }
    do {
      while let frame = try decoder.next(Frame.self) { try connection.receive(frame) }
    } catch {
      close(context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { close(context) }

  func channelInactive(context: ChannelHandlerContext) {
    decoder = nil
    connection.closed()
    context.fireChannelInactive()
  }

  private func close(_ context: ChannelHandlerContext) {
    decoder = nil
    context.close(promise: nil)
  }
}
