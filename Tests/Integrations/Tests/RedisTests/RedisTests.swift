import Foundation
import NIOCore
import Stow
import StowRecords
import Testing

@testable import RedisSnippet

/// Sends events through streams of a real server.
@Suite("Streams of Redis", .enabled(if: RedisServer.executable != nil), .serialized)
struct RedisTests {
  private struct Event: Codable, Equatable, Sendable {
    var number: Int
    var station: String
    var level: Double
    var remark: String?

    static func make(_ number: Int) -> Event {
      Event(
        number: number, station: ["Elbe", "Weser", "Ems"][number % 3], level: Double(number) / 7,
        remark: number % 5 == 0 ? "flood \(number)" : nil)
    }
  }

  private static func stream() throws -> EventStream<Event> {
    EventStream("events", try StowContext(learningFrom: (0..<6).map(Event.make)))
  }

  /// With STOW_REDIS_EVENTS in the environment, as many as it says.
  private static let count =
    ProcessInfo.processInfo.environment["STOW_REDIS_EVENTS"].flatMap { Int($0) } ?? 5000

  /// Takes events until none are left, or breaks the connection off with a batch that is not acknowledged.
  private static func consume(
    _ name: String, from address: SocketAddress, breakingOffAt batch: Int?
  ) async throws -> [Event] {
    try await RedisConnection.run(to: address) { connection in
      let stream = try stream()
      var (events, batches): ([Event], Int) = ([], 0)
      while true {
        let taken = try await stream.next(100, group: "g", consumer: name, idle: 50, over: &connection)
        if batches == batch { return events }
        if taken.isEmpty {
          guard case .list(let pending) = try await connection.send("XPENDING", "events", "g") else {
            throw RedisError(description: "no list of what is pending")
          }
          if pending.first == .integer(0) { return events }
          continue
        }
        try await stream.acknowledge(taken.map(\.id), group: "g", over: &connection)
        events += taken.map(\.event)
        batches += 1
      }
    }
  }

  @Test("lose no event and change none, though consumers break off with events that they took")
  func consumers() async throws {
    try await RedisServer.run { address, _ in
      try await RedisConnection.run(to: address) { connection in
        try await connection.send("XGROUP", "CREATE", "events", "g", "0", "MKSTREAM")
        for first in stride(from: 0, to: Self.count, by: 500) {
          let events = (first..<min(first + 500, Self.count)).map(Event.make)
          try await Self.stream().add(events, over: &connection)
        }
      }
      let events = try await withThrowingTaskGroup(of: [Event].self) { group in
        for consumer in 0..<6 {
          group.addTask {
            try await Self.consume(
              "c\(consumer)", from: address, breakingOffAt: consumer < 4 ? consumer : nil)
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(Set(events.map(\.number)).count == Self.count)
      #expect(events.allSatisfy { $0 == Event.make($0.number) })
    }
  }

  @Test("take less memory of the server with messages in a context than with JSON")
  func memory() async throws {
    try await RedisServer.run { address, _ in
      let sizes = try await RedisConnection.run(to: address) { connection in
        let events = (0..<Self.count).map(Event.make)
        try await Self.stream().add(events, over: &connection)
        _ = try await connection.send(
          events.map {
            ["XADD", "json", "*", "m", RedisWord(ByteBuffer(bytes: try JSONEncoder().encode($0)))]
          })
        return try await connection.send(
          ["events", "json"].map { ["MEMORY", "USAGE", "\($0)", "SAMPLES", "0"] })
      }
      guard case .integer(let stow) = sizes[0], case .integer(let json) = sizes[1] else {
        Issue.record("no sizes: \(sizes)")
        return
      }
      print("\(Self.count) events in Redis: \(stow) bytes with Stow, \(json) with JSON")
      #expect(stow < json)
    }
  }

  @Test("get each record of a log once from a follower that stops and goes on")
  func shipping() async throws {
    try await RedisServer.run { address, folder in
      let log = try RecordLog(at: folder.appendingPathComponent("events.stowlog"))
      for end in [40, 41, 100] {
        for number in log.count..<end { try log.append(Event.make(number)) }
        let shipper = Task {
          try await RedisConnection.run(to: address) { try await Self.stream().ship(log, over: &$0) }
        }
        try await RedisConnection.run(to: address) { connection in
          while try await Self.stream().shippedCount(over: &connection) < end { await Task.yield() }
        }
        shipper.cancel()
        _ = await shipper.result
      }
      try await RedisConnection.run(to: address) { connection in
        await #expect(throws: RedisError.self) {
          try await Self.stream().add([Event.make(99)], numberedFrom: 99, over: &connection)
        }
        try await connection.send("XGROUP", "CREATE", "events", "g", "0")
        let shipped = try await Self.stream().next(
          200, group: "g", consumer: "c", idle: 1000, over: &connection)
        #expect(shipped.map(\.event) == (0..<100).map(Event.make))
      }
      try log.close()
    }
  }

  @Test("give an error for a message that is broken, or in a context that the consumer lacks")
  func broken() async throws {
    let message = try StowEncoder().encode(Event.make(5))
    let stranger = StowEncoder()
    stranger.context = try StowContext(learningFrom: ["other", "other"])
    for bytes in [message.dropLast(), Data(), try stranger.encode(["other"]), Data([1, 2, 3])] {
      try await RedisServer.run { address, _ in
        try await RedisConnection.run(to: address) { connection in
          try await connection.send("XGROUP", "CREATE", "events", "g", "0", "MKSTREAM")
          try await connection.send("XADD", "events", "*", "m", RedisWord(ByteBuffer(bytes: bytes)))
          await #expect(throws: DecodingError.self) {
            _ = try await Self.stream().next(1, group: "g", consumer: "c", idle: 1000, over: &connection)
          }
        }
      }
    }
  }

  @Test("are not read from a reply that is none, is too long or nested too deeply, or is cut off")
  func hostileReplies() throws {
    for text in ["?\r\n", "\n", "$99999\r\n", "$-2\r\n", "*x\r\n", String(repeating: "*1\r\n", count: 100)] {
      var decoder = RedisReplyDecoder(maximumLength: 1000)
      var buffer = ByteBuffer(string: text)
      #expect(throws: RedisError.self, "\(text)") { try decoder.decode(buffer: &buffer) }
    }
    let whole = "*3\r\n$2\r\nab\r\n:-5\r\n$-1\r\n"
    for end in 0..<whole.utf8.count {
      var decoder = RedisReplyDecoder(maximumLength: 1000)
      var buffer = ByteBuffer(bytes: whole.utf8.prefix(end))
      #expect(try decoder.decode(buffer: &buffer) == nil)
    }
  }
}
