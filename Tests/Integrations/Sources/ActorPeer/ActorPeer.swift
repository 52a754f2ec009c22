import ActorSystem
import Foundation

/// The other process of the tests, which they kill.
///
/// `ActorPeer serve` serves a counter, and prints its port. `ActorPeer guest PORT` connects, and serves a counter
/// there.
@main
enum ActorPeer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let system = StowActorSystem(node: arguments[1], errors: .sampleErrors)
    let counter = system.serve("counter") { Counter(actorSystem: system) }
    if arguments[1] == "serve" {
      let port = try await system.listen(host: "127.0.0.1", port: 0)
      try FileHandle.standardOutput.write(contentsOf: Data("\(port)\n".utf8))
    } else {
      let node = try await system.connect(host: "127.0.0.1", port: Int(arguments[2]) ?? 0)
      let host = try Listener.resolve(id: StowActorID(node: node, name: "host"), using: system)
      try await host.hear("here")
    }
    try await Task.sleep(for: .seconds(1_000_000))
    withExtendedLifetime(counter) {}
  }
}
