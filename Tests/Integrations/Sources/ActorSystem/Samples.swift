import Distributed
import Stow

// The actors that the tests call.

package distributed actor Counter {
  package typealias ActorSystem = StowActorSystem
  private var count = 0

  package init(actorSystem: StowActorSystem) { self.actorSystem = actorSystem }

  package distributed func add(_ number: Int) -> Int {
    count += number
    return count
  }

  package distributed func report(_ levels: [String: [Double]], note: String?) -> Report {
    Report(count: levels.count, highest: levels.values.joined().max(), note: note)
  }

  package distributed func take(_ number: Int) throws {
    if number > count { throw NotEnough(missing: number - count) }
    count -= number
  }

  package distributed func fail() throws { throw Unregistered() }

  /// Tells the listener, wherever it is.
  package distributed func tell(_ listener: Listener, _ text: String) async throws {
    try await listener.hear(text)
  }

  /// Tells the listener that it has begun, and never ends.
  package distributed func hang(_ listener: Listener) async throws {
    try await listener.hear("begun")
    try await Task.sleep(for: .seconds(1_000_000))
  }

  package distributed func choose<Value: Codable & Sendable>(_ value: Value) -> Value { value }
}

package distributed actor Listener {
  package typealias ActorSystem = StowActorSystem
  private let heard: @Sendable (String) -> Void

  package init(actorSystem: StowActorSystem, _ heard: @escaping @Sendable (String) -> Void) {
    self.actorSystem = actorSystem
    self.heard = heard
  }

  package distributed func hear(_ text: String) { heard(text) }
}

package struct Report: Codable, Equatable, Sendable {
  package var count: Int
  package var highest: Double?
  package var note: String?

  package init(count: Int, highest: Double?, note: String?) {
    self.count = count
    self.highest = highest
    self.note = note
  }
}

package struct NotEnough: Error, Codable, Equatable {
  package var missing: Int

  package init(missing: Int) { self.missing = missing }
}

package struct Unregistered: Error, Codable, CustomStringConvertible {
  package var description: String { "not registered" }
}

extension TypeRegistry {
  /// The errors of the samples that cross.
  package static var sampleErrors: TypeRegistry {
    var types = TypeRegistry()
    types.register(NotEnough.self, as: "not enough")
    return types
  }
}
