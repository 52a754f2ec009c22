import GRPCCore
import GRPCNIOTransportHTTP2Posix

/// A server at a port of this machine.
func makeServer(
  port: Int, level: @escaping @Sendable (_ station: String) async throws -> Level
) -> GRPCServer<HTTP2ServerTransport.Posix> {
  let transport = HTTP2ServerTransport.Posix(
    address: .ipv4(host: "127.0.0.1", port: port), transportSecurity: .plaintext)
  return makeServer(over: transport, level: level)
}

/// A client of it.
func levels(of stations: [String], port: Int) async throws -> [Level] {
  try await withGRPCClient(
    transport: .http2NIOPosix(target: .ipv4(address: "127.0.0.1", port: port), transportSecurity: .plaintext)
  ) { client in
    try await levels(of: stations, from: client)
  }
}
