import Foundation
import HummingbirdSnippet
import NIOCore
import Stow

/// Compares the processor time that a server takes for requests of Stow and of JSON: 100 people, on loopback.
///
/// The two take turns, so that a machine which is busy or warm slows both.
@main
enum LoadTest {
  private static let types = ["application/json", "application/x-stow"]
  private static let batch = 50

  /// What is asked of the server.
  private struct Load {
    let name: String
    /// The people to send, in each of the types; none if they are only fetched.
    let bodies: [ByteBuffer]?
    /// For each of the types, in microseconds.
    var times = [0, 0]
    var requests = 0

    var ratio: Double { Double(times[1]) / Double(times[0]) }

    var line: String {
      let each = times.map { String(format: "%.0f µs", Double($0) / Double(requests)) }
      let ratio = String(format: "%.3f", ratio)
      return "\(name): JSON \(each[0]), Stow \(each[1]), ratio \(ratio), \(requests) requests each"
    }
  }

  static func main() async throws {
    if CommandLine.arguments.dropFirst().first == "serve" { return try await ServerProcess.serve() }
    let loads = try await measure(for: .seconds(15))
    for load in loads { print(load.line) }
    #if DEBUG
      print("This is a debug build, whose times say nothing.")
    #else
      guard loads.allSatisfy({ $0.ratio <= 0.5 }) else {
        print("Stow takes more than half of the time of JSON.")
        exit(1)
      }
    #endif
  }

  private static func measure(for duration: Duration) async throws -> [Load] {
    let people = Person.make(count: 100)
    let json = JSONEncoder()
    json.dateEncodingStrategy = .iso8601
    let bodies = try [json.encode(people), StowEncoder().encode(people)].map { ByteBuffer(bytes: $0) }
    print("100 people: \(bodies[0].readableBytes) bytes of JSON, \(bodies[1].readableBytes) bytes of Stow")
    let server = try ServerProcess()
    return try await Client.run(port: server.port) { client in
      var loads = [Load(name: "GET", bodies: nil), Load(name: "POST and back", bodies: bodies)]
      // The first round is not counted: it learns types and warms up.
      for index in loads.indices { try await run(&loads[index], client: &client, counts: false) }
      let end = ContinuousClock.now + duration
      while ContinuousClock.now < end {
        for index in loads.indices { try await run(&loads[index], client: &client, counts: true) }
      }
      return loads
    }
  }

  private static func run(_ load: inout Load, client: inout Client, counts: Bool) async throws {
    for (index, type) in types.enumerated() {
      let start = try await processorTime(client: &client)
      for _ in 0..<batch { _ = try await client.ask("/people", type: type, sending: load.bodies?[index]) }
      let time = try await processorTime(client: &client) - start
      if counts { load.times[index] += time }
    }
    if counts { load.requests += batch }
  }

  /// That of the server so far, in microseconds.
  private static func processorTime(client: inout Client) async throws -> Int {
    let answer = try await client.ask("/processor-time", type: "text/plain")
    guard let time = Int(String(buffer: answer)) else {
      throw Client.UnexpectedAnswer(description: "no time")
    }
    return time
  }
}
