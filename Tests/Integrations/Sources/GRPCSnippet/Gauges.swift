import GRPCCore

/// What the tests send.
struct Level: Codable, Equatable, Sendable {
  var station: String
  var metres: Double
  var remark: String?

  static func sample(_ number: Int) -> Level {
    Level(station: "Elbe", metres: Double(number) / 7, remark: number % 3 == 0 ? "flood" : nil)
  }
}

/// A service with methods of all four kinds.
enum Gauges {
  static let last = StowMethod<String, Level>("Gauges", "last")
  static let history = StowMethod<Int, Level>("Gauges", "history")
  static let record = StowMethod<Level, Int>("Gauges", "record")
  static let compare = StowMethod<Level, Level>("Gauges", "compare")

  static func register(with router: inout RPCRouter<some ServerTransport>, _ contexts: AgreedContexts) {
    router.answer(last, contexts) { station in
      guard station == "Elbe" else { throw RPCError(code: .notFound, message: "No station \(station)") }
      return Level.sample(0)
    }
    router.answer(history, contexts) { requests, send in
      for number in try await 0..<requests.only() { try await send(.sample(number)) }
    }
    router.answer(record, contexts) { requests, send in
      var count = 0
      for try await _ in requests { count += 1 }
      try await send(count)
    }
    router.answer(compare, contexts) { requests, send in
      for try await level in requests {
        try await send(Level(station: level.station, metres: -level.metres, remark: level.remark))
      }
    }
  }
}
