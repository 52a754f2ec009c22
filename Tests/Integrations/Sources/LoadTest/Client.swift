import NIOCore
import NIOHTTP1
import NIOPosix

/// One connection to the server, on which one request follows the other.
struct Client {
  typealias Channel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

  struct UnexpectedAnswer: Error {
    let description: String
  }

  private var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
  private let outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>

  /// Connects, and closes the connection when `body` returns.
  static func run<Result: Sendable>(
    port: Int, _ body: @Sendable (inout Client) async throws -> Result
  ) async throws -> Result {
    let channel: Channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          return try Channel(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      var client = Client(parts: inbound.makeAsyncIterator(), outbound: outbound)
      return try await body(&client)
    }
  }

  /// Asks, and returns the bytes of the answer.
  mutating func ask(_ path: String, type: String, sending bytes: ByteBuffer? = nil) async throws -> ByteBuffer {
    var headers: HTTPHeaders = ["Host": "127.0.0.1", "Accept": type]
    if let bytes {
      headers.add(name: "Content-Type", value: type)
      headers.add(name: "Content-Length", value: String(bytes.readableBytes))
    }
    let method: HTTPMethod = bytes == nil ? .GET : .POST
    let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
    try await outbound.write(.head(head))
    if let bytes { try await outbound.write(.body(.byteBuffer(bytes))) }
    try await outbound.write(.end(nil))
    return try await answer(to: path)
  }

  private mutating func answer(to path: String) async throws -> ByteBuffer {
    var answer = ByteBuffer()
    while let part = try await parts.next() {
      switch part {
      case .head(let head):
        guard head.status == .ok else { throw UnexpectedAnswer(description: "\(path): \(head.status)") }
      case .body(let bytes): answer.writeImmutableBuffer(bytes)
      case .end: return answer
      }
    }
    throw UnexpectedAnswer(description: "\(path): the connection was closed")
  }
}
