import Foundation
import Stow
import Testing

/// Objects of very many keys, and of keys of several spellings, in contexts.
@Suite("Keys in a context")
struct ContextKeysTests {
  /// A key type of a byte, with 256 keys.
  private struct ByteKey: CodingKey {
    let byte: UInt8

    init(_ number: Int) { byte = UInt8(number) }

    init?(stringValue: String) {
      guard let number = UInt8(stringValue.dropFirst()) else { return nil }
      byte = number
    }

    init?(intValue: Int) { nil }

    var stringValue: String { "k\(byte)" }
    var intValue: Int? { nil }
  }

  private struct Wide: Codable, Equatable {
    var numbers: [Int]

    init(_ numbers: [Int]) { self.numbers = numbers }

    static func == (a: Wide, b: Wide) -> Bool { a.numbers.sorted() == b.numbers.sorted() }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: ByteKey.self)
      for number in numbers { try container.encode(number, forKey: ByteKey(number)) }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: ByteKey.self)
      numbers = try container.allKeys.map {
        let value = try container.decode(Int.self, forKey: $0)
        #expect(value == Int($0.byte))
        return value
      }
    }
  }

  private static func names(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "k\($0)" } }

  @Test("shapes of a context match objects with up to 256 keys")
  func wide() {
    forEachCase(of: [1, 8, 9, 63, 64, 65, 128, 255, 256]) { (count: Int) in
      let context = try context(shapes: [Self.names(0..<count)])
      let all = try expectRoundTrip(Wide(Array(0..<count)), in: context)
      #expect(all[0] == 0xF0)
      for numbers in [
        Array(stride(from: 0, to: count, by: 2)), Array(stride(from: count - 1, to: count, by: 1)),
      ] {
        let some = try expectRoundTrip(Wide(numbers), in: context)
        #expect(some[0] == (numbers.count == count ? 0xF0 : 0xF8) || numbers.count * 3 <= 1 + (count + 7) / 8)
        try expectRoundTrip([Wide(numbers), Wide(Array(0..<count)), Wide([])], in: context)
      }
    }
  }

  /// Asks for some keys without a value, before and between those that have one.
  private struct Sparse: Encodable {
    let asked: [Int]
    let numbers: [Int]

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: ByteKey.self)
      for number in asked {
        try container.encodeIfPresent(numbers.contains(number) ? number : nil, forKey: ByteKey(number))
      }
    }
  }

  @Test("keys can be encoded if present without a value, in any order")
  func askedInVain() throws {
    var random = SeededGenerator(seed: 7)
    for count in [3, 7, 8, 9, 64, 65, 100] {
      let context = try context(shapes: [Self.names(0..<count)])
      let (encoder, decoder) = (StowEncoder(), StowDecoder())
      encoder.context = context
      decoder.contexts = [context]
      let allButFirst = Sparse(asked: Array(0..<count), numbers: Array(1..<count))
      let found = try decoder.decode(Wide.self, from: encoder.encode(allButFirst))
      #expect(found == Wide(allButFirst.numbers))
      for _ in 0..<40 {
        let numbers = (0..<count).filter { _ in Int.random(in: 0..<5, using: &random) > 0 }
        var asked = numbers
        for number in 0..<count where !numbers.contains(number) && Bool.random(using: &random) {
          asked.insert(number, at: Int.random(in: 0...asked.count, using: &random))
        }
        for objects in [
          [Sparse(asked: asked, numbers: numbers)],
          [Sparse](repeating: .init(asked: asked, numbers: numbers), count: 3),
        ] {
          let found = try decoder.decode([Wide].self, from: encoder.encode(objects))
          #expect(found == objects.map { Wide($0.numbers) })
        }
        let alone = try decoder.decode(Wide.self, from: encoder.encode(Sparse(asked: asked, numbers: numbers)))
        #expect(alone == Wide(numbers))
      }
    }
  }

  private static func sorted(_ names: [String]) throws -> StowContext { try context(shapes: [names.sorted()]) }

  @Test("over 256 fixed keys match no shape, but the same number of free keys does")
  func widest() throws {
    let names = Self.names(0..<257)
    let context = try context(shapes: [names])
    #expect(try expectRoundTrip(Wide(Array(0..<256)), in: context)[0] == 0x71)
    let object = Dictionary(uniqueKeysWithValues: zip(names, 0...))
    let sorted = try Self.sorted(names)
    let message = try StowEncoder(sorted, names: false, sorted: true).encode(object)
    #expect(message[0] == 0xF0)
    #expect(try StowDecoder([], implicit: sorted).decode([String: Int].self, from: message) == object)
  }

  @Test("keys in another order than those of a shape do not match it")
  func order() throws {
    let context = try context(shapes: [["k1", "k2", "k3"]])
    #expect(try expectRoundTrip(Wide([2, 1]), in: context)[0] == 0xC8)
    #expect(try expectRoundTrip(Wide([1, 2]), in: context)[0] == 0xF8)
    // In one message, the order in which they come first is that of all.
    try expectRoundTrip([Wide([1, 2]), Wide([2, 1]), Wide([3, 1])], in: context)
  }

  @Test("objects are records of a shape of the context if no other form takes fewer bytes")
  func cheapest() throws {
    struct Pair: Codable, Equatable {
      var a = 1
      var b = 2
    }
    let larger = try context(shapes: [["a", "b", "c"]])
    // A partial record saves 2 of the 4 bytes of its keys. With a shape of the message, all but one save 4, less a byte
    // for each and one more.
    #expect(
      try expectRoundTrip([Pair](repeating: Pair(), count: 5), in: larger).prefix(3)
        == Data([0x70, 25, 0xF8]))
    #expect(try expectRoundTrip([Pair](repeating: Pair(), count: 6), in: larger)[0] == 0x1F)
    // From the ninth on, a shape takes one byte more than a key of one letter saves.
    let many = try context(shapes: (0..<7).map { ["shape \($0)"] } + [["h"], ["i"]])
    struct Eighth: Codable, Equatable { var h = 1 }
    struct Ninth: Codable, Equatable { var i = 1 }
    #expect(try expectRoundTrip(Eighth(), in: many) == Data([0xF7, 1, 0x91]))
    #expect(try expectRoundTrip(Ninth(), in: many) == Data([0xC3, 0x81, UInt8(ascii: "i"), 0x91]))
  }

  private struct Accent: Codable, Equatable {
    var values: [Int]

    enum Key: String, CodingKey, CaseIterable {
      case composed = "caf\u{E9}"
      case plain
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for (key, value) in zip(Key.allCases, values) { try container.encode(value, forKey: key) }
    }

    init(_ values: [Int]) { self.values = values }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      values = try Key.allCases.map { try container.decode(Int.self, forKey: $0) }
    }
  }

  @Test("keys are found by their bytes")
  func spellings() throws {
    for spelling in ["caf\u{E9}", "cafe\u{301}"] {
      for symbols in [[], [spelling]] {
        let context = try context(symbols: symbols, shapes: [[spelling, "plain"]])
        try expectRoundTrip([Accent([1, 2]), Accent([3, 4])], in: context)
        try expectRoundTrip(["caf\u{E9}": 5, "plain": 6], in: context)
        let record = Data([0xF0, 2, 0x91, 0x92])
        let decoder = StowDecoder([], implicit: context)
        if spelling.utf8.count == 5 {
          #expect(try decoder.decode(Accent.self, from: record) == Accent([1, 2]))
        } else {
          #expect(throws: DecodingError.self) { try decoder.decode(Accent.self, from: record) }
        }
      }
    }
  }

  @Test("two spellings of a key are two keys")
  func twoSpellings() throws {
    for symbols in [[], ["cafe\u{301}"], ["caf\u{E9}", "cafe\u{301}"]] {
      let context = try context(symbols: symbols, shapes: [["caf\u{E9}", "cafe\u{301}"]])
      let decoder = StowDecoder([], implicit: context)
      let record = Data([0xF0, 2, 0x91, 0x92])
      #expect(try decoder.decode(StowValue.self, from: record) == ["caf\u{E9}": 1, "cafe\u{301}": 2])
      #expect(throws: DecodingError.self) { try decoder.decode([String: Int].self, from: record) }
    }
  }

  /// Two keys of one name.
  private struct Alias: Encodable {
    enum Key: CodingKey {
      case one, other

      var stringValue: String { "same" }
    }

    let first: Key
    let second: Key

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode("a", forKey: first)
      try container.encode("b", forKey: second)
    }
  }

  @Test("key cases with the same name are one key")
  func aliases() throws {
    let context = try context(shapes: [["other", "same"]])
    for (first, second) in [(Alias.Key.one, Alias.Key.other), (.other, .one), (.one, .one), (.other, .other)] {
      for _ in 0..<2 {
        let message = try StowEncoder(context).encode([Alias(first: first, second: second)])
        let objects = try StowDecoder([context]).decode([[String: String]].self, from: message)
        #expect(objects == [["same": "b"]])
      }
    }
    #expect(try StowContext(learningFrom: [Alias(first: .one, second: .other)]).shapes == [["same"]])
  }

  @Test("keys that are long symbols are found, whatever symbols an earlier message had")
  func longSymbols() throws {
    let long = String(repeating: "long key ", count: 20)
    let context = try context(symbols: [long], shapes: [[long, "other"]])
    struct All: Decodable {
      let values: [Int]

      init(from decoder: any Decoder) throws {
        // The symbol as a value, before it is a key.
        var list = try decoder.unkeyedContainer()
        _ = try list.decode(String.self)
        let container = try list.nestedContainer(keyedBy: AnyKey.self)
        values = try container.allKeys.map { try container.decode(Int.self, forKey: $0) }
      }
    }
    let decoder = StowDecoder([], implicit: context)
    let records: [UInt8] = [0xE5, 0x50, 0xF0, 2, 0x91, 0x92]
    // A message with a symbol of its own that is the same string, and is a key of a shape of its own.
    let message = [0x1F, 1] + Bomb.text(Array(long.utf8)) + [1, 2, 0xC1, 0x81, 0x61] + records
    #expect(try decoder.decode(All.self, from: message).values == [1, 2])
    for _ in 0..<3 { #expect(try decoder.decode(All.self, from: records).values == [1, 2]) }
  }
}

/// The message of a context that may break its rules.
struct StowContextMessage {
  let symbols: [String]
  let shapes: [[String]]

  /// Keys are references if they are symbols byte for byte. All texts are plain.
  var bytes: Data {
    func text(_ string: String) -> [UInt8] { [0x80 + UInt8(string.utf8.count)] + Array(string.utf8) }
    func key(_ string: String) -> [UInt8] {
      let symbol = symbols.firstIndex { $0.utf8.elementsEqual(string.utf8) }
      return symbol.map { [0xC0 + UInt8($0)] } ?? text(string)
    }
    let shapes = shapes.flatMap { [UInt8($0.count)] + $0.flatMap(key) }
    return Data([0x1F, UInt8(symbols.count)] + symbols.flatMap(text) + [UInt8(self.shapes.count)] + shapes + [0])
  }
}
