import Distributed
import NIOCore
import NIOPosix
import Stow
import Synchronization

/// Distributed actors over connections, on which each call is a record of a stream (`Frame`).
///
/// ```swift
/// let system = StowActorSystem()
/// let port = try await system.listen(host: "127.0.0.1", port: 0)
/// let counter = system.serve("counter") { Counter(actorSystem: system) }
/// ```
///
/// Another process reaches the actor by its name:
///
/// ```swift
/// let system = StowActorSystem()
/// let node = try await system.connect(host: "127.0.0.1", port: port)
/// let counter = try Counter.resolve(id: ActorID(node: node, name: "counter"), using: system)
/// print(try await counter.add(5))
/// ```
///
/// A peer can call the distributed methods of actors whose IDs it knows, and nothing else: it names no type, and a
/// method of another type than that of the actor is refused. Who may connect, and whether anybody listens in, is the
/// concern of TLS, which would stand in the pipeline before `ConnectionHandler`.
public final class StowActorSystem: DistributedActorSystem, Sendable {
  public typealias ActorID = StowActorID
  public typealias InvocationEncoder = CallEncoder
  public typealias InvocationDecoder = CallDecoder
  public typealias ResultHandler = CallResultHandler
  public typealias SerializationRequirement = Codable

  private struct State {
    var actors: [String: WeakActor] = [:]
    var connections: [String: Connection] = [:]
    var channels: [ObjectIdentifier: any Channel] = [:]
    var lastNumber = 0
  }

  private struct WeakActor {
    weak var actor: (any DistributedActor)?
  }

  /// What peers know this system by.
  public let node: String
  private let state = Mutex(State())
  private let coders: CallCoders

  /// - Parameter errors: The errors that cross as what they are. Others arrive as `RemoteError`.
  public init(node: String? = nil, errors: TypeRegistry = TypeRegistry()) {
    self.node = node ?? String(UInt64.random(in: 0 ... .max), radix: 36)
    coders = CallCoders(errors)
    coders.decoder.userInfo[.actorSystemKey] = self
  }

  // MARK: connections

  /// Accepts connections, and returns the port.
  public func listen(host: String, port: Int) async throws -> Int {
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { _ = try self.addHandler(to: channel) }
      }
      .bind(host: host, port: port).get()
    state.withLock { $0.channels[ObjectIdentifier(channel)] = channel }
    return channel.localAddress?.port ?? port
  }

  /// Connects to a system, and returns its node once it has said it.
  public func connect(host: String, port: Int) async throws -> String {
    let promise = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: String.self)
    do {
      _ = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let connection = try self.addHandler(to: channel)
            connection.whenGreeted { promise.completeWith($0) }
          }
        }
        .connect(host: host, port: port).get()
    } catch {
      promise.fail(error)
    }
    return try await promise.futureResult.get()
  }

  private func addHandler(to channel: any Channel) throws -> Connection {
    let connection = Connection(self, channel, coders)
    try channel.pipeline.syncOperations.addHandler(ConnectionHandler(connection, coders.decoder))
    state.withLock { $0.channels[ObjectIdentifier(channel)] = channel }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
    }
    return connection
  }

  /// Notes the connection to a node; false if there is one already.
  func add(_ connection: Connection, to node: String) -> Bool {
    state.withLock { state in
      if node == self.node || state.connections[node] != nil { return false }
      state.connections[node] = connection
      return true
    }
  }

  func removeConnection(to node: String) {
    state.withLock { _ = $0.connections.removeValue(forKey: node) }
  }

  /// Closes all connections. Calls that wait fail.
  public func shutDown() async throws {
    for channel in state.withLock({ Array($0.channels.values) }) { try? await channel.close() }
  }

  // MARK: actors

  @TaskLocal private static var nextName: String?

  /// Makes an actor that peers reach by a name, as long as somebody here holds it.
  public func serve<Actor: DistributedActor>(_ name: String, _ make: () -> Actor) -> Actor {
    Self.$nextName.withValue(name, operation: make)
  }

  public func assignID<Act: DistributedActor>(_ type: Act.Type) -> ActorID where Act.ID == ActorID {
    if let name = Self.nextName { return ActorID(node: node, name: name) }
    return state.withLock { state in
      state.lastNumber += 1
      return ActorID(node: node, name: "\(state.lastNumber)")
    }
  }

  public func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == ActorID {
    state.withLock { $0.actors[actor.id.name] = WeakActor(actor: actor) }
  }

  public func resignID(_ id: ActorID) { state.withLock { _ = $0.actors.removeValue(forKey: id.name) } }

  /// Returns an actor of this system, or nil for one of another, which gets a proxy.
  public func resolve<Act: DistributedActor>(id: ActorID, as type: Act.Type) throws -> Act?
  where Act.ID == ActorID {
    if id.node != node { return nil }
    guard let actor = actor(named: id.name) as? Act else { throw RemoteError("There is no actor \(id).") }
    return actor
  }

  func actor(named name: String) -> (any DistributedActor)? { state.withLock { $0.actors[name]?.actor } }

  // MARK: calls

  public func makeInvocationEncoder() -> CallEncoder { CallEncoder() }

  public func remoteCall<Act: DistributedActor, Err: Error, Res: Codable>(
    on actor: Act, target: RemoteCallTarget, invocation: inout CallEncoder, throwing: Err.Type,
    returning: Res.Type
  ) async throws -> Res where Act.ID == ActorID {
    let results = try await call(actor.id, target, invocation)
    guard let result = results.first, results.count == 1 else { throw RemoteError("Expected one result.") }
    return try coders.decode(Res.self, from: result)
  }

  public func remoteCallVoid<Act: DistributedActor, Err: Error>(
    on actor: Act, target: RemoteCallTarget, invocation: inout CallEncoder, throwing: Err.Type
  ) async throws where Act.ID == ActorID {
    _ = try await call(actor.id, target, invocation)
  }

  private func call(
    _ id: ActorID, _ target: RemoteCallTarget, _ invocation: CallEncoder
  ) async throws -> [StowValue] {
    guard let connection = state.withLock({ $0.connections[id.node] }) else {
      throw ConnectionLost(node: id.node)
    }
    return try await connection.call(id.name, target.identifier, invocation.arguments)
  }

  /// Runs a call of a peer.
  func execute(_ name: String, _ target: String, _ arguments: [StowValue], _ handler: CallResultHandler)
    async
  {
    do {
      guard let actor = actor(named: name) else { throw RemoteError("There is no actor \(name).") }
      let target = RemoteCallTarget(target)
      // The runtime runs whatever method has the name, and takes the actor for one of its type.
      guard target.description.hasPrefix("\(String(reflecting: type(of: actor))).") else {
        throw RemoteError("The actor \(name) has no such method.")
      }
      var decoder = CallDecoder(arguments, coders)
      try await executeDistributedTarget(
        on: actor, target: target, invocationDecoder: &decoder, handler: handler)
    } catch {
      handler.fail(error)
    }
  }
}

/// An actor of some system.
public struct StowActorID: Codable, Hashable, Sendable {
  public var node: String
  public var name: String

  public init(node: String, name: String) {
    self.node = node
    self.name = name
  }
}

/// An error of the other side that is not registered, or of the call itself.
public struct RemoteError: Error, Codable, Equatable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}

/// There is no connection to a node, or it was lost. Whether a call that waited was executed is unknown.
public struct ConnectionLost: Error, Equatable {
  public let node: String?
}
