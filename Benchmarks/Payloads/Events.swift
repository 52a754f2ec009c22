import Foundation

/// An entry of a server's event log: the Foundation types that JSON has no form for.
struct Event: Codable, Equatable, Sendable {
  /// How serious the event is.
  enum Level: String, Codable, Sendable {
    case debug, info, notice, warning, error
  }

  var id: UUID
  var timestamp: Date
  var level: Level
  var source: String
  var message: String
  var attributes: [String: String]
  var url: URL?
  var durationMilliseconds: Double?
}

extension Event {
  /// As many events as asked, in the order of time.
  static func make(count: Int) -> [Event] {
    var random = RandomSource(seed: 12)
    var milliseconds = 1_700_000_000_000
    return random.array(count: count) { random in
      milliseconds += random.int(in: 0...5000)
      return make(milliseconds: milliseconds, &random)
    }
  }

  /// One event.
  private static func make(milliseconds: Int, _ random: inout RandomSource) -> Event {
    Event(
      id: uuid(&random), timestamp: Date(timeIntervalSince1970: Double(milliseconds) / 1000),
      level: random.pick([.debug, .debug, .info, .info, .info, .notice, .warning, .error]),
      source: random.pick(sources), message: random.sentence(3...10),
      attributes: attributes(&random),
      url: random.maybe(0.4) {
        URL(string: "https://api.example.com/\($0.pick(sources))/\($0.int(in: 1...5000))")!
      },
      durationMilliseconds: random.maybe(0.6) { Double($0.int(in: 1...200_000)) / 100 })
  }

  /// Up to four attributes, named from a small vocabulary.
  private static func attributes(_ random: inout RandomSource) -> [String: String] {
    var attributes: [String: String] = [:]
    for _ in 0..<random.int(in: 0...4) {
      attributes[random.pick(attributeNames)] = random.pick(Vocabulary.words)
    }
    return attributes
  }

  /// A random identifier of version 4.
  private static func uuid(_ random: inout RandomSource) -> UUID {
    let high = random.next()
    let low = random.next()
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: high >> ($0 * 8)) }
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: low >> ($0 * 8)) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  private static let sources = [
    "auth", "billing", "cache", "cron", "database", "gateway", "mailer", "payments", "search", "storage",
    "web",
    "worker",
  ]

  private static let attributeNames = [
    "client", "host", "instance", "method", "region", "request", "session", "shard", "tenant", "user",
    "version",
    "zone",
  ]
}
