// snippet: grpc-service
import GRPCCore
import GRPCNIOTransportHTTP2Posix

/// The methods that both sides have.
enum Stations {
  static let last = StowMethod<String, Level>("Stations", "last")
  static let all = StowMethod<String, Level>("Stations", "all")
}

/// A server that answers by a function: one station with its level, or stations as they come.
func makeServer(
  port: Int, level: @escaping @Sendable (_ station: String) async throws -> Level
) -> GRPCServer<HTTP2ServerTransport.Posix> {
  // No contexts: keys go with each message.
  let contexts = AgreedContexts([])
  var router = RPCRouter<HTTP2ServerTransport.Posix>()
  router.answer(Stations.last, contexts) { station in try await level(station) }
  router.answer(Stations.all, contexts) { stations, send in
    for try await station in stations { try await send(level(station)) }
  }
  let transport = HTTP2ServerTransport.Posix(
    address: .ipv4(host: "127.0.0.1", port: port), transportSecurity: .plaintext)
  return GRPCServer(transport: transport, router: router)
}

/// A client that asks for some stations, first for one and then for all, which it sends while the levels come.
func levels(of stations: [String], port: Int) async throws -> [Level] {
  let contexts = AgreedContexts([])
  return try await withGRPCClient(
    transport: .http2NIOPosix(target: .ipv4(address: "127.0.0.1", port: port), transportSecurity: .plaintext)
  ) { client in
    let first = try await client.call(Stations.last, contexts, stations[0])
    let all = try await client.call(Stations.all, contexts) { requests in
      for station in stations { try await requests.write(station) }
    } receiving: { levels in
      try await levels.reduce(into: []) { $0.append($1) }
    }
    return [first] + all
  }
}
// end
