import Foundation
import Stow
import Testing

/// Messages of more strings than an encoder looks through at once: what it forgets meanwhile must not show.
@Suite("Messages of very many strings")
struct ManyStringsTests {
  private static let count = 34_000

  /// Distinct strings, half of them short and half long.
  private func names(_ prefix: String = "") -> [String] {
    (0..<Self.count).map { $0 % 2 == 0 ? "\(prefix)\($0)" : "\(prefix)a name that is rather long, \($0)" }
  }

  @Test("strings that recur after all others are symbols")
  func repeatedStrings() throws {
    let names = names()
    let once = try StowEncoder().encode(names)
    let twice = try StowEncoder().encode(names + names)
    #expect(try StowDecoder().decode([String].self, from: twice) == names + names)
    // A reference takes at most three bytes; a string without a symbol is at most seven characters.
    #expect(twice.count < once.count + 8 * Self.count)
  }

  @Test("the size of a message does not depend on where strings recur")
  func sameSymbols() throws {
    // One string of every two repeats; only the order in which the second ones come differs.
    let names = names()
    let near = names.flatMap { [$0, $0] }
    let far = names + names
    let nearSize = try StowEncoder().encode(near).count
    let farSize = try StowEncoder().encode(far).count
    #expect(nearSize == farSize)
  }

  @Test("of equally frequent strings, the first have the short references")
  func firstOfEquals() throws {
    let names = (0..<32).map { "# a name of its own, \($0)" }
    let most = "# the name that is used most"
    let message = try StowEncoder().encode(names.flatMap { [$0, $0] } + [most, most, most])
    // Symbols with short references are defined first.
    let places = try (names + [most]).map { try #require(message.firstRange(of: Data($0.utf8))).lowerBound }
    #expect(places.sorted() == Array(places[..<31]) + [places[32], places[31]])
  }

  @Test("large messages do not affect small ones whose strings occur twice")
  func smallMessages() throws {
    let encoder = StowEncoder()
    _ = try encoder.encode(names())
    for number in 0..<20 {
      let texts = (0..<200).map { "\(number) \($0)" }
      for _ in 0..<2 {
        #expect(try StowDecoder().decode([String].self, from: encoder.encode(texts + texts)) == texts + texts)
      }
    }
  }

  @Test("URLs that recur after all others are symbols")
  func repeatedURLs() throws {
    let urls = (0..<Self.count).compactMap { URL(string: "https://example.com/\($0)") }
    let near = try StowEncoder().encode(urls.flatMap { [$0, $0] })
    let far = try StowEncoder().encode(urls + urls)
    #expect(near.count == far.count)
    #expect(try StowDecoder().decode([URL].self, from: far) == urls + urls)
  }

  @Test("rows with equal strings are a table, even if strings were forgotten between two rows")
  func constantColumns() throws {
    struct Row: Codable, Equatable {
      var unit = "m"
      var system = "SI"
      let value: Double
    }
    struct Measured: Codable, Equatable {
      let names: [String]
      let rows: [Row]
    }
    // Somewhere here, the second string of the first row is the one that makes an encoder forget the first.
    let measured = (32_765...32_769).map { count in
      Measured(names: (0..<count).map { String(100_000 + $0) }, rows: (0..<50).map { Row(value: Double($0) / 8) })
    }
    let messages = try measured.map { try StowEncoder().encode($0) }
    // Each message has one string more than the one before.
    let sizes = messages.map(\.count)
    #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $1 - $0 == 7 })
    for (message, measured) in zip(messages, measured) {
      #expect(try StowDecoder().decode(Measured.self, from: message) == measured)
    }
  }

  @Test("a value and a key far from it share a symbol")
  func keysAndValues() throws {
    struct Row: Codable, Equatable {
      var aFieldWithAName: String
      var other: Int
    }
    let rows = names().map { Row(aFieldWithAName: $0, other: $0.count) }
    let first = Row(aFieldWithAName: "aFieldWithAName", other: 0)
    let value = [first] + rows + [first, first]
    let data = try StowEncoder().encode(value)
    #expect(try StowDecoder().decode([Row].self, from: data) == value)
  }

  @Test("the last of two values for a key counts, with many other keys between")
  func repeatedKeys() throws {
    struct Repeating: Encodable {
      let names: [String]
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: "again")
        for name in names { try container.encode(0, forKey: AnyKey(stringLiteral: name)) }
        try container.encode(2, forKey: "again")
      }
    }
    let names = names()
    let data = try StowEncoder().encode(Repeating(names: names))
    let decoded = try StowDecoder().decode([String: Int].self, from: data)
    #expect(decoded["again"] == 2)
    #expect(decoded.count == names.count + 1)
    // The same where it is neither the first object nor has the first of the strings.
    let nested = try StowEncoder().encode(["outer": Repeating(names: names)])
    #expect(try StowDecoder().decode([String: [String: Int]].self, from: nested) == ["outer": decoded])
  }

  @Test("a nested array is continued under its key, with many other strings between")
  func nestedArrays() throws {
    struct Continued: Encodable {
      let names: [String]
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        var list = container.nestedUnkeyedContainer(forKey: "list")
        try list.encode("first")
        for name in names { try container.encode(name, forKey: AnyKey(stringLiteral: name)) }
        var again = container.nestedUnkeyedContainer(forKey: "list")
        try again.encode("last")
        try container.encode(["whole"], forKey: "other")
        for name in names { try container.encode(name + "!", forKey: AnyKey(stringLiteral: name + "!")) }
        var other = container.nestedUnkeyedContainer(forKey: "other")
        try other.encode("amended")
      }
    }
    struct Lists: Decodable, Equatable {
      let list: [String]
      let other: [String]
    }
    let data = try StowEncoder().encode(Continued(names: names()))
    let lists = try StowDecoder().decode(Lists.self, from: data)
    #expect(lists == Lists(list: ["first", "last"], other: ["whole", "amended"]))
  }

  @Test("dictionaries with many keys, written twice and sorted, share one list of keys")
  func dictionaries() throws {
    let dictionary = Dictionary(uniqueKeysWithValues: names().map { ($0, $0.count) })
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    let once = try StowEncoder().encode([dictionary])
    let twice = try encoder.encode([dictionary, dictionary])
    #expect(try StowDecoder().decode([[String: Int]].self, from: twice) == [dictionary, dictionary])
    #expect(twice.count < once.count + 4 * Self.count)
    // The next message knows nothing of this one.
    #expect(try StowEncoder().encode(["a"]) == StowEncoder().encode(["a"]))
  }

  @Test("very many values are encoded with strings that recur after all others")
  func manyValues() throws {
    struct Row: Codable, Equatable {
      let name: String
      let number: Int
    }
    func rows(name: (Int) -> Int) -> [Row] { (0..<70_000).map { Row(name: "name \(name($0))", number: 1 << 40 + $0) } }
    let far = rows { $0 % 35_000 }
    let message = try StowEncoder().encode(far)
    #expect(try StowDecoder().decode([Row].self, from: message) == far)
    #expect(try StowEncoder().encode(rows { $0 / 2 }).count == message.count)
  }

  #if os(Linux)
    @Test("a process with less than a GiB of free addresses can encode very many strings", .enabled(if: !isSanitized))
    func scarceAddresses() async {
      await #expect(processExitsWith: .success) {
        struct Row: Codable, Equatable {
          let name: String
          let number: Int
        }
        let rows = (0..<60_000).map { Row(name: String($0), number: $0) }
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmSize:") })
        let kibibytes = try #require(UInt(line.filter(\.isNumber)))
        var limit = rlimit(rlim_cur: (kibibytes << 10) + (600 << 20), rlim_max: .max)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
        let message = try StowEncoder().encode(rows)
        #expect(try StowDecoder().decode([Row].self, from: message) == rows)
      }
    }
  #endif
}
