import Foundation
import NIOCore
import Stow
import StowRecords
import Testing

@testable import RedisSnippet

/// Sends readings through streams of a real server.
@Suite(
  "Streams of Redis",
  .enabled(if: RedisServer.executable != nil, "There is no redis-server: the tests with Redis are skipped."),
  .serialized, .timeLimit(.minutes(5)))
struct RedisTests {
  /// With STOW_REDIS_EVENTS in the environment, as many as it says.
  private static let count =
    ProcessInfo.processInfo.environment["STOW_REDIS_EVENTS"].flatMap { Int($0) } ?? 5000

  @Test("lose no event and change none, though consumers are killed with events that they took")
  func killedConsumers() async throws {
    try await RedisServer.run { server in
      let address = try server.address
      try await RedisConnection.run(to: address) {
        _ = try await $0.send("XGROUP", "CREATE", "readings", "g", "0", "MKSTREAM")
      }
      var consumers = try (0..<3).map { try ConsumerProcess("c\($0)", of: server) }
      defer { for consumer in consumers { consumer.kill() } }
      let producers = (0..<2).map { half in
        Task {
          try await RedisConnection.run(to: address) { connection in
            let stream = try Reading.stream()
            for first in stride(from: half, to: Self.count, by: 1000) {
              let numbers = stride(from: first, to: min(first + 1000, Self.count), by: 2)
              try await stream.add(numbers.map(Reading.init), over: &connection)
            }
          }
        }
      }
      var replaced = 0
      for kill in 1...8 {
        try await Self.wait(for: Self.count * kill / 9, on: address)
        consumers[kill % 3].kill()
        consumers[kill % 3] = try ConsumerProcess("c\(kill + 2)", of: server)
        replaced += 1
      }
      for producer in producers { try await producer.value }
      try await Self.wait(for: Self.count, andNothingPending: true, on: address)
      #expect(replaced == 8)
      let facts = try await RedisConnection.run(to: address) {
        try await $0.send([["XLEN", "readings"], ["EXISTS", "wrong"]])
      }
      #expect(facts == [.integer(Self.count), .integer(0)])
    }
  }

  /// Waits until consumers have noted as many readings as right; and until none is left that was not acknowledged.
  private static func wait(
    for count: Int, andNothingPending isAcknowledged: Bool = false, on address: SocketAddress
  ) async throws {
    try await RedisConnection.run(to: address) { connection in
      while true {
        let replies = try await connection.send([["SCARD", "right"], ["XPENDING", "readings", "g"]])
        guard case .integer(let right) = replies[0], case .list(let pending) = replies[1] else {
          throw RedisError(description: "no counts")
        }
        if right >= count, !isAcknowledged || pending.first == .integer(0) { return }
        try await Task.sleep(for: .milliseconds(2))
      }
    }
  }

  @Test("take less memory of the server with messages in a context than with JSON")
  func memory() async throws {
    try await RedisServer.run { server in
      let replies = try await RedisConnection.run(to: server.address) { connection in
        let (stream, json) = (try Reading.stream(), JSONEncoder())
        for first in stride(from: 0, to: Self.count, by: 500) {
          let readings = (first..<min(first + 500, Self.count)).map(Reading.init)
          try await stream.add(readings, over: &connection)
          _ = try await connection.send(
            readings.map {
              ["XADD", "json", "*", "m", RedisWord(ByteBuffer(bytes: try json.encode($0)))]
            })
        }
        return try await connection.send(
          ["readings", "json"].map { ["MEMORY", "USAGE", "\($0)", "SAMPLES", "0"] })
      }
      guard case .integer(let stow) = replies[0], case .integer(let text) = replies[1] else {
        throw RedisError(description: "no sizes: \(replies)")
      }
      print("\(Self.count) events in Redis: \(stow) bytes with Stow, \(text) with JSON")
      #expect(stow < text)
    }
  }

  @Test("get each record of a log once from a follower that stops and goes on")
  func shipping() async throws {
    try await RedisServer.run { server in
      let address = try server.address
      let log = try RecordLog(at: server.folder.appendingPathComponent("readings.stowlog"))
      for end in [40, 41, 100] {
        for number in log.count..<end { try log.append(Reading(number)) }
        let shipper = Task {
          try await RedisConnection.run(to: address) { try await Reading.stream().ship(log, over: &$0) }
        }
        try await RedisConnection.run(to: address) { connection in
          while try await Reading.stream().shippedCount(over: &connection) < end { await Task.yield() }
        }
        shipper.cancel()
        _ = await shipper.result
      }
      try await RedisConnection.run(to: address) { connection in
        await #expect(throws: RedisError.self) {
          try await Reading.stream().add([Reading(99)], numberedFrom: 99, over: &connection)
        }
        try await connection.send("XGROUP", "CREATE", "readings", "g", "0")
        let shipped = try await Reading.stream().next(
          200, group: "g", consumer: "c", idle: 1000, over: &connection)
        #expect(try shipped.map { try $0.event.get() } == (0..<100).map(Reading.init))
      }
      try log.close()
    }
  }

  @Test("give an error for a message that is broken or in an unknown context, and the others")
  func broken() async throws {
    let stranger = StowEncoder()
    stranger.context = try StowContext(learningFrom: ["other", "other"])
    let message = try StowEncoder().encode(Reading(5))
    let messages = [message.dropLast(), Data(), try stranger.encode(["other"]), Data([1, 2, 3]), message]
    try await RedisServer.run { server in
      try await RedisConnection.run(to: server.address) { connection in
        try await connection.send("XGROUP", "CREATE", "readings", "g", "0", "MKSTREAM")
        for message in messages {
          try await connection.send("XADD", "readings", "*", "m", RedisWord(ByteBuffer(bytes: message)))
        }
        let entries = try await Reading.stream().next(
          10, group: "g", consumer: "c", idle: 1000, over: &connection)
        #expect(entries.count == 5)
        for entry in entries.dropLast() {
          #expect(throws: DecodingError.self) { try entry.event.get() }
        }
        #expect(try entries.last?.event.get() == Reading(5))
      }
    }
  }

  @Test(
    "are not read from bytes that are no reply, a reply that is too long or too deep, or one that is cut off")
  func hostileReplies() throws {
    let hostile = ["?\r\n", "\n", "$99999\r\n", "$-2\r\n", "*x\r\n", "$1\r\nabc"]
    for text in hostile + [String(repeating: "*1\r\n", count: 100)] {
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
