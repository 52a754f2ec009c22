import NIOCore
import Stow
import StowRecords

// snippet: redis-stream
/// A stream of Redis whose entries each hold a message in the field `m`.
struct EventStream<Event: Codable & Sendable> {
  let key: String
  let encoder = StowEncoder()
  let decoder = StowDecoder()

  /// - Parameter context: What both sides hold.
  init(_ key: String, _ context: StowContext) {
    self.key = key
    encoder.context = context
    decoder.contexts = [context]
  }

  /// Adds events. Redis gives them their IDs unless the first one's number is given.
  func add(_ events: [Event], numberedFrom first: Int? = nil, over connection: inout RedisConnection)
    async throws
  {
    _ = try await connection.send(
      events.enumerated().map { index, event in
        let id = first.map { "\($0 + index + 1)-0" } ?? "*"
        let message = try encoder.withEncoded(event) { ByteBuffer(bytes: $0) }
        return ["XADD", "\(key)", "\(id)", "m", RedisWord(message)]
      })
  }
}
// end

extension EventStream {
  /// Sends the records of a log as they come, and resumes after the last one that was sent.
  ///
  /// The number of a record is the ID of its entry. So Redis knows where to go on, and refuses an entry twice.
  func ship(_ log: RecordLogReader, over connection: inout RedisConnection) async throws {
    for try await record in log.follow(from: try await shippedCount(over: &connection)) {
      try await add([record.decode(Event.self)], numberedFrom: record.number, over: &connection)
    }
  }

  func shippedCount(over connection: inout RedisConnection) async throws -> Int {
    guard case .integer(1) = try await connection.send("EXISTS", "\(key)") else { return 0 }
    guard case .list(let facts) = try await connection.send("XINFO", "STREAM", "\(key)"),
      let place = facts.firstIndex(of: .bytes(ByteBuffer(string: "last-generated-id"))),
      case .bytes(let id) = facts[place + 1], let number = Int(String(buffer: id).prefix { $0 != "-" })
    else { throw RedisError(description: "no stream at \(key)") }
    return number
  }

  /// What a consumer takes of the stream: an event, or why its message cannot be decoded.
  typealias Entry = (id: RedisWord, event: Result<Event, any Error>)

  /// The next entries for a consumer, which is to acknowledge them; none if nothing comes within a moment.
  ///
  /// What a consumer took more than `idle` milliseconds ago and did not acknowledge comes first: it may have died.
  func next(
    _ count: Int, group: String, consumer: String, idle: Int, over connection: inout RedisConnection
  ) async throws -> [Entry] {
    let left = try await connection.send(
      "XAUTOCLAIM", "\(key)", "\(group)", "\(consumer)", "\(idle)", "0-0", "COUNT", "\(count)")
    if case .list(let parts) = left, parts.count >= 2, case .list(let entries) = parts[1], !entries.isEmpty {
      return try entries.map(decode)
    }
    let new = try await connection.send(
      "XREADGROUP", "GROUP", "\(group)", "\(consumer)", "COUNT", "\(count)", "BLOCK", "100", "STREAMS",
      "\(key)", ">")
    guard case .list(let streams) = new, case .list(let stream)? = streams.first, stream.count == 2,
      case .list(let entries) = stream[1]
    else { return [] }
    return try entries.map(decode)
  }

  func acknowledge(_ ids: [RedisWord], group: String, over connection: inout RedisConnection) async throws {
    _ = try await connection.send(ids.map { ["XACK", "\(key)", "\(group)", $0] })
  }

  private func decode(_ entry: RedisReply) throws -> Entry {
    guard case .list(let parts) = entry, parts.count == 2, case .bytes(let id) = parts[0],
      case .list(let fields) = parts[1], fields.count == 2, case .bytes(let message) = fields[1]
    else { throw RedisError(description: "an entry without a message") }
    let event = Result {
      try message.withUnsafeReadableBytes { try decoder.decode(Event.self, from: $0) }
    }
    return (RedisWord(id), event)
  }
}
