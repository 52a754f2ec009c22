import GRPCCore
import GRPCInProcessTransport
import Stow
import Testing

@testable import GRPCSnippet

/// Calls methods within the process: messages are bytes on their way, as over a connection.
@Suite("Calls of gRPC")
struct GRPCTests {
  private typealias Client = GRPCClient<InProcessTransport.Client>

  private static let context = try! StowContext(learningFrom: (0..<4).map(Level.sample))

  /// Runs a server, with a client of it, until `body` returns.
  private static func run(
    _ register: @Sendable (inout RPCRouter<InProcessTransport.Server>) -> Void,
    _ body: @Sendable @escaping (Client) async throws -> Void
  ) async throws {
    var router = RPCRouter<InProcessTransport.Server>()
    register(&router)
    let transport = InProcessTransport()
    try await run(GRPCServer(transport: transport.server, router: router), transport.client, body)
  }

  private static func run(
    _ server: GRPCServer<InProcessTransport.Server>, _ transport: InProcessTransport.Client,
    _ body: @Sendable @escaping (Client) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.serve() }
      try await withGRPCClient(transport: transport) { try await body($0) }
      server.beginGracefulShutdown()
      try await group.waitForAll()
    }
  }

  private static func run(
    _ contexts: [StowContext], _ body: @Sendable @escaping (Client) async throws -> Void
  ) async throws {
    try await run({ Gauges.register(with: &$0, AgreedContexts(contexts)) }, body)
  }

  @Test(
    "of all four kinds bring values there and back, with a context and without", arguments: [true, false])
  func kinds(inContext: Bool) async throws {
    try await Self.run([Self.context]) { client in
      let contexts = AgreedContexts(inContext ? [Self.context] : [])
      for _ in 0..<2 {
        #expect(try await client.call(Gauges.last, contexts, "Elbe") == .sample(0))
        let history = try await client.call(Gauges.history, contexts) {
          try await $0.write(50)
        } receiving: {
          try await $0.reduce(into: []) { $0.append($1) }
        }
        #expect(history == (0..<50).map(Level.sample))
        let count = try await client.call(Gauges.record, contexts) { writer in
          for number in 0..<50 { try await writer.write(.sample(number)) }
        } receiving: {
          try await $0.only()
        }
        #expect(count == 50)
        let compared = try await client.call(Gauges.compare, contexts) { writer in
          for number in 0..<50 { try await writer.write(.sample(number)) }
        } receiving: {
          try await $0.reduce(into: []) { $0.append($1.metres) }
        }
        #expect(compared == (0..<50).map { -Level.sample($0).metres })
        #expect(contexts.encoder.context == (inContext ? Self.context : nil))
      }
    }
  }

  @Test("bring the levels of the service in the documents")
  func service() async throws {
    let transport = InProcessTransport()
    let server = makeServer(over: transport.server) { Level(station: $0, metres: 1.5, remark: nil) }
    try await Self.run(server, transport.client) { client in
      let found = try await levels(of: ["Elbe", "Rhine"], from: client)
      #expect(found.map(\.station) == ["Elbe", "Elbe", "Rhine"])
    }
  }

  @Test("use a context as soon as both sides have told that they hold it, and not before")
  func agreement() async throws {
    let other = try StowContext(learningFrom: ["other", "other"])
    for held in [[], [other], [other, Self.context]] {
      try await Self.run(held) { client in
        let contexts = AgreedContexts([Self.context])
        #expect(contexts.encoder.context == nil)
        for _ in 0..<3 {
          let level = try await client.call(Gauges.last, contexts, "Elbe")
          #expect(level == .sample(0))
          #expect(contexts.encoder.context == (held.count == 2 ? Self.context : nil))
        }
      }
    }
    let contexts = AgreedContexts([Self.context])
    #expect(contexts.encoder(for: contexts.metadata).context == Self.context)
    #expect(contexts.encoder(for: [:]).context == nil)
  }

  @Test("fail with the status that a method throws, and those that follow do not")
  func errors() async throws {
    try await Self.run([]) { client in
      let contexts = AgreedContexts([])
      await #expect { try await client.call(Gauges.last, contexts, "Nile") } throws: {
        ($0 as? RPCError)?.code == .notFound && ($0 as? RPCError)?.message == "No station Nile"
      }
      let level = try await client.call(Gauges.last, contexts, "Elbe")
      #expect(level == .sample(0))
    }
  }

  /// What a hostile peer sends as messages.
  private struct RawSerializer: MessageSerializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }
  }

  private struct RawDeserializer: MessageDeserializer {
    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] {
      bytes.withUnsafeBytes { Array($0) }
    }
  }

  private static func hostileMessages() throws -> [[UInt8]] {
    let stranger = StowEncoder()
    stranger.context = Self.context
    let good = try [UInt8](StowEncoder().encode(Level.sample(0)))
    return [
      [], [1, 2, 3], good.dropLast(), good + [0], [UInt8](try stranger.encode(Level.sample(0))),
      [UInt8](repeating: 0xFF, count: 100_000), [UInt8](try StowEncoder().encode(["station": 1])),
    ]
  }

  @Test("with broken bytes, and in an unknown context, are answered by a status, and the server goes on")
  func hostileClient() async throws {
    try await Self.run([]) { client in
      for message in try Self.hostileMessages() {
        await #expect {
          try await client.unary(
            request: ClientRequest(message: message), descriptor: Gauges.compare.descriptor,
            serializer: RawSerializer(), deserializer: StowDeserializer<Level>(), options: .defaults
          ) { try $0.message }
        } throws: {
          ($0 as? RPCError)?.code == .invalidArgument
        }
      }
      let level = try await client.call(Gauges.last, AgreedContexts([]), "Elbe")
      #expect(level == .sample(0))
    }
  }

  @Test("that are answered with broken bytes are an error for the client")
  func hostileServer() async throws {
    for message in try Self.hostileMessages() {
      try await Self.run {
        $0.registerHandler(
          forMethod: Gauges.last.descriptor, deserializer: RawDeserializer(), serializer: RawSerializer()
        ) { _, _ in
          StreamingServerResponse { writer in
            try await writer.write(message)
            return [:]
          }
        }
      } _: { client in
        await #expect { try await client.call(Gauges.last, AgreedContexts([]), "Elbe") } throws: {
          ($0 as? RPCError)?.code == .internalError
        }
      }
    }
  }
}
