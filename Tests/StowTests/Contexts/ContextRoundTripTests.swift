import Foundation
import Stow
import Testing

/// Whatever is encoded in a context comes back, wherever the context came from.
@Suite("Values in a context")
struct ContextRoundTripTests {
  private static let types: [any Generated.Type] = [
    [Int].self, [String: [Double?]].self, GeneratedPair<String, [Int: Date]>.self,
    [GeneratedPair<Int, Bool>].self, GeneratedChoice<UUID, GeneratedPair<Data, Float>>.self,
    [[GeneratedChoice<String, Decimal>]].self, [String: GeneratedPair<String, String>].self,
    Set<String>.self, Int??.self,
  ]

  @Test("values survive a round trip to the bit in contexts learnt from other samples")
  func generated() {
    forEachCase(of: 0..<60) { (seed: Int) in
      var random = SeededGenerator(seed: UInt64(seed))
      let samples = (0..<random.below(30)).map { _ in
        Self.types[random.below(Self.types.count)].random(&random)
      }
      let context = try StowContext(learningFrom: samples)
      #expect(try StowContext(from: context.data) == context)
      for _ in 0..<8 { try check(Self.types[random.below(Self.types.count)], context, &random) }
    }
  }

  private func check<Value: Generated>(
    _ type: Value.Type, _ context: StowContext, _ random: inout SeededGenerator
  ) throws {
    let value = [Value].random(&random)
    let encoder = StowEncoder(context, names: random.below(2) == 0, sorted: random.below(2) == 0)
    let message = try encoder.encode(value)
    #expect(try encoder.encode(value) == message)
    let outcome = Outcome { try StowDecoder([context], implicit: context).decode([Value].self, from: message) }
    if outcome != .value(value.exactly) { Issue.record("\(type): \(outcome) is not \(value.exactly)") }
  }

  private struct Line: Codable, Equatable {
    var product: String
    var count: Int
    var price: Double?
  }

  private static func lines(_ count: Int) -> [Line] {
    (0..<count).map { Line(product: "product", count: $0, price: Double($0) / 4) }
  }

  private static func line() throws -> StowContext {
    try context(symbols: ["product"], shapes: [["product", "count", "price"]])
  }

  @Test("rows of a shape of the context are a table")
  func tables() throws {
    let message = try expectRoundTrip(Self.lines(200), in: Self.line())
    #expect(message[0] == 0x7A && message.count < 900)
    let dictionaries = (0..<100).map { ["count": $0, "product": 1, "price": $0 * $0] }
    let sorted = StowEncoder(try context(shapes: [["count", "price", "product"]]), names: false, sorted: true)
    #expect(try sorted.encode(dictionaries)[0] == 0x7A)
    try expectRoundTrip(dictionaries, in: context(shapes: [["count", "price", "product"]]))
  }

  @Test("objects that lack keys of a shape are partial records")
  func partial() throws {
    var line = Self.lines(2)[1]
    #expect(try expectRoundTrip(line, in: Self.line()).first == 0xF0)
    line.price = nil
    #expect(try expectRoundTrip(line, in: Self.line()).first == 0xF8)
    try expectRoundTrip([line] + Self.lines(3) + [line], in: Self.line())
  }

  @Test("an object uses the shape with the fewest keys of those that it matches")
  func narrowest() throws {
    let context = try context(shapes: [
      ["product", "count", "price", "more"], ["count", "product", "price"], ["product", "count", "price"],
      ["product", "x", "count", "price"],
    ])
    #expect(try expectRoundTrip(Self.lines(2)[1], in: context).first == 0xF2)
  }

  @Test("objects of other types get shapes and symbols of their own after those of the context")
  func others() throws {
    struct Station: Codable, Equatable {
      var river: String
      var lines: [Line]
    }
    let context = try context(
      symbols: ["Elbe", "product"] + (0..<40).map { "symbol \($0)" },
      shapes: [["product", "count", "price"]] + (0..<300).map { ["key \($0)", "common"] })
    let stations = (0..<30).map { Station(river: ["Elbe", "Havel und Spree"][$0 % 2], lines: Self.lines($0 % 4)) }
    try expectRoundTrip(stations, in: context)
    try expectRoundTrip((0..<300).map { ["key \($0)": $0, "common": 1] }, in: context)
    try expectRoundTrip((0..<42).map { "symbol \($0)" }, in: context)
    try expectRoundTrip((0..<300).map { ["common": $0, "key \($0)": 1] }, in: context)
  }

  @Test("URLs and long strings can be symbols, and long symbols can be keys")
  func symbols() throws {
    let long = String(repeating: "a long symbol ", count: 40)
    let accents = String(repeating: "cafe\u{301} ", count: 40)
    let context = try context(
      symbols: ["https://swift.org", long, accents, "k"],
      shapes: [[long, "k"], [accents], ["k", "https://swift.org"]])
    let url = try #require(URL(string: "https://swift.org"))
    #expect(try expectRoundTrip([url, url], in: context) == Data([0xE4, 0x1A, 0x50, 0x1A, 0x50]))
    #expect(try expectRoundTrip([long: 1], in: context).count < 10)
    for _ in 0..<3 {
      try expectRoundTrip([long: 1, "k": 2], in: context)
      try expectRoundTrip([[long: long], [accents: accents]], in: context)
      try expectRoundTrip([accents.precomposedStringWithCanonicalMapping: 1], in: context)
    }
  }

  @Test("strings are written one by one if some of them are symbols")
  func runs() throws {
    let context = try context(symbols: ["string 3", "string 50"])
    let strings = (0..<100).map { "string \($0)" }
    let message = try expectRoundTrip(strings, in: context)
    #expect(message.count == (try StowEncoder().encode(strings)).count - "string 3string 50".utf8.count)
  }

  @Test("symbols of the context are used wherever they occur among very many strings")
  func manyStrings() throws {
    let context = try context(symbols: ["a symbol"])
    let strings = (0..<200_000).map { $0 % 50_000 == 7 ? "a symbol" : "string \($0)" }
    let message = try StowEncoder(context, names: false).encode(strings)
    let without = strings.filter { $0 != "a symbol" }
    #expect(try StowDecoder([], implicit: context).decode([String].self, from: message) == strings)
    #expect(message.count == (try StowEncoder().encode(without)).count + 4)
  }

  @Test("containers of every kind find their keys in a context, even those of superclasses")
  func containers() throws {
    class Animal: Codable {
      var name = "Rex"
    }
    final class Dog: Animal {
      var breed = "Terrier"

      enum Key: CodingKey { case breed }

      override init() { super.init() }

      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        breed = try container.decode(String.self, forKey: .breed)
        try super.init(from: container.superDecoder())
      }

      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(breed, forKey: .breed)
        try super.encode(to: container.superEncoder())
      }
    }
    let context = try StowContext(learningFrom: [Dog(), Dog()])
    #expect(context.shapes.contains(["name"]) && context.shapes.contains(["breed", "super"]))
    let message = try StowEncoder(context).encode([Dog(), Dog()])
    let dogs = try StowDecoder([context]).decode([Dog].self, from: message)
    #expect(dogs.map(\.name) == ["Rex", "Rex"] && dogs.map(\.breed) == ["Terrier", "Terrier"])
    #expect(message.count < 30)
  }

  @Test("keys written out of turn are put in order")
  func outOfTurn() throws {
    let context = try context(symbols: ["value"], shapes: [["first", "second"], ["second", "first"]])
    for names in [["first", "second"], ["second", "first"], ["second"], ["first", "first", "second"]] {
      let value = Writes { encoder in
        var list = encoder.unkeyedContainer()
        var kept: [KeyedEncodingContainer<AnyKey>] = []
        for _ in 0..<3 { kept.append(list.nestedContainer(keyedBy: AnyKey.self)) }
        for name in names {
          for index in kept.indices { try kept[index].encode("value", forKey: AnyKey(name)) }
        }
      }
      let expected = Array(repeating: Dictionary(names.map { ($0, "value") }) { $1 }, count: 3)
      for sorted in [false, true] {
        let message = try StowEncoder(context, names: false, sorted: sorted).encode(value)
        #expect(try StowDecoder([], implicit: context).decode([[String: String]].self, from: message) == expected)
      }
    }
  }

  @Test("messages in several contexts take turns on one thread")
  func alternating() throws {
    let contexts = try (0..<20).map {
      try context(
        symbols: ["symbol \($0)"],
        shapes: [["filler \($0)"], ["product", "filler", "count", "price"]].dropLast($0 % 2).map { $0 })
    }
    let decoder = StowDecoder(contexts)
    let line = Self.lines(2)[1]
    var sizes: [[Int]] = [[], []]
    for round in 0..<60 {
      let message = try StowEncoder(contexts[round * 7 % 20]).encode([line, line])
      #expect(try decoder.decode([Line].self, from: message) == [line, line])
      sizes[round * 7 % 2].append(message.count)
    }
    #expect(sizes.allSatisfy { Set($0).count == 1 } && sizes[0] != sizes[1])
  }

  @Test("values in a context are read as types with other keys, and by strings as keys")
  func otherTypes() throws {
    struct Some: Codable, Equatable {
      var price: Double?
      var missing: String?
      var product: String
    }
    let decoder = StowDecoder([], implicit: try Self.line())
    let message = try StowEncoder(Self.line(), names: false).encode(Self.lines(2))
    for _ in 0..<3 {
      #expect(
        try decoder.decode([Some].self, from: message)
          == [Some(price: 0, product: "product"), Some(price: 0.25, product: "product")])
      #expect(try decoder.decode([[String: JSONValue]].self, from: message).map(\.count) == [3, 3])
    }
  }
}
