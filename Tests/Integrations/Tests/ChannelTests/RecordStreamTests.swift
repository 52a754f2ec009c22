import NIOCore
import NIOPosix
import StowRecords
import Testing

@testable import NIOSnippets

/// Sends a stream of records over a real connection.
@Suite("Records on a channel of SwiftNIO")
struct RecordStreamTests {
  private static func bytes(_ events: [Event] = Event.samples) throws -> ByteBuffer {
    let encoder = RecordStreamEncoder()
    var bytes = ByteBuffer()
    for event in events { bytes.writeBytes(try encoder.encode(event)) }
    return bytes
  }

  private static func send(_ bytes: ByteBuffer, readSize: Int = 1 << 16) async throws -> Received<Event> {
    try await Loopback.send(bytes, readSize: readSize) { channel in
      try channel.pipeline.syncOperations.addHandler(EventReader())
      return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
    }
  }

  @Test("arrive, wherever they are cut on their way", arguments: [1, 2, 3, 5, 7, 64, 4096])
  func cut(readSize: Int) async throws {
    let received = try await Self.send(Self.bytes(), readSize: readSize)
    #expect(received.messages == Event.samples && received.error == nil)
  }

  @Test("that were changed on their way are an error, after which nothing is read")
  func changed() async throws {
    var bytes = try Self.bytes()
    let middle = bytes.readableBytes / 2
    bytes.setInteger(bytes.getInteger(at: middle, as: UInt8.self)! ^ 1, at: middle)
    let received = try await Self.send(bytes)
    #expect(!received.messages.isEmpty && received.messages.count < 20)
    #expect(received.messages == Array(Event.samples.prefix(received.messages.count)))
    #expect(received.error is RecordStreamError)
  }

  @Test("of another type are an error, after which nothing is read")
  func wrongType() async throws {
    let encoder = RecordStreamEncoder()
    var bytes = ByteBuffer(bytes: try encoder.encode(Event.samples[0]))
    bytes.writeBytes(try encoder.encode("no event"))
    bytes.writeBytes(try encoder.encode(Event.samples[1]))
    for readSize in [1, 4096] {
      let received = try await Self.send(bytes, readSize: readSize)
      #expect(received.messages == [Event.samples[0]] && received.error is DecodingError)
    }
  }

  @Test("whose end is missing are an error")
  func incomplete() async throws {
    var bytes = try Self.bytes()
    bytes.moveWriterIndex(to: bytes.writerIndex - 1)
    let received = try await Self.send(bytes)
    #expect(received.messages == Event.samples.dropLast())
    #expect((received.error as? RecordStreamError)?.reason == .incomplete)
  }

  @Test("go out as the writer wrote them")
  func written() async throws {
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(EventReader())
          return try NIOAsyncChannel<Event, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    let address = try #require(server.channel.localAddress)
    let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(to: address) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(EventWriter())
          return try NIOAsyncChannel<ByteBuffer, Event>(wrappingChannelSynchronously: channel)
        }
      }
    try await server.executeThenClose { connections in
      try await client.executeThenClose { _, outbound in
        for event in Event.samples { try await outbound.write(event) }
      }
      for try await connection in connections {
        let events = try await connection.executeThenClose { inbound, _ in
          try await Array(inbound.prefix(20))
        }
        #expect(events == Event.samples)
        break
      }
    }
  }
}

extension Array {
  /// All elements of an asynchronous sequence.
  fileprivate init(_ sequence: some AsyncSequence<Element, any Error>) async throws {
    self = []
    for try await element in sequence { append(element) }
  }
}
