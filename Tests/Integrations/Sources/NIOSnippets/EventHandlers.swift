import NIOCore
import StowRecords

struct Event: Codable, Equatable, Sendable {
  var number: Int
  var kind: String
  var detail: String?
}

// snippet: nio-records
final class EventReader: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = Event
  private let decoder = RecordStreamDecoder(maximumRecordSize: 1 << 16)

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    unwrapInboundIn(data).withUnsafeReadableBytes { decoder.feed($0) }
    do {
      while let event = try decoder.next(Event.self) { context.fireChannelRead(wrapInboundOut(event)) }
    } catch {
      context.fireErrorCaught(error)
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    do { try decoder.finish() } catch { context.fireErrorCaught(error) }
    context.fireChannelInactive()
  }
}

final class EventWriter: ChannelOutboundHandler {
  typealias OutboundIn = Event
  typealias OutboundOut = ByteBuffer
  private let encoder = RecordStreamEncoder()

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    do {
      let bytes = try encoder.encode(unwrapOutboundIn(data))
      context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: promise)
    } catch {
      promise?.fail(error)
    }
  }
}
// end
