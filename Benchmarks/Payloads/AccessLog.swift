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
