// snippet: nio-records
import NIOCore
import StowRecords

final class EventReader: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = Event
  /// Nil after an error: nothing is read on.
  private var decoder: RecordStreamDecoder? = RecordStreamDecoder(maximumRecordSize: 1 << 16)

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let decoder else { return }
    unwrapInboundIn(data).withUnsafeReadableBytes { decoder.feed($0) }
    do {
      while let event = try decoder.next(Event.self) { context.fireChannelRead(wrapInboundOut(event)) }
    } catch {
      self.decoder = nil
      context.fireErrorCaught(error)
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    do { try decoder?.finish() } catch { context.fireErrorCaught(error) }
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
