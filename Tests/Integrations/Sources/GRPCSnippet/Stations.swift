// snippet: grpc-service
import GRPCCore

/// The methods that both sides have.
enum Stations {
  static let last = StowMethod<String, Level>("Stations", "last")
  static let all = StowMethod<String, Level>("Stations", "all")
}

/// A server that answers by a function: one station with its level, or stations as they come.
func makeServer<Transport: ServerTransport>(
  over transport: Transport, level: @escaping @Sendable (_ station: String) async throws -> Level
) -> GRPCServer<Transport> {
  // No contexts: keys go with each message.
  let contexts = AgreedContexts([])
  var router = RPCRouter<Transport>()
  router.answer(Stations.last, contexts) { station in try await level(station) }
  router.answer(Stations.all, contexts) { stations, send in
    for try await station in stations { try await send(level(station)) }
  }
  return GRPCServer(transport: transport, router: router)
}

/// Asks a server for some stations, first for one and then for all, which are sent while the levels come.
func levels(of stations: [String], from client: GRPCClient<some ClientTransport>) async throws -> [Level] {
  let contexts = AgreedContexts([])
  let first = try await client.call(Stations.last, contexts, stations[0])
  let all = try await client.call(Stations.all, contexts) { requests in
    for station in stations { try await requests.write(station) }
  } receiving: { levels in
    try await levels.reduce(into: []) { $0.append($1) }
  }
  return [first] + all
}
// end
