import NIOCore
import NIOPosix

@testable import NIOSnippets

/// What a server on loopback received of a client that sent the bytes and then closed its side.
struct Received<Message: Sendable>: Sendable {
  var messages: [Message] = []
  var error: (any Error)?
}

enum Loopback {
  /// Sends bytes over a real connection to a server, which reads at most `readSize` of them at once.
  static func send<Message: Sendable>(
    _ bytes: ByteBuffer, readSize: Int = 1 << 16,
    _ configure: @escaping @Sendable (any Channel) throws -> NIOAsyncChannel<Message, ByteBuffer>
  ) async throws -> Received<Message> {
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readSize))
      .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture { try configure(channel) }
      }
    guard let address = server.channel.localAddress else { throw ChannelError.unknownLocalAddress }
    let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(to: address).get()
    return try await server.executeThenClose { connections in
      // The server may close before all is sent.
      client.writeAndFlush(bytes).whenComplete { _ in client.close(promise: nil) }
      for try await connection in connections { return await receive(from: connection) }
      return Received()
    }
  }

  private static func receive<Message: Sendable>(
    from connection: NIOAsyncChannel<Message, ByteBuffer>
  ) async -> Received<Message> {
    var received = Received<Message>()
    do {
      try await connection.executeThenClose { inbound, _ in
        for try await message in inbound { received.messages.append(message) }
      }
    } catch {
      received.error = error
    }
    return received
  }
}

extension Event {
  /// What is sent, with and without its optional field.
  static let samples = (0..<20).map {
    Event(number: $0, kind: "kind", detail: $0 % 3 == 0 ? "some detail" : nil)
  }
}
