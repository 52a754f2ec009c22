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
    for _ in 0..<random.int(in: 0...4) { attributes[random.pick(attributeNames)] = random.pick(Vocabulary.words) }
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

/// A node of a tree of objects: recursion through a class.
final class Node: Codable, Equatable, Sendable {
  let name: String
  let value: Int
  let children: [Node]

  /// A node with everything below it.
  init(name: String, value: Int, children: [Node]) {
    self.name = name
    self.value = value
    self.children = children
  }

  /// Two trees are equal when every node is.
  static func == (left: Node, right: Node) -> Bool {
    left.name == right.name && left.value == right.value && left.children == right.children
  }

  /// A random tree: each node but the first hangs on any earlier one.
  static func make(count: Int) -> Node {
    var random = RandomSource(seed: 11)
    var children: [[Node]] = Array(repeating: [], count: count)
    for index in stride(from: count - 1, through: 1, by: -1) {
      let node = make(children: children[index], &random)
      children[random.int(in: 0...index - 1)].append(node)
    }
    return make(children: children[0], &random)
  }

  /// One node.
  private static func make(children: [Node], _ random: inout RandomSource) -> Node {
    Node(
      name: "\(random.pick(Vocabulary.words)) \(random.int(in: 1...999))", value: random.int(in: 0...100_000),
      children: children)
  }
}

/// The same tree, of structs.
struct Branch: Codable, Equatable, Sendable {
  var name: String
  var value: Int
  var children: [Branch]

  init(_ node: Node) { (name, value, children) = (node.name, node.value, node.children.map(Branch.init)) }
}

/// An entry of a web server's access log: the `log` data set of the Rust serialization benchmark.
struct AccessLogEntry: Codable, Equatable, Sendable {
  /// The four bytes of an IPv4 address.
  struct Address: Codable, Equatable, Sendable {
    var x0: UInt8
    var x1: UInt8
    var x2: UInt8
    var x3: UInt8
  }

  var address: Address
  var identity: String
  var userid: String
  var date: String
  var request: String
  var code: UInt16
  var size: UInt64
}

extension AccessLogEntry {
  /// As many entries as asked.
  static func make(count: Int) -> [AccessLogEntry] {
    var random = RandomSource(seed: 14)
    return random.array(count: count) { random in
      AccessLogEntry(
        address: .make(&random), identity: "-", userid: random.pick(users), date: date(&random),
        request: request(&random), code: random.pick(codes), size: UInt64(random.int(in: 0...100_000_000)))
    }
  }

  /// The moment of a request in the form of the Apache server.
  private static func date(_ random: inout RandomSource) -> String {
    func two(_ range: ClosedRange<Int>) -> String {
      let text = String(random.int(in: range))
      return text.count == 1 ? "0" + text : text
    }
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let day = "\(two(1...28))/\(random.pick(months))/\(random.int(in: 1970...2021))"
    return
      "\(day):\(two(0...23)):\(two(0...59)):\(two(0...59)) \(random.chance(0.5) ? "+" : "-")\(two(0...12))00"
  }

  /// A request line.
  private static func request(_ random: inout RandomSource) -> String {
    let method = random.pick(["GET", "POST", "PUT", "DELETE", "PATCH"])
    let route = random.pick([
      "/favicon.ico", "/css/index.css", "/css/font-awsome.min.css", "/img/logo-full.svg", "/img/splash.jpg",
      "/api/login", "/api/logout",
    ])
    return "\(method) \(route) HTTP/\(random.pick(["1.0", "1.1", "2.0"]))"
  }

  private static let users = ["-", "alice", "bob", "carmen", "david", "eric", "frank", "george", "harry"]
  private static let codes: [UInt16] = [200, 200, 201, 204, 301, 304, 400, 401, 403, 404, 418, 500, 503]
}

extension AccessLogEntry.Address {
  /// A random address.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    let bits = random.next()
    return Self(
      x0: UInt8(truncatingIfNeeded: bits), x1: UInt8(truncatingIfNeeded: bits >> 8),
      x2: UInt8(truncatingIfNeeded: bits >> 16), x3: UInt8(truncatingIfNeeded: bits >> 24))
  }
}

/// A record whose fields are read last to first: a decoder that hopes for the written order is wrong at every step.
struct ReversedRecord: Codable, Equatable, Sendable {
  /// A hundred keys.
  private enum Field: String, CodingKey, CaseIterable {
    case f00, f01, f02, f03, f04, f05, f06, f07, f08, f09, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19
    case f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39
    case f40, f41, f42, f43, f44, f45, f46, f47, f48, f49, f50, f51, f52, f53, f54, f55, f56, f57, f58, f59
    case f60, f61, f62, f63, f64, f65, f66, f67, f68, f69, f70, f71, f72, f73, f74, f75, f76, f77, f78, f79
    case f80, f81, f82, f83, f84, f85, f86, f87, f88, f89, f90, f91, f92, f93, f94, f95, f96, f97, f98, f99
  }

  /// The value of each field.
  let values: [Int]

  private init(values: [Int]) { self.values = values }

  /// Reads the last field first.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Field.self)
    let lastToFirst = try Field.allCases.reversed().map { try container.decode(Int.self, forKey: $0) }
    values = lastToFirst.reversed()
  }

  /// Writes the first field first.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Field.self)
    for (field, value) in zip(Field.allCases, values) { try container.encode(value, forKey: field) }
  }

  /// As many records as asked.
  static func make(count: Int) -> [ReversedRecord] {
    var random = RandomSource(seed: 18)
    return random.array(count: count) { random in
      ReversedRecord(values: random.array(count: Field.allCases.count) { $0.int(in: 0...100_000) })
    }
  }
}

/// Three fields out of an object with many: all others are to be skipped.
struct PartialRecord: Decodable, Equatable, Sendable {
  let early: Int
  let middle: Int
  let late: Int

  /// The keys among the object's that are read, out of their order.
  private enum CodingKeys: String, CodingKey {
    case late = "key-900"
    case early = "key-100"
    case middle = "key-500"
  }

  /// Objects of a thousand keys, and what is read of each.
  static func make(count: Int) -> (objects: [ManyKeys], records: [PartialRecord]) {
    var random = RandomSource(seed: 19)
    let objects = random.array(count: count) { random in
      ManyKeys(values: random.array(count: 1000) { $0.int(in: 0...100_000) })
    }
    let records = objects.map { PartialRecord(early: $0.values[100], middle: $0.values[500], late: $0.values[900]) }
    return (objects, records)
  }
}

/// Fifty values read by name from a large dictionary: each is to be found, none in its turn.
struct LookupRecord: Decodable, Equatable, Sendable {
  /// The value of each name.
  let values: [Int]

  private init(values: [Int]) { self.values = values }

  /// Reads the names one by one.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: NumberedKey.self)
    values = try Self.names.map { try container.decode(Int.self, forKey: NumberedKey(number: $0)) }
  }

  /// A dictionary of 50,000 entries, and what is read of it.
  static func make() -> (objects: [ManyKeys], records: [LookupRecord]) {
    var random = RandomSource(seed: 20)
    let object = ManyKeys(values: random.array(count: 50_000) { $0.int(in: 0...100_000) })
    return ([object], [LookupRecord(values: names.map { object.values[$0] })])
  }

  /// Fifty numbers scattered over the dictionary.
  private static let names = (0..<50).map { $0 * 7919 % 50_000 }
}

/// An object with a key for each value, as a dictionary would be written but in the order of the values,
/// which a dictionary leaves to chance.
struct ManyKeys: Encodable, Sendable {
  let values: [Int]

  /// Writes `key-0`, `key-1` and so on.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: NumberedKey.self)
    for (number, value) in values.enumerated() { try container.encode(value, forKey: NumberedKey(number: number)) }
  }
}

/// The key `key-N`.
struct NumberedKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  /// The key of a number.
  init(number: Int) { stringValue = "key-\(number)" }

  init?(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}
