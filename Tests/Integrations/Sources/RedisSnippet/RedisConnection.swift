import NIOCore
import NIOPosix

/// What Redis answers.
enum RedisReply: Sendable, Equatable {
  case text(String)
  case integer(Int)
  case bytes(ByteBuffer)
  case list([RedisReply])
  case null
  case failure(String)
}

/// A word of a command.
struct RedisWord: Sendable, ExpressibleByStringInterpolation {
  let bytes: ByteBuffer

  init(_ bytes: ByteBuffer) { self.bytes = bytes }
  init(stringLiteral text: String) { bytes = ByteBuffer(string: text) }
}

struct RedisError: Error {
  let description: String
}

/// Reads replies, whose texts and lists have at most `maximumLength` bytes or elements.
struct RedisReplyDecoder: NIOSingleStepByteToMessageDecoder {
  typealias InboundOut = RedisReply
  let maximumLength: Int

  mutating func decode(buffer: inout ByteBuffer) throws -> RedisReply? {
    var rest = buffer
    guard let reply = try readReply(from: &rest, depth: 0) else { return nil }
    buffer = rest
    return reply
  }

  mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> RedisReply? {
    if let reply = try decode(buffer: &buffer) { return reply }
    if seenEOF, buffer.readableBytes > 0 { throw ByteToMessageDecoderError.leftoverDataWhenDone(buffer) }
    return nil
  }

  private func readReply(from buffer: inout ByteBuffer, depth: Int) throws -> RedisReply? {
    guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    guard let line = buffer.readString(length: end + 1 - buffer.readerIndex), line.hasSuffix("\r\n"),
      depth < 8
    else { throw RedisError(description: "no reply of Redis") }
    let text = String(line.dropFirst().dropLast())
    switch line.first {
    case "+": return .text(text)
    case "-": return .failure(text)
    case ":": return .integer(try number(text, from: .min))
    case "$":
      let length = try number(text, from: -1)
      if length < 0 { return .null }
      guard buffer.readableBytes >= length + 2, let bytes = buffer.readSlice(length: length) else {
        return nil
      }
      guard buffer.readString(length: 2) == "\r\n" else { throw RedisError(description: "no end of a text") }
      return .bytes(bytes)
    case "*":
      let count = try number(text, from: -1)
      if count < 0 { return .null }
      var list: [RedisReply] = []
      for _ in 0..<count {
        guard let reply = try readReply(from: &buffer, depth: depth + 1) else { return nil }
        list.append(reply)
      }
      return .list(list)
    default: throw RedisError(description: "no reply of Redis")
    }
  }

  private func number(_ text: String, from least: Int) throws -> Int {
    guard let number = Int(text), number >= least, least == .min || number <= maximumLength else {
      throw RedisError(description: "no length: \(text)")
    }
    return number
  }
}

/// A connection to a server of Redis.
struct RedisConnection {
  private var replies: NIOAsyncChannelInboundStream<RedisReply>.AsyncIterator
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

  /// Connects, and closes the connection when `body` returns.
  static func run<Result: Sendable>(
    to address: SocketAddress, _ body: @Sendable (inout RedisConnection) async throws -> Result
  ) async throws -> Result {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(to: address) { channel in
        channel.eventLoop.makeCompletedFuture {
          let decoder = RedisReplyDecoder(maximumLength: 1 << 24)
          try channel.pipeline.syncOperations.addHandler(
            ByteToMessageHandler(decoder, maximumBufferSize: 1 << 26))
          return try NIOAsyncChannel<RedisReply, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      var connection = RedisConnection(replies: inbound.makeAsyncIterator(), outbound: outbound)
      return try await body(&connection)
    }
  }

  @discardableResult
  mutating func send(_ command: RedisWord...) async throws -> RedisReply { try await send([command])[0] }

  /// Sends several commands at once, and waits for all of their replies.
  mutating func send(_ commands: [[RedisWord]]) async throws -> [RedisReply] {
    var bytes = ByteBuffer()
    for command in commands {
      bytes.writeString("*\(command.count)\r\n")
      for word in command {
        bytes.writeString("$\(word.bytes.readableBytes)\r\n")
        bytes.writeImmutableBuffer(word.bytes)
        bytes.writeString("\r\n")
      }
    }
    try await outbound.write(bytes)
    var found: [RedisReply] = []
    while found.count < commands.count {
      guard let reply = try await replies.next() else {
        throw RedisError(description: "the end of the connection")
      }
      found.append(reply)
    }
    // After all were read, so that the next command gets its own reply.
    for case .failure(let text) in found { throw RedisError(description: text) }
    return found
  }
}
