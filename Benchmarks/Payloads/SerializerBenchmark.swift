/// The five types of GLD.SerializerBenchmark (github.com/leo-gan/GLD.SerializerBenchmark), which compares serializers of many
/// languages: each type alone, and in lists of a hundred.
///
/// The fields and their names are those of that benchmark, and so are the lengths of texts and lists and the ranges of
/// numbers. The values are made here.
enum SerializerBenchmark {
  struct Message: Codable, Equatable, Sendable {
    var bool: Bool
    var int32: Int32
    var int64: Int64
    var float64: Double
    var string: String
    var bool2: Bool
    var int32Second: Int32
    var string2: String

    enum CodingKeys: String, CodingKey {
      case bool = "f_bool"
      case int32 = "f_int32"
      case int64 = "f_int64"
      case float64 = "f_float64"
      case string = "f_string"
      case bool2 = "f_bool_2"
      case int32Second = "f_int32_2"
      case string2 = "f_string_2"
    }
  }

  struct Document: Codable, Equatable, Sendable {
    struct Meta: Codable, Equatable, Sendable {
      var region: String
      var version: Int32
    }

    struct Item: Codable, Equatable, Sendable {
      var sku: String
      var qty: Int32
      var price: Int64

      enum CodingKeys: String, CodingKey {
        case sku, qty
        case price = "price_minor"
      }
    }

    var id: String
    var status: Int32
    var meta: Meta
    var items: [Item]
  }

  struct Telemetry: Codable, Equatable, Sendable {
    var source: String
    var ts: Int64
    var tags: [String]
    var values: [Double]
  }

  struct Strings: Codable, Equatable, Sendable {
    var items: [String]
  }

  struct Event: Codable, Equatable, Sendable {
    struct Attribute: Codable, Equatable, Sendable {
      var key: String
      var value: String
    }

    var id: String
    var type: String
    var occurredAt: Int64
    var producer: String
    var attributes: [Attribute]

    enum CodingKeys: String, CodingKey {
      case id = "event_id"
      case type = "event_type"
      case occurredAt = "occurred_at"
      case producer
      case attributes = "attrs"
    }
  }

  static let payloads =
    pair("message", "8 fields") { random in
      Message(
        bool: random.chance(0.5), int32: Int32(random.int(in: 0...1_000_000)),
        int64: Int64(random.int(in: 0...1_000_000)), float64: random.unit() * 1000,
        string: random.letters(3...16), bool2: random.chance(0.5),
        int32Second: Int32(random.int(in: 0...1_000_000)), string2: random.letters(3...16))
    }
    + pair("document", "an object with 8 items") { random in
      Document(
        id: random.letters(8...12), status: Int32(random.int(in: 0...5)),
        meta: .init(region: random.letters(2...4), version: Int32(random.int(in: 1...10))),
        items: random.array(count: 8) {
          .init(
            sku: $0.letters(3...12), qty: Int32($0.int(in: 1...100)), price: Int64($0.int(in: 0...100_000)))
        })
    }
    + pair("telemetry", "32 numbers and 2 tags") { random in
      Telemetry(
        source: random.letters(3...10), ts: random.milliseconds(),
        tags: random.array(count: 2) { $0.letters(3...10) },
        values: random.array(count: 32) { $0.unit() * 100 })
    }
    + pair("strings", "32 strings") { random in
      Strings(items: random.array(count: 32) { $0.letters(3...16) })
    }
    + pair("event", "5 fields, 4 attributes") { random in
      Event(
        id: random.letters(8...12), type: random.letters(3...12), occurredAt: random.milliseconds(),
        producer: random.letters(3...12),
        attributes: random.array(count: 4) { .init(key: $0.letters(3...12), value: $0.letters(3...12)) })
    }

  /// A type as that benchmark has it: 1,000 values alone, and 10 lists of a hundred.
  private static func pair<Value: Codable & Equatable & Sendable>(
    _ name: String, _ summary: String, make: @escaping @Sendable (inout RandomSource) -> Value
  ) -> [Payload] {
    [
      Payload(each: "gld_\(name)", "\(summary), 1,000 separate calls (GLD.SerializerBenchmark)", .onDemand) {
        var random = RandomSource(seed: 42)
        return random.array(count: 1000, make)
      },
      Payload(each: "gld_\(name)_100", "100 of them in a list, 10 separate calls", .onDemand) {
        var random = RandomSource(seed: 42)
        return random.array(count: 10) { $0.array(count: 100, make) }
      },
    ]
  }
}

extension RandomSource {
  /// A text of small letters, as long as a number of `range` says.
  fileprivate mutating func letters(_ range: ClosedRange<Int>) -> String {
    String(decoding: array(range) { UInt8(ascii: "a") + UInt8($0.int(in: 0...25)) }, as: UTF8.self)
  }

  /// A time of the first day of 2024.
  fileprivate mutating func milliseconds() -> Int64 { 1_704_067_200_000 + Int64(int(in: 0...86_400_000)) }
}
