import NIOCore
import NIOPosix
import Stow
import Testing

@testable import NIOSnippets

/// Sends messages after their lengths over a real connection.
@Suite("Messages on a channel of SwiftNIO")
struct FrameTests {
  private static func bytes(_ events: [Event] = Event.samples) throws -> ByteBuffer {
    var bytes = ByteBuffer()
    for event in events { try StowFrameEncoder<Event>().encode(data: event, out: &bytes) }
    return bytes
  }

  private static func send(_ bytes: ByteBuffer, readSize: Int = 1 << 16) async throws -> Received<Event> {
    try await Loopback.send(bytes, readSize: readSize) { channel in
      try channel.pipeline.syncOperations.addStowHandlers(Event.self, Event.self, maximumLength: 100)
      return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
    }
  }

  @Test("arrive, wherever they are cut on their way", arguments: [1, 2, 3, 5, 7, 64, 4096])
  func cut(readSize: Int) async throws {
    let received = try await Self.send(Self.bytes(), readSize: readSize)
    #expect(received.messages == Event.samples && received.error == nil)
  }

  @Test(
    "longer than the limit are refused before their bytes are there", arguments: [101, 1 << 20, UInt32.max])
  func tooLong(length: UInt32) async throws {
    var bytes = try Self.bytes(Array(Event.samples.prefix(2)))
    bytes.writeInteger(length)
    let received = try await Self.send(bytes)
    #expect(received.messages == Array(Event.samples.prefix(2)))
    #expect((received.error as? StowFrameDecoder<Event>.MessageTooLong)?.length == Int(length))
  }

  @Test("that are broken are an error, after which nothing is read")
  func broken() async throws {
    var bytes = try Self.bytes(Array(Event.samples.prefix(2)))
    bytes.writeBytes([0, 0, 0, 3, 1, 2, 3])
    bytes.writeImmutableBuffer(try Self.bytes())
    let received = try await Self.send(bytes)
    #expect(received.messages == Array(Event.samples.prefix(2)))
    #expect(received.error is DecodingError)
  }

  @Test("of no bytes are an error")
  func empty() async throws {
    #expect(try await Self.send(ByteBuffer(bytes: [0, 0, 0, 0])).error is DecodingError)
  }

  @Test("whose end is missing are an error")
  func incomplete() async throws {
    var bytes = try Self.bytes()
    bytes.moveWriterIndex(to: bytes.writerIndex - 1)
    let received = try await Self.send(bytes)
    #expect(received.messages == Event.samples.dropLast())
    #expect(received.error is ByteToMessageDecoderError)
  }
}
