import Distributed
import Foundation
import Stow
import StowRecords
import Testing

@testable import ActorSystem

/// Calls actors in other processes, and is called by hostile ones.
@Suite("Distributed actors", .timeLimit(.minutes(2)))
struct ActorTests {
  /// A system, connected to another that serves a counter in a process of its own.
  private static func connect() async throws -> (PeerProcess, StowActorSystem, Counter) {
    let peer = try PeerProcess("serve")
    let system = StowActorSystem(errors: .sampleErrors)
    let node = try await system.connect(host: "127.0.0.1", port: peer.port())
    return (peer, system, try Counter.resolve(id: StowActorID(node: node, name: "counter"), using: system))
  }

  /// A listener, and what it hears.
  private static func listener(in system: StowActorSystem, name: String = "host") -> (
    Listener, AsyncStream<String>.Iterator
  ) {
    let (texts, heard) = AsyncStream.makeStream(of: String.self)
    let listener = system.serve(name) { Listener(actorSystem: system) { heard.yield($0) } }
    return (listener, texts.makeAsyncIterator())
  }

  @Test("in another process are called, many times at once, with values of all kinds")
  func calls() async throws {
    let (peer, system, counter) = try await Self.connect()
    #expect(try await counter.add(5) == 5)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<200 { group.addTask { _ = try await counter.add(1) } }
      try await group.waitForAll()
    }
    #expect(try await counter.add(0) == 205)
    let report = try await counter.report(["Elbe": [1.5, 4.25], "Ems": []], note: nil)
    #expect(report == Report(count: 2, highest: 4.25, note: nil))
    #expect(try await counter.report([:], note: "none").note == "none")
    try await system.shutDown()
    peer.kill()
  }

  @Test("throw their errors here: registered ones as they are, others as text")
  func errors() async throws {
    let (peer, system, counter) = try await Self.connect()
    try await counter.take(0)
    await #expect(throws: NotEnough(missing: 7)) { try await counter.take(7) }
    await #expect(throws: RemoteError("not registered")) { try await counter.fail() }
    await #expect(throws: RemoteError("There is no actor nobody.")) {
      let id = StowActorID(node: counter.id.node, name: "nobody")
      _ = try await Counter.resolve(id: id, using: system).add(1)
    }
    // No peer may choose types.
    await #expect(throws: RemoteError.self) { _ = try await counter.choose(5) }
    #expect(try await counter.add(1) == 1)
    try await system.shutDown()
    peer.kill()
  }

  @Test("call back actors that they are handed")
  func callingBack() async throws {
    let (peer, system, counter) = try await Self.connect()
    var (listener, texts) = Self.listener(in: system)
    try await counter.tell(listener, "hello")
    #expect(await texts.next() == "hello")
    try await system.shutDown()
    peer.kill()
    withExtendedLifetime(listener) {}
  }

  @Test("in a process that is killed fail calls that wait, and those that follow")
  func killedServer() async throws {
    let (peer, system, counter) = try await Self.connect()
    var (listener, texts) = Self.listener(in: system)
    let lost = ConnectionLost(node: "serve")
    let hanging = Task { [listener] in try await counter.hang(listener) }
    #expect(await texts.next() == "begun")
    peer.kill()
    await #expect(throws: lost) { try await hanging.value }
    await #expect(throws: lost) { _ = try await counter.add(1) }
    try await system.shutDown()
    withExtendedLifetime(listener) {}
  }

  @Test("of a client that is killed are lost too, and another client takes its place")
  func killedClient() async throws {
    let system = StowActorSystem(errors: .sampleErrors)
    let port = try await system.listen(host: "127.0.0.1", port: 0)
    var (listener, texts) = Self.listener(in: system)
    for _ in 0..<2 {
      let guest = try PeerProcess("guest", "\(port)")
      #expect(await texts.next() == "here")
      let counter = try Counter.resolve(id: StowActorID(node: "guest", name: "counter"), using: system)
      #expect(try await counter.add(3) == 3)
      let hanging = Task { [listener] in try await counter.hang(listener) }
      #expect(await texts.next() == "begun")
      guest.kill()
      await #expect(throws: ConnectionLost(node: "guest")) { try await hanging.value }
    }
    try await system.shutDown()
    withExtendedLifetime(listener) {}
  }

  @Test("are no longer waited for by a task that is cancelled")
  func cancellation() async throws {
    let (peer, system, counter) = try await Self.connect()
    var (listener, texts) = Self.listener(in: system)
    let hanging = Task { [listener] in try await counter.hang(listener) }
    #expect(await texts.next() == "begun")
    hanging.cancel()
    await #expect(throws: CancellationError.self) { try await hanging.value }
    #expect(try await counter.add(2) == 2)
    try await system.shutDown()
    peer.kill()
    withExtendedLifetime(listener) {}
  }

  // MARK: hostile peers

  /// The names that the compiler gave to methods of the samples.
  private static let add = "$s11ActorSystem7CounterC3addyS2iYaKFTE"
  private static let hear = "$s11ActorSystem8ListenerC4hearyySSYaKFTE"

  /// A stream of frames.
  private static func stream(_ frames: [Frame]) throws -> Data {
    let encoder = RecordStreamEncoder(encoder: CallCoders(TypeRegistry()).encoder)
    return try frames.reduce(into: Data()) { $0 += try encoder.encode($1) }
  }

  /// Runs `body` with the port of a system that serves a counter and a listener, and checks that it still serves them.
  private static func serve(_ body: (_ port: Int) async throws -> Void) async throws {
    let system = StowActorSystem(node: "host", errors: .sampleErrors)
    let counter = system.serve("counter") { Counter(actorSystem: system) }
    let (listener, _) = Self.listener(in: system, name: "listener")
    let port = try await system.listen(host: "127.0.0.1", port: 0)
    try await body(port)
    let client = StowActorSystem()
    let node = try await client.connect(host: "127.0.0.1", port: port)
    let proxy = try Counter.resolve(id: StowActorID(node: node, name: "counter"), using: client)
    #expect(try await proxy.add(2) >= 2)
    try await client.shutDown()
    try await system.shutDown()
    withExtendedLifetime((counter, listener)) {}
  }

  @Test("answer calls that are wrong with an error, and run no method of another type")
  func wrongCalls() async throws {
    func call(_ actor: String, _ target: String, _ arguments: any Encodable...) -> Frame {
      .call(number: 1, actor: actor, target: target, arguments: Values(arguments))
    }
    let wrong = [
      call("nobody", Self.add, 1), call("counter", Self.hear, "x"), call("listener", Self.add, 1),
      call("counter", Self.add), call("counter", Self.add, "one"), call("counter", Self.add, UInt64.max),
      call("counter", "", 1), call("counter", "$s", 1),
      call("counter", String(repeating: "$s1a", count: 9999)),
      call("counter", "$s11ActorSystem7CounterC3subyS2iYaKFTE", 1), call("counter", "swift_retain", 1),
    ]
    // What they are like when they are right.
    let right = [call("counter", Self.add, 1), call("listener", Self.hear, "x")]
    try await Self.serve { port in
      for (index, frame) in (wrong + right).enumerated() {
        // Each is a node of its own: the system may take the next one before it sees that the last one closed.
        let frames = try await RawPeer(port: port).send(
          Self.stream([.hello(node: "raw \(index)"), frame]), expecting: 2)
        #expect(frames.count == 2, "\(frame)")
        #expect((frames.last?.error != nil) == (index < wrong.count), "\(frame)")
      }
    }
  }

  @Test("end a connection whose bytes are broken, or whose peer is out of turn, and serve the others")
  func brokenBytes() async throws {
    let good = try Self.stream([.hello(node: "raw"), .result(number: 1, values: Values([1]))])
    var changed = good
    changed[good.count / 2] ^= 1
    let noFrame = try RecordStreamEncoder().encode(["hello": 5])
    let twice = try Self.stream([.hello(node: "raw"), .hello(node: "raw")])
    let own = try Self.stream([.hello(node: "host")])
    let tooLong = good + [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]
    let noise = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31) })
    try await Self.serve { port in
      for bytes in [changed, noFrame, twice, own, tooLong, noise] {
        // The system says its name, and closes.
        let frames = try await RawPeer(port: port).send(bytes)
        #expect(frames.count <= 1)
      }
    }
  }

  @Test("that answer what is no result make an error of the call")
  func wrongAnswers() async throws {
    let answers: [Frame] = [
      .result(number: 1, values: Values([])), .result(number: 1, values: Values(["one"])),
      .result(number: 1, values: Values([1, 2])),
      .failure(number: 1, error: Polymorphic(wrappedValue: RemoteError("no"))),
    ]
    for answer in answers {
      let system = StowActorSystem(node: "host", errors: .sampleErrors)
      var (listener, texts) = Self.listener(in: system)
      let port = try await system.listen(host: "127.0.0.1", port: 0)
      let begin: [Frame] = [
        .hello(node: "raw"),
        .call(number: 1, actor: "host", target: Self.hear, arguments: Values(["connected"])),
      ]
      let bytes = try Self.stream(begin)
      let answer = try Self.stream(begin + [answer]).dropFirst(bytes.count)
      let peer = Task {
        try await RawPeer(port: port).send(bytes, expecting: 3, answering: answer).count
      }
      #expect(await texts.next() == "connected")
      let counter = try Counter.resolve(id: StowActorID(node: "raw", name: "counter"), using: system)
      await #expect { try await counter.add(1) } throws: { !($0 is ConnectionLost) }
      #expect(try await peer.value == 3)
      try await system.shutDown()
      withExtendedLifetime(listener) {}
    }
  }

  @Test("do not run more calls of a peer at once than there may be")
  func flood() async throws {
    let count = 3000
    let frames = (1...count).map {
      Frame.call(
        number: $0, actor: "counter", target: "$s11ActorSystem7CounterC4hangyyAA8ListenerCYaKFTE",
        arguments: Values([StowActorID(node: "raw", name: "mute")]))
    }
    try await Self.serve { port in
      let frames = try await RawPeer(port: port).send(
        Self.stream([.hello(node: "raw")] + frames), expecting: 3001)
      let refused = frames.count { ($0.error as? RemoteError)?.description == "Too many calls at once." }
      #expect(refused == count - 1000)
    }
  }
}
