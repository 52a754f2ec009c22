import GRPCCore
import Stow
import Synchronization

/// A method, with the types that go in and out: what a .proto file says elsewhere.
struct StowMethod<Request: Codable & Sendable, Response: Codable & Sendable>: Sendable {
  let descriptor: MethodDescriptor

  init(_ service: String, _ name: String) {
    descriptor = MethodDescriptor(fullyQualifiedService: service, method: name)
  }
}

/// The contexts that one side holds. Each side tells the other in its metadata, and writes in a context that both hold.
final class AgreedContexts: Sendable {
  private static let key = "stow-contexts"
  private let contexts: [StowContext]
  private let others = Mutex<Set<String>>([])
  let decoder = StowDecoder()

  init(_ contexts: [StowContext]) {
    self.contexts = contexts
    decoder.contexts = contexts
  }

  private static func name(_ context: StowContext) -> String { String(context.id, radix: 16) }

  /// What this side holds.
  var metadata: Metadata {
    [Self.key: .string(contexts.map(Self.name).joined(separator: ","))]
  }

  /// An encoder for a side that sent this metadata.
  func encoder(for metadata: Metadata) -> StowEncoder { encoder(for: Self.names(in: metadata)) }

  private static func names(in metadata: Metadata) -> Set<String> {
    Set(metadata[stringValues: key].flatMap { $0.split(separator: ",").map(String.init) })
  }

  private func encoder(for names: Set<String>) -> StowEncoder {
    let encoder = StowEncoder()
    encoder.context = contexts.first { names.contains(Self.name($0)) }
    return encoder
  }

  // MARK: a client

  /// An encoder for the server that answered last: without a context until one has, and after a call that failed.
  var encoder: StowEncoder { encoder(for: others.withLock { $0 }) }

  func note(_ metadata: Metadata?) { others.withLock { $0 = metadata.map(Self.names) ?? [] } }
}

/// A message on its way out of a server, in the context of its call.
struct Outgoing<Message: Encodable & Sendable>: Sendable {
  let message: Message
  let encoder: StowEncoder

  struct Serializer: MessageSerializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ outgoing: Outgoing) throws -> Bytes {
      try StowSerializer(encoder: outgoing.encoder).serialize(outgoing.message)
    }
  }
}

extension RPCRouter {
  /// Has `body` answer calls of a method, which takes requests as they come and sends responses.
  mutating func answer<Request, Response>(
    _ method: StowMethod<Request, Response>, _ contexts: AgreedContexts,
    by body:
      @escaping @Sendable (
        _ requests: RPCAsyncSequence<Request, any Error>, _ send: @Sendable (Response) async throws -> Void
      ) async throws -> Void
  ) {
    registerHandler(
      forMethod: method.descriptor, deserializer: StowDeserializer<Request>(decoder: contexts.decoder),
      serializer: Outgoing<Response>.Serializer()
    ) { request, _ in
      let encoder = contexts.encoder(for: request.metadata)
      return StreamingServerResponse(metadata: contexts.metadata) { writer in
        try await body(request.messages) {
          try await writer.write(Outgoing(message: $0, encoder: encoder))
        }
        return [:]
      }
    }
  }

  /// The same for a method with one request and one response.
  mutating func answer<Request, Response>(
    _ method: StowMethod<Request, Response>, _ contexts: AgreedContexts,
    by body: @escaping @Sendable (Request) async throws -> Response
  ) {
    answer(method, contexts) { requests, send in
      try await send(body(requests.only()))
    }
  }
}

extension GRPCClient {
  /// Calls a method: `send` writes requests while `receive` takes the responses as they come.
  func call<Request, Response, Result: Sendable>(
    _ method: StowMethod<Request, Response>, _ contexts: AgreedContexts,
    sending send: @escaping @Sendable (RPCWriter<Request>) async throws -> Void,
    receiving receive: @escaping @Sendable (RPCAsyncSequence<Response, any Error>) async throws -> Result
  ) async throws -> Result {
    do {
      return try await bidirectionalStreaming(
        request: StreamingClientRequest(metadata: contexts.metadata, producer: send),
        descriptor: method.descriptor, serializer: StowSerializer<Request>(encoder: contexts.encoder),
        deserializer: StowDeserializer<Response>(decoder: contexts.decoder, code: .internalError),
        options: .defaults
      ) { response in
        contexts.note(response.metadata)
        return try await receive(response.messages)
      }
    } catch {
      contexts.note(nil)
      throw error
    }
  }

  /// Calls a method with one request and one response.
  func call<Request, Response>(
    _ method: StowMethod<Request, Response>, _ contexts: AgreedContexts, _ request: Request
  ) async throws -> Response {
    try await call(method, contexts) {
      try await $0.write(request)
    } receiving: {
      try await $0.only()
    }
  }
}

extension RPCAsyncSequence {
  /// The only message that comes.
  func only() async throws -> Element {
    var messages = makeAsyncIterator()
    guard let message = try await messages.next(), try await messages.next() == nil else {
      throw RPCError(code: .unimplemented, message: "Expected one message.")
    }
    return message
  }
}
