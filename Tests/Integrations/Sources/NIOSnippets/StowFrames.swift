// snippet: nio-frames
import NIOCore
import Stow

/// Reads messages that each stand after their length, in four bytes.
struct StowFrameDecoder<Message: Decodable>: NIOSingleStepByteToMessageDecoder {
  typealias InboundOut = Message

  /// The most bytes that a message may have.
  let maximumLength: Int

  struct MessageTooLong: Error {
    let length: Int
  }

  mutating func decode(buffer: inout ByteBuffer) throws -> Message? {
    guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
    guard length <= maximumLength else { throw MessageTooLong(length: Int(length)) }
    guard let message = buffer.readLengthPrefixedSlice(as: UInt32.self) else { return nil }
    return try message.withUnsafeReadableBytes { try StowDecoder().decode(Message.self, from: $0) }
  }

  mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> Message? {
    if let message = try decode(buffer: &buffer) { return message }
    if seenEOF, buffer.readableBytes > 0 { throw ByteToMessageDecoderError.leftoverDataWhenDone(buffer) }
    return nil
  }
}

struct StowFrameEncoder<Message: Encodable>: MessageToByteEncoder {
  typealias OutboundIn = Message

  func encode(data message: Message, out: inout ByteBuffer) throws {
    try out.writeLengthPrefixed(as: UInt32.self) { buffer in
      try StowEncoder().withEncoded(message) { buffer.writeBytes($0) }
    }
  }
}

extension ChannelPipeline.SynchronousOperations {
  func addStowHandlers<In: Decodable, Out: Encodable>(_: In.Type, _: Out.Type, maximumLength: Int) throws {
    try addHandler(ByteToMessageHandler(StowFrameDecoder<In>(maximumLength: maximumLength)))
    try addHandler(MessageToByteHandler(StowFrameEncoder<Out>()))
  }
}
// end
