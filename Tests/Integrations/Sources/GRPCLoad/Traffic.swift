import NIOCore
import Synchronization

/// Counts the bytes that go over connections, both ways.
final class Traffic: Sendable {
  private let count = Atomic(0)

  var bytes: Int { count.load(ordering: .relaxed) }

  /// Counts those of a connection, too.
  @Sendable func add(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.submit {
      try channel.pipeline.syncOperations.addHandler(Counter(traffic: self), position: .first)
    }
  }

  private final class Counter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let traffic: Traffic

    init(traffic: Traffic) { self.traffic = traffic }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      traffic.count.add(unwrapInboundIn(data).readableBytes, ordering: .relaxed)
      context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      let bytes = unwrapOutboundIn(data)
      traffic.count.add(bytes.readableBytes, ordering: .relaxed)
      context.write(wrapOutboundOut(bytes), promise: promise)
    }
  }
}
