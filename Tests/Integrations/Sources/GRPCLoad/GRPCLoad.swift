import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Stow
import SwiftProtobuf

/// Compares calls of gRPC with messages of Stow and of Protocol Buffers: one request and one response, on loopback.
///
/// All take turns, so that a machine which is busy or warm slows all. The processor time is that of client and server.
@main
enum GRPCLoad {
  private static let batch = 50
  private static let rounds = 100
  private static let stow = StowMethod<[Level], [Level]>("Gauges", "stow")
  private static let protobuf = MethodDescriptor(fullyQualifiedService: "Gauges", method: "protobuf")
  private static let context = try! StowContext(learningFrom: (0..<4).map { [Level.sample($0)] })

  /// A way to call a method, which sends back what it gets.
  private struct Way {
    let name: String
    /// That of a message, in bytes.
    let size: Int
    let call: () async throws -> Int
    /// On the connection.
    var bytes = 0
    /// Of each batch, in microseconds a call.
    var times: [Double] = []
  }

  static func main() async throws {
    try await callStations()
    let transport = HTTP2ServerTransport.Posix(
      address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext)
    let server = GRPCServer(transport: transport, router: router())
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.serve() }
      try await measure(transport.listeningAddress)
      server.beginGracefulShutdown()
      try await group.waitForAll()
    }
  }

  /// Calls the service of the documents once.
  private static func callStations() async throws {
    let server = makeServer(port: 0) { station in Level(station: station, metres: 1.5, remark: nil) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.serve() }
      let port = try await server.listeningAddress?.ipv4?.port ?? 0
      let found = try await levels(of: ["Elbe", "Rhine"], port: port).map(\.station)
      guard found == ["Elbe", "Elbe", "Rhine"] else { fatalError("another response") }
      server.beginGracefulShutdown()
      try await group.waitForAll()
    }
  }

  private static func measure(_ address: GRPCNIOTransportHTTP2Posix.SocketAddress) async throws {
    let (traffic, port) = (Traffic(), address.ipv4?.port ?? 0)
    var config = HTTP2ClientTransport.Posix.Config.defaults
    config.channelDebuggingCallbacks.onCreateTCPConnection = { traffic.add($0) }
    let transport = try HTTP2ClientTransport.Posix.http2NIOPosix(
      target: .ipv4(address: "127.0.0.1", port: port), transportSecurity: .plaintext, config: config)
    try await withGRPCClient(transport: transport) { client in
      for count in [1, 100] {
        try await measure((3..<3 + count).map(Level.sample), client, traffic)
      }
    }
  }

  private static func router() -> RPCRouter<HTTP2ServerTransport.Posix> {
    var router = RPCRouter<HTTP2ServerTransport.Posix>()
    router.answer(stow, AgreedContexts([context])) { $0 }
    // As the code that is generated for a service.
    router.registerHandler(
      forMethod: protobuf, deserializer: ProtobufDeserializer<LevelsMessage>(),
      serializer: ProtobufSerializer<LevelsMessage>()
    ) { request, _ in
      let request = try await ServerRequest(stream: request)
      return StreamingServerResponse(single: ServerResponse(message: request.message))
    }
    return router
  }

  private static func measure(
    _ levels: [Level], _ client: GRPCClient<HTTP2ClientTransport.Posix>, _ traffic: Traffic
  ) async throws {
    var message = LevelsMessage()
    message.levels = levels.map(LevelMessage.init)
    var ways = [
      Way(name: "Protocol Buffers", size: try message.serializedData().count) { [message] in
        try await client.unary(
          request: ClientRequest(message: message), descriptor: protobuf,
          serializer: ProtobufSerializer<LevelsMessage>(),
          deserializer: ProtobufDeserializer<LevelsMessage>(),
          options: .defaults
        ) { try $0.message }.levels.count
      }
    ]
    for (name, contexts) in [("Stow", []), ("Stow in a context", [context])] {
      let encoder = StowEncoder()
      encoder.context = contexts.first
      let agreed = AgreedContexts(contexts)
      ways.append(
        Way(name: name, size: try encoder.encode(levels).count) {
          try await client.call(stow, agreed, levels).count
        })
    }
    // The first round is not counted: it learns types, agrees on contexts, and warms up.
    for round in 0...rounds {
      for index in ways.indices {
        let (bytes, time) = (traffic.bytes, processorTime())
        for _ in 0..<batch {
          guard try await ways[index].call() == levels.count else { fatalError("another response") }
        }
        guard round > 0 else { continue }
        ways[index].bytes += traffic.bytes - bytes
        ways[index].times.append((processorTime() - time) / Double(batch))
      }
    }
    print("Levels there and back: \(levels.count); calls of each kind: \(rounds * batch)")
    for way in ways {
      // Within a round, so that what slows the machine for longer slows both.
      let ratio = median(zip(way.times, ways[0].times).map { $0 / $1 })
      print(
        "  \(way.name): message \(way.size) bytes, call \(way.bytes / (rounds * batch)) bytes,",
        String(format: "%.0f µs, ratio %.3f", median(way.times), ratio))
    }
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  /// That of this process so far, in microseconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}
